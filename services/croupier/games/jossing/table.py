"""What is fixed for a table of Jøssing: the options and what follows from them."""

from dataclasses import dataclass

from croupier.games.cards import STANDARD_DECK, Card
from croupier.games.facts import Seat
from croupier.games.interface import Option, OptionValues

MOST_CARDS = 10
"""No section has more cards per seat (JOS-LEN-1)."""


def options(seats: int) -> tuple[Option, ...]:
    """The options of the game for a number of seats (JOS-OPT-1)."""
    leaders = ("left_of_dealer", "highest_bidder")
    return (
        Option("game_type", "up", ("up", "up_and_down"), "whether sections only grow, or shrink again"),
        Option("scoring", "classic", ("classic", "modern"), "what a bid that is hit exactly is worth"),
        Option("decks", 1, (1, 2), "packs shuffled together"),
        Option("identical_cards", "first", ("first", "last"), "which of two identical winning cards wins"),
        Option("leader", "left_of_dealer", leaders, "who leads the first trick of a section"),
        Option("first_dealer", 0, range(seats), "the seat that deals the first section"),
        Option("hook", default=False, allowed=(False, True), meaning="the bids may not add up to the tricks"),
    )


@dataclass(frozen=True, slots=True)
class Table:
    """The resolved options of a table."""

    seats: int
    up_and_down: bool = False
    modern: bool = False
    decks: int = 1
    last_copy_wins: bool = False
    highest_bidder_leads: bool = False
    first_dealer: Seat = 0
    hook: bool = False

    @classmethod
    def of(cls, seats: int, options: OptionValues) -> "Table":
        """The table for resolved options."""
        return cls(
            seats=seats,
            up_and_down=options["game_type"] == "up_and_down",
            modern=options["scoring"] == "modern",
            decks=int(options["decks"]),
            last_copy_wins=options["identical_cards"] == "last",
            highest_bidder_leads=options["leader"] == "highest_bidder",
            first_dealer=int(options["first_dealer"]),
            hook=bool(options["hook"]),
        )

    @property
    def deck(self) -> tuple[Card, ...]:
        """All cards, ascending (JOS-DECK-1)."""
        return _DECKS[self.decks]

    @property
    def peak(self) -> int:
        """The most cards per seat; one card always remains for the indicator (JOS-LEN-1)."""
        return min(MOST_CARDS, (52 * self.decks - 1) // self.seats)

    @property
    def sections(self) -> int:
        """How many sections are played (JOS-LEN-2, JOS-LEN-3)."""
        return 2 * self.peak if self.up_and_down else self.peak

    def size(self, number: int) -> int:
        """The cards per seat of a section, counted from 1 (JOS-LEN-2, JOS-LEN-3)."""
        return number if number <= self.peak else 2 * self.peak + 1 - number

    def dealer(self, number: int) -> Seat:
        """Who deals a section, counted from 1 (JOS-DEAL-1)."""
        return (self.first_dealer + number - 1) % self.seats

    def clockwise(self, first: Seat) -> tuple[Seat, ...]:
        """All seats, beginning with one."""
        return (*range(first, self.seats), *range(first))

    def from_left_of(self, dealer: Seat) -> tuple[Seat, ...]:
        """All seats from the dealer's left; the dealer is the last."""
        return self.clockwise((dealer + 1) % self.seats)


_DECKS = {decks: tuple(sorted(STANDARD_DECK * decks)) for decks in (1, 2)}
