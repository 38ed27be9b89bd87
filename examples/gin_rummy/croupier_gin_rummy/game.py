"""The rules of Gin Rummy behind the interface of all games."""

from types import MappingProxyType

from croupier.games import interface
from croupier.games.bots import random_legal
from croupier.games.cards import STANDARD_DECK
from croupier.games.interface import BLITZ, SLOW, Option, Preset
from croupier.games.sampling import Sampling
from croupier_gin_rummy import determinization, scoring, steering, turns, view
from croupier_gin_rummy.bots import sensible
from croupier_gin_rummy.state import SEATS, GinOptions, GinState
from croupier_gin_rummy.words import PILES, WORDS


class GinRummy(interface.Rules[GinState]):
    """The game of Gin Rummy for 2 seats (GIN-PLAYERS-1)."""

    id = "gin_rummy"
    name = "Gin Rummy"
    summary = "Meld your cards, and knock when hardly any are left; 100 points win."
    seats = range(SEATS, SEATS + 1)
    rule_prefix = "GIN"
    bots = MappingProxyType({"sensible": sensible, "random": random_legal})
    words = WORDS
    piles = PILES
    presets = (BLITZ, SLOW, Preset("oklahoma", 30, 120, MappingProxyType({"knock": "upcard", "target": 150})))
    sampling = Sampling(
        brief=MappingProxyType({"max_rounds": 2}),
        briefest=MappingProxyType({"max_rounds": 1}),
        drawn=MappingProxyType({"max_rounds": range(1, 4)}),
        reveals=steering.is_of_a_knock,
        steered=steering.strong_hands,
    )

    def options(self, seats: int) -> tuple[Option, ...]:  # noqa: ARG002 - the same for all
        """Return every option; all are independent (GIN-OPT-1)."""
        return _OPTIONS

    def new(self, seats: int, options: interface.OptionValues) -> GinState:  # noqa: ARG002 - always two
        """Return the state before the first deal."""
        return GinState(GinOptions.of(options))

    def awaiting(self, state: GinState) -> interface.Awaiting:
        """Return a seat's action, the next deal, or the end."""
        progress = state.progress
        if state.turn >= 0:
            return interface.ONE_TO_ACT[state.turn]
        if progress.reason:
            return interface.GameOver(scoring.ranking(progress), progress.reason)
        # The first deal draws its dealer (GIN-DEAL-3).
        bounds = () if progress.round_number else (SEATS,)
        return interface.ShuffleNeeded(STANDARD_DECK, bounds, progress.round_number + 1, 1)

    def scores(self, state: GinState) -> tuple[int, ...]:
        """Return the scores after the finished hands by seat."""
        return state.progress.totals

    def event_rules(self, state: GinState) -> interface.EventRules:
        """Return the rules of the deal, or the one that ended the game."""
        if state.progress.reason:
            rule = scoring.END_RULES[state.progress.reason]
            return interface.EventRules(rule, rule, rule, "GIN-TURN-2")
        return interface.EventRules("GIN-DEAL-1", "GIN-DEAL-2", "GIN-DEAL-3", "GIN-TURN-2")

    legal_actions = staticmethod(turns.legal_actions)
    act = staticmethod(turns.act)
    shuffle = staticmethod(turns.deal)
    shuffle_record = staticmethod(turns.record)
    ranking_at_limit = staticmethod(scoring.ranking_at_limit)
    determinize = staticmethod(determinization.determinize)
    evaluate = staticmethod(determinization.evaluate)
    view = staticmethod(view.view)


_EITHER = (True, False)
_OPTIONS = (
    Option(
        "next_dealer",
        "loser",
        ("loser", "winner", "alternate"),
        "who deals after a hand that a player has won",
        group="deal",
    ),
    Option("knock", "ten", ("ten", "upcard", "gin"), "how much deadwood a knocker may have", group="play"),
    Option("big_gin", False, _EITHER, "eleven cards without deadwood may be declared", group="play"),
    Option("gin_bonus", 20, (20, 25), "the bonus for gin", group="scoring", unit="points"),
    Option("undercut_bonus", 10, (10, 20, 25), "the bonus for an undercut", group="scoring", unit="points"),
    Option("target", 100, (50, 100, 150, 250), "the score that ends the game", group="end", unit="points"),
    Option(
        "end_bonuses",
        True,
        _EITHER,
        "at the end a player who reached the score gets 100 or 200 points, and both get 20 for each hand won",
        group="end",
    ),
    Option(
        "max_rounds",
        0,
        range(1001),
        "hands after which the game is over at the latest, 0 for no limit",
        group="end",
        unit="hands",
    ),
)
