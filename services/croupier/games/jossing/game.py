"""Jøssing as a game among games."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, cast

from croupier.games.bots import random_legal
from croupier.games.interface import Bot, Choose, Option, OptionValues, Seen, State
from croupier.games.jossing import imagination, table
from croupier.games.jossing.bots import sensible
from croupier.games.jossing.state import JossingState
from croupier.games.jossing.table import Table


class Jossing:
    """The game of Jøssing for 2 to 8 seats (JOS-PLAYERS-1)."""

    id: Final = "jossing"
    name: Final = "Jøssing"
    summary: Final = (
        "Bid in secret how many tricks you will win, and score if you win exactly so many; best with 3 to 6 players."
    )
    rules_version: Final = 1
    seats: Final = range(2, 9)
    bots: Final[Mapping[str, Bot]] = MappingProxyType({"sensible": sensible, "random": random_legal})
    names: Final[Mapping[str, str]] = MappingProxyType(
        {
            "bids_hit": "bids hit exactly",
            "indicator": "trump indicator",
            "round": "section",
            "taken": "finished tricks",
            "tricks_won": "tricks won",
        }
    )
    proposals: Final[Mapping[str, str]] = MappingProxyType({})

    def options(self, seats: int) -> tuple[Option, ...]:
        """Every option; all are independent (JOS-OPT-1)."""
        return table.options(seats)

    def check(self, seats: int, options: OptionValues) -> None:
        """Accepts all: every combination is valid at every number of seats (JOS-OPT-1)."""

    def new(self, seats: int, options: OptionValues) -> JossingState:
        """A table before its first deal."""
        return JossingState.before(Table.of(seats, options))

    def imagine(self, seen: Seen, choose: Choose) -> JossingState:
        """A table as it may be for all that a seat knows."""
        return imagination.imagine(seen, choose)

    def rate(self, before: State, after: State) -> tuple[float, ...]:
        """The points that each seat gained, compared with the others; a bid in reach counts in mid-section."""
        return imagination.rate(cast("JossingState", before), cast("JossingState", after))
