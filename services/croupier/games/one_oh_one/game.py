"""101 as a game among games."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, cast

from croupier.games.bots import random_legal
from croupier.games.interface import Bot, Choose, Option, OptionValues, Seen, State
from croupier.games.one_oh_one import imagination, table
from croupier.games.one_oh_one.bots import sensible
from croupier.games.one_oh_one.state import OneOhOneState
from croupier.games.one_oh_one.table import Table


class OneOhOne:
    """The game of 101 for 2 to 4 seats."""

    id: Final = "one_oh_one"
    name: Final = "101"
    summary: Final = "Match suit or rank to shed your cards; what is left in your hand counts, and 101 points lose."
    rules_version: Final = 1
    seats: Final = range(2, 5)
    bots: Final[Mapping[str, Bot]] = MappingProxyType({"sensible": sensible, "random": random_legal})
    names: Final[Mapping[str, str]] = MappingProxyType(
        {
            "cover": "has to cover its six with",
            "penalty": "misses a turn by the",
            "pile": "open cards",
            "starter": "led by seat",
            "to_take": "cards still to take",
        }
    )
    proposals: Final[Mapping[str, str]] = MappingProxyType({})

    def options(self, seats: int) -> tuple[Option, ...]:  # noqa: ARG002 - the port's signature
        """Every option; all are independent (101-OPT-1)."""
        return table.options()

    def check(self, seats: int, options: OptionValues) -> None:
        """Accepts all: every combination is valid at every number of seats (101-OPT-1)."""

    def new(self, seats: int, options: OptionValues) -> OneOhOneState:
        """A table before its first deal."""
        return OneOhOneState.before(Table.of(seats, options))

    def imagine(self, seen: Seen, choose: Choose) -> OneOhOneState:
        """A table as it may be for all that a seat knows."""
        return imagination.imagine(seen, choose)

    def rate(self, before: State, after: State) -> tuple[float, ...]:
        """How much cheaper each seat came off than the others, 0 to 1."""
        return imagination.rate(cast("OneOhOneState", before), cast("OneOhOneState", after))
