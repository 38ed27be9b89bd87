"""The bids of Solo in the order of the ladder, and the contract."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from croupier.games.actions import Bid, CallPartner
from croupier.games.facts import Call
from croupier.games.solo.deck import CLUBS
from croupier.games.solo.state import SoloContract


class ContractKind(NamedTuple):
    """A rung of the ladder: `value` is that of a dirty hand; see the table of bids."""

    rank: int
    value: int
    partner: bool = False
    clubs: bool = False
    do: bool = False
    overrules: str = ""


KINDS: Mapping[str, ContractKind] = MappingProxyType(
    {
        "froke": ContractKind(1, 2, partner=True),
        "iss": ContractKind(2, 2, partner=True, clubs=True, overrules="froke"),
        "wedding": ContractKind(3, 4, partner=True),
        "solo": ContractKind(4, 6),
        "solo_clubs": ContractKind(5, 6, clubs=True, overrules="solo"),
        "solo_do": ContractKind(6, 6, do=True),
        "solo_do_clubs": ContractKind(7, 6, clubs=True, do=True, overrules="solo_do"),
    }
)
"""Every bid by its name, lowest first (SOLO-BID-2); `overrules` is the same bid without the promise of clubs."""

BIDS = MappingProxyType({name: Bid(name) for name in KINDS})
"""Every bid as an action, made once."""


def kind_of(contract: SoloContract) -> ContractKind:
    """Return the rung of the ladder."""
    return KINDS[contract.bid]


def is_clean(contract: SoloContract) -> bool:
    """Return whether clubs are trump."""
    return contract.trump == CLUBS


def is_called_unknown(calls: Iterable[Call]) -> bool:
    """Return whether the partner was called by the unknown card (SOLO-CALL-4)."""
    return any(call.action == CallPartner(None) for call in calls)


def pledges(contract: SoloContract, through: bool) -> list[tuple[str, str]]:
    """Return the marks of a contract with trump: clean or dirty, and why all eight tricks are owed, if they are."""
    kind = ("kind", "clean" if is_clean(contract) else "dirty")
    pledge = "do" if contract.do else "through" if through else ""
    return [kind, ("pledge", pledge)] if pledge else [kind]
