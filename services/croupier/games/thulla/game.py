"""Thulla as a game among games."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, cast

from croupier.games.bots import random_legal
from croupier.games.interface import Bot, Choose, Option, OptionValues, Seen, State
from croupier.games.thulla import imagination, table
from croupier.games.thulla.bots import sensible
from croupier.games.thulla.state import ThullaState
from croupier.games.thulla.table import Table


class Thulla:
    """The game of Thulla for 2 to 6 seats (THU-PLAYERS-1)."""

    id: Final = "thulla"
    name: Final = "Thulla"
    summary: Final = "Shed all your cards by following suit; whoever breaks suit makes somebody pick the trick up."
    rules_version: Final = 1
    seats: Final = range(2, 7)
    bots: Final[Mapping[str, Bot]] = MappingProxyType({"sensible": sensible, "random": random_legal})
    names: Final[Mapping[str, str]] = MappingProxyType(
        {"gold": "gold medal", "silver": "silver medal", "bronze": "bronze medal", "waste": "waste pile"}
    )
    proposals: Final[Mapping[str, str]] = MappingProxyType({})

    def options(self, seats: int) -> tuple[Option, ...]:
        """Every option; all are independent (THU-OPT-1)."""
        return table.options(seats)

    def check(self, seats: int, options: OptionValues) -> None:
        """Accepts all: every combination is valid at every number of seats (THU-OPT-1)."""

    def new(self, seats: int, options: OptionValues) -> ThullaState:
        """A table before its first deal."""
        return ThullaState.before(Table.of(seats, options))

    def imagine(self, seen: Seen, choose: Choose) -> ThullaState:
        """A table as it may be for all that a seat knows."""
        return imagination.imagine(seen, choose)

    def rate(self, before: State, after: State) -> tuple[float, ...]:
        """The place that each seat takes, or nearly has, 1 for the first and 0 for the last."""
        return imagination.rate(cast("ThullaState", before), cast("ThullaState", after))
