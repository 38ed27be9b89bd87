"""What can be bid, in the order of the ladder, and what a contract is once it stands."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from croupier.games.actions import Bid
from croupier.games.cards import Card, Suit
from croupier.games.facts import Seat
from croupier.games.solo.deck import CLUBS


class Kind(NamedTuple):
    """A rung of the ladder: `value` is that of a dirty hand; see the table of bids."""

    rank: int
    value: int
    partner: bool = False
    clubs: bool = False
    do: bool = False
    overrules: str = ""


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "froke": Kind(1, 2, partner=True),
        "iss": Kind(2, 2, partner=True, clubs=True, overrules="froke"),
        "wedding": Kind(3, 4, partner=True),
        "solo": Kind(4, 6),
        "solo_clubs": Kind(5, 6, clubs=True, overrules="solo"),
        "solo_do": Kind(6, 6, do=True),
        "solo_do_clubs": Kind(7, 6, clubs=True, do=True, overrules="solo_do"),
    }
)
"""Every bid by its name, lowest first (SOLO-BID-2); `overrules` is the same bid without the promise of clubs."""

BIDS = MappingProxyType({name: Bid(name) for name in KINDS})
"""Every bid as an action, made once."""


NOBODY = UNSETTLED = -1
"""Stands for a seat, suit or card that there is not, or not yet."""


class SoloContract(NamedTuple):
    """What a hand is played for, as far as it is settled; `partner` holds the `called` card."""

    declarer: Seat = NOBODY
    bid: str = ""
    trump: Suit = UNSETTLED
    do: bool = False
    called: Card = UNSETTLED
    partner: Seat = NOBODY

    @property
    def stands(self) -> bool:
        """Whether there is a declarer."""
        return self.declarer != NOBODY

    @property
    def kind(self) -> Kind:
        """The rung of the ladder."""
        return KINDS[self.bid]

    @property
    def side(self) -> tuple[Seat, ...]:
        """The declaring side, ascending."""
        if self.partner == NOBODY:
            return (self.declarer,)
        return min(self.declarer, self.partner), max(self.declarer, self.partner)

    @property
    def clean(self) -> bool:
        """Whether clubs are trump."""
        return self.trump == CLUBS

    @property
    def secret(self) -> bool:
        """Whether the partner is hidden until the called card is played: froke and iss (SOLO-WED-5)."""
        return self.bid in ("froke", "iss")

    @property
    def base(self) -> int:
        """The value before any factor (SOLO-SCORE-1)."""
        return self.kind.value * (2 if self.clean else 1)


def pledges(contract: SoloContract, through: bool) -> list[tuple[str, str]]:
    """Return the marks of a contract with trump: clean or dirty, and why all eight tricks are owed, if they are."""
    kind = ("kind", "clean" if contract.clean else "dirty")
    pledge = "do" if contract.do else "through" if through else ""
    return [kind, ("pledge", pledge)] if pledge else [kind]
