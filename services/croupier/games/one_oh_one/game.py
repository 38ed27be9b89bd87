"""The rules of 101 behind the interface of all games."""

from types import MappingProxyType
from typing import Any

from croupier.games import interface
from croupier.games.actions import Draw
from croupier.games.bots import random_legal
from croupier.games.cards import notation
from croupier.games.facts import Fact, Ranking
from croupier.games.interface import Condition, Option
from croupier.games.one_oh_one import determinization, legality, scoring, steering, turns, view
from croupier.games.one_oh_one.bots import sensible
from croupier.games.one_oh_one.state import OneOhOneOptions, OneOhOneState, Progress, circle
from croupier.games.one_oh_one.words import PILES, WORDS
from croupier.games.sampling import Sampling, Stalling


class OneOhOne(interface.Rules[OneOhOneState]):
    """The game of 101 for 2 to 4 seats."""

    id = "one_oh_one"
    name = "101"
    summary = "Match suit or rank to shed your cards; what is left in your hand counts, and 101 points lose."
    seats = range(2, 5)
    rule_prefix = "101"
    bots = MappingProxyType({"sensible": sensible, "random": random_legal})
    words = WORDS
    piles = PILES
    sampling = Sampling(
        brief=MappingProxyType({"max_rounds": 3}),
        briefest=MappingProxyType({"max_rounds": 1}),
        steered=steering.short_rounds,
        stalling=Stalling(MappingProxyType({"may_draw_instead": True, "max_rounds": 1}), Draw()),
    )

    def options(self, seats: int) -> tuple[Option, ...]:  # noqa: ARG002 - the same for all
        """Return every option; all are independent (101-OPT-1)."""
        return _OPTIONS

    def new(self, seats: int, options: interface.OptionValues) -> OneOhOneState:
        """Return the state before the first deal."""
        none = (0,) * seats
        return OneOhOneState(OneOhOneOptions.of(seats, options), Progress(0, 0, none, circle(seats, ())), none)

    def awaiting(self, state: OneOhOneState) -> interface.Awaiting:
        """Return a seat's action, a deal, a reshuffle, or the end."""
        if state.turn >= 0:
            return interface.ONE_TO_ACT[state.turn]
        progress = state.progress
        if state.owed:
            cards = tuple(sorted(turns.under_top(state.pile)))
            return interface.ShuffleNeeded(cards, (), progress.round_number, state.reshuffles + 2)
        if progress.reason:
            return interface.GameOver(scoring.ranking(progress), progress.reason)
        # The first round draws its starter (101-DEAL-3).
        bounds = () if progress.round_number else (state.options.seats,)
        return interface.ShuffleNeeded(state.options.deck, bounds, progress.round_number + 1, 1)

    def scores(self, state: OneOhOneState) -> tuple[int, ...]:
        """Return the scores after the finished rounds, by seat (101-SCORE-1)."""
        return state.progress.totals

    def event_rules(self, state: OneOhOneState) -> interface.EventRules:
        """Return the rules of the deal or the reshuffle, or the one that ended the game."""
        if state.phase == "over":
            rule = legality.END_RULES[state.progress.reason]
            return interface.EventRules(rule, rule, rule, "101-PLAY-1")
        if state.owed:
            return interface.EventRules("101-STOCK-3", "101-STOCK-3", "101-STOCK-3", "101-PLAY-1")
        return interface.EventRules("101-DEAL-1", "101-DEAL-2", "101-DEAL-3", "101-PLAY-1")

    def shuffle(
        self, state: OneOhOneState, shuffled: interface.CardsShuffled
    ) -> tuple[OneOhOneState, tuple[Fact, ...]]:
        """Deal, or go on after a reshuffle."""
        return turns.reshuffle(state, state.owed, shuffled) if state.owed else turns.deal(state, shuffled)

    def shuffle_record(self, state: OneOhOneState, shuffled: interface.CardsShuffled) -> dict[str, Any]:
        """Return the deal (101-DEAL-1) or the reshuffle (101-STOCK-3)."""
        if state.owed:
            return {"type": "reshuffle", "stock": notation(shuffled.cards)}
        return turns.record(state, shuffled)

    def ranking_at_limit(self, state: OneOhOneState) -> Ranking | None:
        """Return the seats as at the end of a game; None in the first round (101-END-5)."""
        return scoring.ranking(state.progress) if state.progress.round_number > 1 else None

    legal_actions = staticmethod(turns.legal_actions)
    act = staticmethod(turns.act)
    determinize = staticmethod(determinization.determinize)
    evaluate = staticmethod(determinization.evaluate)
    view = staticmethod(view.view)


_EITHER = (True, False)
_OPTIONS = (
    Option(
        "deck",
        36,
        (36, 52, 104),
        "number of cards: 36 from the sixes up, 52, or two packs of 52",
        group="deal",
        unit="cards",
    ),
    Option(
        "first_move_any",
        True,
        _EITHER,
        "the first card of a round is free, not the one that was dealt last",
        group="play",
    ),
    Option("may_draw_instead", False, _EITHER, "a player who could play may draw all the same", group="play"),
    Option("queen_covers_six", True, _EITHER, "every queen covers a six, not only that of its suit", group="play"),
    Option("finish_on_six", False, _EITHER, "a six may be the last card", group="play"),
    Option("last_card_effects", True, _EITHER, "a last card still makes the next player take cards", group="play"),
    Option(
        "recycle",
        "flip",
        ("flip", "shuffle"),
        "how played cards become a new stock: turned over or shuffled",
        group="play",
    ),
    Option(
        "queen_penalty",
        "instead",
        ("instead", "added"),
        "what a hand of queens costs: 20 or 40 for each queen instead of her 3 points, or added to them",
        earlier="instead",
        group="scoring",
    ),
    Option("floor_zero", False, _EITHER, "no score falls below 0", group="scoring"),
    Option("exact_101_reset", False, _EITHER, "a score of exactly 101 becomes 0", group="scoring"),
    Option(
        "lose_at",
        "reach",
        ("reach", "exceed"),
        "the game is lost with 101 points, or only with more",
        group="end",
        # A score of exactly 101, with which alone it matters, becomes 0 before anyone loses (101-SCORE-1).
        condition=Condition("exact_101_reset", (False,)),
    ),
    Option("elimination", False, _EITHER, "a loser drops out and the others play on", group="end"),
    Option(
        "max_rounds",
        0,
        range(1001),
        "rounds after which the game is over at the latest, 0 for no limit",
        group="end",
        unit="rounds",
    ),
)
