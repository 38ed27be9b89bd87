"""The rules of Thulla behind the interface of all games."""

from types import MappingProxyType

from croupier.games import interface
from croupier.games.bots import random_legal
from croupier.games.cards import cards
from croupier.games.facts import Ranking
from croupier.games.interface import BLITZ, SLOW, Option, Preset
from croupier.games.sampling import Sampling
from croupier.games.thulla import determinization, play, scoring, steering, view
from croupier.games.thulla.bots import sensible
from croupier.games.thulla.state import Progress, ThullaOptions, ThullaState
from croupier.games.thulla.words import PILES, WORDS


class Thulla(interface.Rules[ThullaState]):
    """The game of Thulla for 2 to 6 seats (THU-PLAYERS-1)."""

    id = "thulla"
    name = "Thulla"
    summary = "Shed all your cards by following suit; a card of another suit makes a player pick the trick up."
    seats = range(2, 7)
    rule_prefix = "THU"
    bots = MappingProxyType({"sensible": sensible, "random": random_legal})
    words = WORDS
    piles = PILES
    recommended_seats = range(3, 6)
    presets = (BLITZ, SLOW, Preset("match", 30, 120, MappingProxyType({"best_of": 3})))
    sampling = Sampling(
        drawn=MappingProxyType({"stall_limit": range(1, 1001)}),
        public_cards=lambda options: cards("AS") if options["start"] == "ace_of_spades" else (),
        steered=steering.equal_suits,
        steered_options=steering.steered_options,
    )

    def options(self, seats: int) -> tuple[Option, ...]:
        """Return every option; all are independent (THU-OPT-1)."""
        starts = ("ace_of_spades", "random", "dealer", "left_of_dealer")
        return (
            Option("first_dealer", 0, range(seats), "the seat that deals the first game", group="deal", unit="seat"),
            Option(
                "deal",
                "equal",
                ("equal", "uneven"),
                "whether low cards are taken out for hands of equal size, or all 52 are dealt",
                earlier="equal",
                group="deal",
            ),
            Option("start", "ace_of_spades", starts, "the leader of the first trick", group="play"),
            Option(
                "opening_trick",
                "normal",
                ("normal", "spared"),
                "whether a card of another suit stops the first trick too, or is a mere discard there",
                earlier="normal",
                group="play",
            ),
            Option("pickup", "highest", ("highest", "cutter"), "the player who picks up after a cut", group="play"),
            Option(
                "last_card",
                "safe_at_once",
                ("safe_at_once", "safe_after_trick"),
                "when a seat without cards is out",
                group="play",
            ),
            Option("scoring", "none", ("none", "cards", "cards_each_out", "points"), "penalty points", group="scoring"),
            Option("best_of", 1, (1, 3, 5), "games in a match", group="end", unit="games"),
            Option(
                "stall_limit",
                52,
                range(1001),
                "tricks without progress before the game is stopped, 0 for no limit",
                group="end",
                unit="tricks",
            ),
        )

    def new(self, seats: int, options: interface.OptionValues) -> ThullaState:
        """Return the state before the first deal."""
        none = (0,) * seats
        return ThullaState(ThullaOptions.of(seats, options), Progress(0, 0, none), none, points=none, known=none)

    def awaiting(self, state: ThullaState) -> interface.Awaiting:
        """Return a seat's play, the next deal, or the end."""
        if state.queue:
            return interface.ONE_TO_ACT[state.queue[0]]
        if state.progress.over:
            return interface.GameOver(scoring.ranking(state), state.progress.reason)
        options = state.options
        return interface.ShuffleNeeded(options.deck, options.draw_bounds, state.progress.round_number + 1, 1)

    def scores(self, state: ThullaState) -> tuple[int, ...]:
        """Return the totals of the finished rounds by seat (THU-SCORE-1 to -4)."""
        return state.progress.totals

    def event_rules(self, state: ThullaState) -> interface.EventRules:
        """Return the rules of the deal."""
        deck = "THU-DECK-4" if state.options.deal_uneven else "THU-DECK-2"
        return interface.EventRules("THU-DEAL-3", deck, "THU-START-3", "THU-D9")

    def ranking_at_limit(self, state: ThullaState) -> Ranking | None:
        """Return the seats as at the end of a match; None in the first game (THU-MATCH-5)."""
        return scoring.ranking(state) if state.progress.orders else None

    legal_actions = staticmethod(play.legal_actions)
    act = staticmethod(play.play)
    shuffle = staticmethod(play.deal)
    shuffle_record = staticmethod(play.record)
    determinize = staticmethod(determinization.determinize)
    evaluate = staticmethod(determinization.evaluate)
    view = staticmethod(view.view)
