"""The state of a game of 101: frozen data."""

from dataclasses import dataclass
from typing import NamedTuple

from croupier.games.cards import STANDARD_DECK, Card, Suit, strength_of
from croupier.games.facts import MoveReason, PileCard, Ranking, Seat
from croupier.games.interface import OptionValues

LOSING_SCORE = 101
NOBODY: Seat = -1
DECKS = {
    36: tuple(value for value in STANDARD_DECK if strength_of(value) >= 6),
    52: STANDARD_DECK,
    104: tuple(sorted(STANDARD_DECK * 2)),
}
"""The cards of each deck, ascending."""


@dataclass(frozen=True, slots=True)
class OneOhOneOptions:
    """The resolved options of a table, and its deck."""

    seats: int
    deck: tuple[Card, ...]
    exact_101_reset: bool
    first_move_any: bool
    losing_score: int
    elimination: bool
    queen_covers_six: bool
    finish_on_six: bool
    last_card_effects: bool
    recycle_shuffled: bool
    may_draw_instead: bool
    floor_zero: bool
    queen_penalty_added: bool
    max_rounds: int

    @classmethod
    def of(cls, seats: int, values: OptionValues) -> "OneOhOneOptions":
        """Return the options of a table from their values by name."""
        return cls(
            seats=seats,
            deck=DECKS[int(values["deck"])],
            exact_101_reset=bool(values["exact_101_reset"]),
            first_move_any=bool(values["first_move_any"]),
            losing_score=LOSING_SCORE + (values["lose_at"] == "exceed"),
            elimination=bool(values["elimination"]),
            queen_covers_six=bool(values["queen_covers_six"]),
            finish_on_six=bool(values["finish_on_six"]),
            last_card_effects=bool(values["last_card_effects"]),
            recycle_shuffled=values["recycle"] == "shuffle",
            may_draw_instead=bool(values["may_draw_instead"]),
            floor_zero=bool(values["floor_zero"]),
            queen_penalty_added=values["queen_penalty"] == "added",
            max_rounds=int(values["max_rounds"]),
        )


class Progress(NamedTuple):
    """The part of the state that changes between rounds only.

    `starter` leads the round, and is its winner once it is over; `following` gives for each seat the next one that is
    still in the game; `dropped` are the seats that dropped out, in groups, the best first; `reason` is why the game
    is over.
    """

    round_number: int
    starter: Seat
    totals: tuple[int, ...]
    following: tuple[Seat, ...]
    dropped: Ranking = ()
    reason: str = ""


class Owed(NamedTuple):
    """Cards that a seat still has to take, why, and the seat to act afterwards; NOBODY if the round is over then."""

    seat: Seat
    card_count: int
    reason: MoveReason
    turn: Seat


class OneOhOneState(NamedTuple):
    """A table; hands are bit sets of two packs, the next card of the stock is its first, the top card the last.

    `ordered` is the suit that the queen on top asks for, `covers` whether the seat to act must cover its six,
    `penalized` the seat that misses its turn by the top card, `owed` the cards that wait for a reshuffle, `forced` the
    one card that may be led (101-LEAD-2), and `reshuffles` their number in the round.
    """

    options: OneOhOneOptions
    progress: Progress
    hands: tuple[int, ...]
    stock: tuple[Card, ...] = ()
    pile: tuple[PileCard, ...] = ()
    turn: Seat = NOBODY
    ordered: Suit | None = None
    covers: bool = False
    penalized: Seat = NOBODY
    owed: Owed | None = None
    forced: Card | None = None
    reshuffles: int = 0

    @property
    def phase(self) -> str:
        """ "deal", "play", "reshuffle" or "over"."""
        if self.turn >= 0:
            return "play"
        return "reshuffle" if self.owed else "over" if self.progress.reason else "deal"

    @property
    def can_take(self) -> bool:
        """Whether there is a card to take, be it after a renewal of the stock (101-STOCK-4)."""
        return bool(self.stock) or len(self.pile) > 1


def circle(seats: int, dropped: Ranking) -> tuple[Seat, ...]:
    """Return for each seat the next one clockwise that is still in the game (101-ELIM-1)."""
    out = {seat for group in dropped for seat in group}
    playing = [seat for seat in range(seats) if seat not in out]
    return tuple(next((other for other in playing if other > seat), playing[0]) for seat in range(seats))


def around(following: tuple[Seat, ...], first: Seat) -> tuple[Seat, ...]:
    """Return the seats in the game, clockwise from one of them."""
    seats = [first]
    while (seat := following[seats[-1]]) != first:
        seats.append(seat)
    return tuple(seats)
