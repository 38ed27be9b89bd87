"""The state of a game of Gin Rummy: frozen data."""

from dataclasses import dataclass
from typing import NamedTuple

from croupier.games.cards import Card
from croupier.games.facts import Call, PileCard, Seat
from croupier.games.interface import OptionValues

SEATS = 2
HAND_SIZE = 10
NOBODY: Seat = -1
UNDRAWN = 2
"""So many cards of the stock are never drawn (GIN-STOCK-1)."""
MELD_NAMES = ("meld_1", "meld_2", "meld_3")
"""The piles of a seat's melds, in the order in which they were laid; eleven cards are three melds at most."""


@dataclass(frozen=True, slots=True)
class GinOptions:
    """The resolved options of a table."""

    next_dealer: str
    knock: str
    big_gin: bool
    gin_bonus: int
    undercut_bonus: int
    target: int
    end_bonuses: bool
    max_rounds: int

    @classmethod
    def of(cls, values: OptionValues) -> "GinOptions":
        """Return the options of a table from their values by name."""
        return cls(
            next_dealer=str(values["next_dealer"]),
            knock=str(values["knock"]),
            big_gin=bool(values["big_gin"]),
            gin_bonus=int(values["gin_bonus"]),
            undercut_bonus=int(values["undercut_bonus"]),
            target=int(values["target"]),
            end_bonuses=bool(values["end_bonuses"]),
            max_rounds=int(values["max_rounds"]),
        )


class Progress(NamedTuple):
    """The part of the state that changes between hands only.

    `dealer` dealt the hand, `next_dealer` deals the one after it; both are NOBODY before the first. `boxes` counts the
    hands that each seat has won, and `reason` is why the game is over.
    """

    round_number: int = 0
    dealer: Seat = NOBODY
    next_dealer: Seat = NOBODY
    totals: tuple[int, ...] = (0,) * SEATS
    boxes: tuple[int, ...] = (0,) * SEATS
    reason: str = ""


Melds = tuple[tuple[PileCard, ...], ...]
"""The melds of a seat, in the order in which they were laid."""


class GinState(NamedTuple):
    """A table; hands are bit sets, the next card of the stock is its first, the top card of the discards the last.

    `known` are the cards of each hand that were taken from the discard pile, as bit sets; `taken` is the one that was
    taken in this turn. `limit` is the knocker's. `knocker` is NOBODY until a knock is complete, and `knock` is then
    "knock", "gin" or "big_gin".
    """

    options: GinOptions
    progress: Progress = Progress()
    phase: str = "deal"
    turn: Seat = NOBODY
    hands: tuple[int, ...] = (0,) * SEATS
    known: tuple[int, ...] = (0,) * SEATS
    stock: tuple[Card, ...] = ()
    discards: tuple[PileCard, ...] = ()
    calls: tuple[Call, ...] = ()
    limit: int = 0
    taken: Card | None = None
    knocker: Seat = NOBODY
    knock: str = ""
    melds: tuple[Melds, ...] = ((),) * SEATS

    @property
    def upcard_is_closed(self) -> bool:
        """Whether both seats have just passed the upcard, which then cannot be taken any more (GIN-UP-3)."""
        return self.phase == "draw" and self.discards[-1].seat is None

    @property
    def allowed_deadwood(self) -> int:
        """The points that the knocker may have in the hand after laying melds (GIN-LAY-3)."""
        return self.limit if self.knock == "knock" else 0

    def with_hand(self, seat: Seat, hand: int) -> "GinState":
        """Return the table with another hand, of which at most its own cards are known."""
        known = self.known[seat] & hand
        return self._replace(hands=changed(self.hands, seat, hand), known=changed(self.known, seat, known))


def changed(values: tuple[int, ...], seat: Seat, value: int) -> tuple[int, ...]:
    """Return the values by seat with another one for a seat."""
    return (*values[:seat], value, *values[seat + 1 :])


def other(seat: Seat) -> Seat:
    """Return the other seat."""
    return 1 - seat
