"""The state of a game of Jøssing: frozen data."""

from dataclasses import dataclass
from typing import NamedTuple

from croupier.games.cards import STANDARD_DECK, Card, Suit
from croupier.games.facts import PileCard, Seat
from croupier.games.interface import OptionValues

MAX_CARDS = 10
"""No section has more cards per seat (JOS-LEN-1)."""


@dataclass(frozen=True, slots=True)
class JossingOptions:
    """The resolved options of a table, and what follows from them."""

    seats: int
    up_and_down: bool = False
    modern: bool = False
    decks: int = 1
    last_copy_wins: bool = False
    leader: str = "left_of_dealer"
    first_dealer: Seat = 0
    hook: bool = False

    @classmethod
    def of(cls, seats: int, values: OptionValues) -> "JossingOptions":
        """Return the options of a table from their values by name."""
        return cls(
            seats=seats,
            up_and_down=values["game_type"] == "up_and_down",
            modern=values["scoring"] == "modern",
            decks=int(values["decks"]),
            last_copy_wins=values["identical_cards"] == "last",
            leader=str(values["leader"]),
            first_dealer=int(values["first_dealer"]),
            hook=bool(values["hook"]),
        )

    @property
    def deck(self) -> tuple[Card, ...]:
        """All cards, ascending (JOS-DECK-1)."""
        return _DECKS[self.decks]

    @property
    def peak(self) -> int:
        """The most cards per seat; one card always remains for the indicator (JOS-LEN-1)."""
        return min(MAX_CARDS, (52 * self.decks - 1) // self.seats)

    @property
    def sections(self) -> int:
        """The number of sections (JOS-LEN-2, JOS-LEN-3)."""
        return 2 * self.peak if self.up_and_down else self.peak

    def size(self, number: int) -> int:
        """Return the cards per seat of a section, counted from 1 (JOS-LEN-2, JOS-LEN-3)."""
        return number if number <= self.peak else 2 * self.peak + 1 - number

    def dealer(self, number: int) -> Seat:
        """Return the dealer of a section, counted from 1 (JOS-DEAL-1)."""
        return (self.first_dealer + number - 1) % self.seats

    def clockwise(self, first: Seat) -> tuple[Seat, ...]:
        """Return all seats, beginning with one."""
        return (*range(first, self.seats), *range(first))

    def left_of(self, dealer: Seat) -> Seat:
        """Return the seat at the dealer's left."""
        return (dealer + 1) % self.seats


class Section(NamedTuple):
    """The fixed part of a section: its number from 1, the cards per seat, the dealer and the indicator."""

    number: int
    size: int
    dealer: Seat
    indicator: Card

    @property
    def trump(self) -> Suit:
        """The indicator's suit (JOS-DEAL-3)."""
        return self.indicator // 13

    @classmethod
    def of(cls, options: JossingOptions, number: int, indicator: Card) -> "Section":
        """Return a section of a table by its number."""
        return cls(number, options.size(number), options.dealer(number), indicator)


class SeatBid(NamedTuple):
    """The number of tricks that a seat undertakes to win."""

    seat: Seat
    amount: int


class JossingState(NamedTuple):
    """A table; the cards of piles keep their seats.

    `bidders` are the seats that may bid now, `bids` those made so far in the order of their arrival, `queue` the seats
    that still have to play to the trick, next one first; `won` counts tricks by seat.
    """

    options: JossingOptions
    section: Section
    totals: tuple[int, ...]
    hands: tuple[int, ...]
    bidders: tuple[Seat, ...] = ()
    bids: tuple[SeatBid, ...] = ()
    queue: tuple[Seat, ...] = ()
    trick: tuple[PileCard, ...] = ()
    taken: tuple[PileCard, ...] = ()
    won: tuple[int, ...] = ()

    @property
    def phase(self) -> str:
        """ "deal", "bid", "play" or "over"."""
        if self.queue:
            return "play"
        if self.bidders:
            return "bid"
        return "over" if self.section.number == self.options.sections else "deal"

    @property
    def amounts(self) -> tuple[int, ...]:
        """All bids by seat, when all are in."""
        return tuple([amount for _, amount in sorted(self.bids)])

    @property
    def has_secret_bids(self) -> bool:
        """Whether the bids made so far are known to their own seats only (JOS-BID-4, JOS-BID-6)."""
        return bool(self.bidders) and not (self.options.hook and self.bidders == (self.section.dealer,))


_DECKS = {decks: tuple(sorted(STANDARD_DECK * decks)) for decks in (1, 2)}
