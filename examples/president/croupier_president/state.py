"""The state of a game of President: frozen data."""

from dataclasses import dataclass
from typing import NamedTuple

from croupier.games.cards import CARD_OF_NOTATION, STANDARD_DECK, Card
from croupier.games.facts import PileCard, Seat
from croupier.games.interface import OptionValues

THREE_OF_CLUBS = CARD_OF_NOTATION["3C"]
HIGHEST_RANK = 12
NOBODY: Seat = -1


def rank_of(value: Card) -> int:
    """Return the rank of a card by number: 0 for a three, 11 for an ace, 12 for a two (PRES-RANK-1)."""
    return (value - 1) % 13


BY_RANK = tuple(sorted(STANDARD_DECK, key=lambda value: (rank_of(value), value)))
"""A hand is shown in this order, so that equal cards lie side by side."""


def clockwise(first: Seat, seats: int) -> tuple[Seat, ...]:
    """Return all seats, beginning with one."""
    return tuple([(first + step) % seats for step in range(seats)])


@dataclass(frozen=True, slots=True)
class PresidentOptions:
    """The resolved options of a table."""

    seats: int
    exchange: str = "double"
    president_leads: bool = True
    pass_is_final: bool = False
    titles_score: bool = False
    rounds: int = 5
    target: int = 0

    @classmethod
    def of(cls, seats: int, values: OptionValues) -> "PresidentOptions":
        """Return the options of a table from their values by name."""
        return cls(
            seats=seats,
            exchange=str(values["exchange"]),
            president_leads=values["later_lead"] == "president",
            pass_is_final=values["passing"] == "final",
            titles_score=values["scoring"] == "titles",
            rounds=int(values["rounds"]),
            target=int(values["target"]),
        )


class Progress(NamedTuple):
    """The part of the state that changes between rounds only.

    `order` is the finishing order of the latest complete round, and `reason` is why the game is over.
    """

    round_number: int
    dealer: Seat
    totals: tuple[int, ...]
    order: tuple[Seat, ...] = ()
    reason: str = ""


class Pair(NamedTuple):
    """Two seats that exchange cards: the one that gives its best, the one that returns any, and how many."""

    giver: Seat
    receiver: Seat
    card_count: int

    def partner(self, seat: Seat) -> Seat:
        """Return the other one of the pair."""
        return self.giver if seat == self.receiver else self.receiver


class PresidentState(NamedTuple):
    """A table; hands are bit sets, `to_act` holds the seats that may act, ascending.

    `pairs` are those of the round, `given` has by seat the cards that it gave away in the exchange. `out` holds the
    seats without cards in their order, `passed` those whose pass counts.
    """

    options: PresidentOptions
    progress: Progress
    phase: str
    hands: tuple[int, ...]
    to_act: tuple[Seat, ...] = ()
    pairs: tuple[Pair, ...] = ()
    given: tuple[tuple[Card, ...], ...] = ()
    trick: tuple[PileCard, ...] = ()
    waste: tuple[PileCard, ...] = ()
    out: tuple[Seat, ...] = ()
    passed: frozenset[Seat] = frozenset()

    @property
    def rank_to_beat(self) -> int:
        """The rank of the combination laid last, -1 for the leader."""
        return rank_of(self.trick[-1].card) if self.trick else -1

    @property
    def set_size(self) -> int:
        """The number of cards of each combination of the trick, 0 for the leader.

        Ranks rise from one combination to the next, so the cards of the highest rank are one combination.
        """
        return sum(rank_of(laid.card) == self.rank_to_beat for laid in self.trick)

    @property
    def opens_the_game(self) -> bool:
        """Whether the first lead of the first round is due (PRES-LEAD-2)."""
        return self.progress.round_number == 1 and not self.trick and not self.waste

    def pair_of(self, seat: Seat) -> Pair | None:
        """Return the pair that a seat is of in this round."""
        return next((pair for pair in self.pairs if seat in pair[:2]), None)

    def with_hand(self, seat: Seat, hand: int) -> "PresidentState":
        """Return the table with another hand of a seat."""
        return self._replace(hands=(*self.hands[:seat], hand, *self.hands[seat + 1 :]))

    def first_holder(self, seat: Seat) -> Seat:
        """Return a seat if it has cards, or else the next one clockwise that has."""
        return next(other for other in clockwise(seat, self.options.seats) if self.hands[other])
