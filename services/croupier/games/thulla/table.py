"""What is fixed for a match of Thulla: the options and what follows from them."""

from dataclasses import dataclass

from croupier.games.cards import STANDARD_DECK, Card, cards
from croupier.games.facts import Seat
from croupier.games.interface import Option, OptionValues

REMOVAL_ORDER = cards("2C 2D 2H 2S 3C 3D 3H 3S")
"""The cards that leave the deck first, until it divides evenly (THU-DECK-2)."""


def options(seats: int) -> tuple[Option, ...]:
    """The options of the game for a number of seats (THU-OPT-1)."""
    starts = ("ace_of_spades", "random", "dealer", "left_of_dealer")
    return (
        Option("start", "ace_of_spades", starts, "who leads the first trick"),
        Option("first_dealer", 0, range(seats), "the seat that deals the first game"),
        Option("best_of", 1, (1, 3, 5), "games in a match"),
        Option("scoring", "none", ("none", "cards", "cards_each_out", "points"), "penalty points"),
        Option("pickup", "highest", ("highest", "cutter"), "who picks up after a cut"),
        Option("last_card", "safe_at_once", ("safe_at_once", "safe_after_trick"), "when a seat without cards is out"),
        Option("stall_limit", 52, range(1, 1001), "tricks without progress before the game is stopped"),
    )


@dataclass(frozen=True, slots=True)
class Table:
    """The resolved options of a match, and its deck."""

    seats: int
    start: str = "ace_of_spades"
    first_dealer: Seat = 0
    best_of: int = 1
    scoring: str = "none"
    cutter_picks_up: bool = False
    safe_at_once: bool = True
    stall_limit: int = 52

    @classmethod
    def of(cls, seats: int, options: OptionValues) -> "Table":
        """The table for resolved options."""
        return cls(
            seats=seats,
            start=str(options["start"]),
            first_dealer=int(options["first_dealer"]),
            best_of=int(options["best_of"]),
            scoring=str(options["scoring"]),
            cutter_picks_up=options["pickup"] == "cutter",
            safe_at_once=options["last_card"] == "safe_at_once",
            stall_limit=int(options["stall_limit"]),
        )

    @property
    def removed(self) -> tuple[Card, ...]:
        """The cards that play no part (THU-DECK-2)."""
        return REMOVAL_ORDER[: len(STANDARD_DECK) % self.seats]

    @property
    def deck(self) -> tuple[Card, ...]:
        """The cards in play, ascending."""
        removed = self.removed
        return tuple(value for value in STANDARD_DECK if value not in removed)

    @property
    def draw_bounds(self) -> tuple[int, ...]:
        """The numbers to draw with a shuffle: the starter, if chance names him (THU-START-3)."""
        return (self.seats,) if self.start == "random" else ()

    def dealer(self, round_number: int) -> Seat:
        """Who deals a game, counted from 1 (THU-DEAL-1)."""
        return (self.first_dealer + round_number - 1) % self.seats
