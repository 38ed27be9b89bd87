"""110 as a game among games."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, cast

from croupier.games.bots import random_legal
from croupier.games.interface import Bot, Choose, Option, OptionValues, Seen, State
from croupier.games.one_ten import imagination, table
from croupier.games.one_ten.bots import sensible
from croupier.games.one_ten.state import OneTenState
from croupier.games.one_ten.table import Table


class OneTen:
    """The game of 110 for 2 to 8 seats."""

    id: Final = "one_ten"
    name: Final = "110"
    summary: Final = "Bid for the kitty and the trump suit, take tricks, and be the first with 110 points."
    rules_version: Final = 1
    seats: Final = range(2, 9)
    bots: Final[Mapping[str, Bot]] = MappingProxyType({"sensible": sensible, "random": random_legal})
    names: Final[Mapping[str, str]] = MappingProxyType(
        {
            "JK": "joker",
            "declarer": "bid winner",
            "put_away": "cards put away",
            "taken": "finished tricks",
            "bids_won": "bids won",
            "bids_made": "bids made",
            "target": "somebody has 110 points",
            "max_rounds": "all rounds have been played",
        }
    )
    proposals: Final[Mapping[str, str]] = MappingProxyType({})

    def options(self, seats: int) -> tuple[Option, ...]:  # noqa: ARG002 - the port's signature
        """Every option; they are the same at every number of seats (110-OPT-1)."""
        return table.options()

    def check(self, seats: int, options: OptionValues) -> None:
        """Raises InvalidOption if there are not enough cards for the hand size (110-OPT-1)."""
        table.check(seats, options)

    def new(self, seats: int, options: OptionValues) -> OneTenState:
        """A table before its first deal."""
        return OneTenState.before(Table.of(seats, options))

    def imagine(self, seen: Seen, choose: Choose) -> OneTenState:
        """A table as it may be for all that a seat knows."""
        return imagination.imagine(seen, choose)

    def rate(self, before: State, after: State) -> tuple[float, ...]:
        """The points that each seat gained against the others' average; at the end of the game also who won."""
        return imagination.rate(cast("OneTenState", before), cast("OneTenState", after))
