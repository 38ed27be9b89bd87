"""The state and the deck of the toy."""

from typing import NamedTuple

from croupier.games.actions import Bid
from croupier.games.cards import OWN_CARDS, Card, CardFace, card_names
from croupier.games.choices import AmountChoice
from croupier.games.facts import (
    NO_TRUMP,
    Call,
    Contract,
    Mark,
    PileCard,
    Seat,
)
from croupier.games.standings import ranked

FACES = tuple(
    CardFace(OWN_CARDS[12 * suit + rank - 1], f"{colour[0].upper()}{rank}", colour, str(rank), f"{colour} {rank}")
    for suit, colour in enumerate(("red", "blue"))
    for rank in range(1, 13)
)
NAMES = card_names(FACES)
DECK = tuple(face.card for face in FACES)
HAND_SIZE = 3
TURNS = 2
"""How many turns each seat has."""
BIDS = AmountChoice(10, 30, 10)
BOASTS = AmountChoice(1, 3)


class ToyState(NamedTuple):
    """A table; `turns` counts those that are over, `boasts` holds the amount that was named with each seat, or 0."""

    totals: tuple[int, ...]
    phase: str = "deal"
    turn: Seat = 0
    turns: int = 0
    hands: tuple[tuple[Card, ...], ...] = ()
    reserves: tuple[tuple[Card, ...], ...] = ()
    melds: tuple[tuple[PileCard, ...], ...] = ()
    stock: tuple[Card, ...] = ()
    waste: tuple[PileCard, ...] = ()
    calls: tuple[Call, ...] = ()
    boasts: tuple[int, ...] = ()

    @property
    def seats(self) -> int:
        """The number of seats."""
        return len(self.totals)

    @property
    def is_playing(self) -> bool:
        """Whether the table awaits an action of a seat."""
        return self.phase in ("bid", "draw", "lay")

    @property
    def contract(self) -> Contract:
        """The first of the highest bids."""
        bids = [(call.action.bid, -call.seat) for call in self.calls if isinstance(call.action, Bid)]
        amount, seat = max(bids, default=(0, 0))
        return Contract(declarer=-seat, amount=int(amount), trump=NO_TRUMP) if amount else Contract()

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The boasts, and how many turns are over."""
        boasts = [Mark("boast", seat, str(amount)) for seat, amount in enumerate(self.boasts) if amount]
        return (*boasts, Mark("turns", None, str(self.turns))) if self.turns else tuple(boasts)

    def is_out(self, seat: Seat) -> bool:
        """Return whether a seat has no cards left."""
        return self.phase != "deal" and not self.hands[seat] and not self.reserves[seat]


def teams_of(seats: int) -> tuple[tuple[Seat, ...], ...]:
    """Return two pairs at a table of four."""
    return ((0, 2), (1, 3)) if seats == 4 else ()


def ranking(state: ToyState) -> tuple[tuple[Seat, ...], ...]:
    """Return the groups of seats by their totals, best first."""
    return ranked(range(state.seats), lambda seat: -state.totals[seat])
