"""Solo as a game among games."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, cast

from croupier.games.bots import random_legal
from croupier.games.interface import Bot, Choose, Option, OptionValues, Seen, State
from croupier.games.solo import imagination, table
from croupier.games.solo.bots import sensible
from croupier.games.solo.state import SoloState
from croupier.games.solo.summary import BID_NAMES
from croupier.games.solo.table import Table

NAMES = {
    "QC": "the Old",
    "QS": "the Blue",
    **BID_NAMES,
    "clean": "clean",
    "dirty": "dirty",
    "do": "do",
    "through": "gone through",
    "unknown": "the unknown ace",
    "kind": "clean or dirty",
    "pledge": "all eight tricks by",
    "called_card": "called card",
    "went_out": "out since hand",
    "taken": "finished tricks",
    "buck": "only the Buck is left",
    "bucks": "times left with the Buck",
}


class Solo:
    """The game of Solo for 4 seats (SOLO-DECK-2)."""

    id: Final = "solo"
    name: Final = "Solo"
    summary: Final = "Win five of eight tricks with a hidden partner or alone; the last one short of 36 gets the Buck."
    rules_version: Final = 1
    seats: Final = range(4, 5)
    bots: Final[Mapping[str, Bot]] = MappingProxyType({"sensible": sensible, "random": random_legal})
    names: Final[Mapping[str, str]] = MappingProxyType(NAMES)
    proposals: Final[Mapping[str, str]] = MappingProxyType(
        {
            "restart_same": "Play this hand again from the auction, everybody with the same cards.",
            "restart_new": "Play this hand again with new cards from the same dealer.",
        }
    )

    def options(self, seats: int) -> tuple[Option, ...]:  # noqa: ARG002 - the port's signature
        """Every option; all are independent (SOLO-OPT-1)."""
        return table.OPTIONS

    def check(self, seats: int, options: OptionValues) -> None:
        """Accepts all: every combination is valid (SOLO-OPT-1)."""

    def new(self, seats: int, options: OptionValues) -> SoloState:  # noqa: ARG002 - the port's signature
        """A table before its first deal."""
        return SoloState(Table.of(options))

    def imagine(self, seen: Seen, choose: Choose) -> SoloState:
        """A table as it may be for all that a seat knows."""
        return imagination.imagine(seen, choose)

    def rate(self, before: State, after: State) -> tuple[float, ...]:
        """Points gained against the others; who is left with the Buck did worst."""
        return imagination.rate(cast("SoloState", before), cast("SoloState", after))
