"""What the lobby asks of the engine, in plain values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from croupier.lobby.tables import Seat, TableClock

MOST_STATUSES = 500


@dataclass(frozen=True, slots=True)
class OptionDescription:
    """An option of a game; values are written as GameOptions writes them."""

    name: str
    type: str
    default_value: str
    allowed_values: tuple[str, ...]
    meaning: str


@dataclass(frozen=True, slots=True)
class GameDescription:
    """A game as a lobby shows it; the usual kind of computer player comes first."""

    game: str
    name: str
    summary: str
    min_seats: int
    max_seats: int
    rules_version: int
    options: tuple[OptionDescription, ...]
    bots: tuple[str, ...]
    names: Mapping[str, str] = field(default_factory=dict)
    proposals: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Preparation:
    """What a table will be: everything resolved, and the commitment to its secret seed."""

    options: Mapping[str, str]
    clock: TableClock
    commitment: str


class EnginePort(Protocol):
    """The engine's control service.

    Every call raises the ServiceError with which the engine refuses, and Unavailable if it does not answer in time.
    """

    async def describe_games(self) -> tuple[GameDescription, ...]:
        """The games in the order to show them."""

    async def prepare_table(
        self, table_id: str, game: str, seats: int, options: Mapping[str, str], clock: TableClock
    ) -> Preparation:
        """Check what is wanted and commit to the secret seed; idempotent by table."""

    async def open_table(self, table_id: str, seats: Sequence[Seat]) -> None:
        """Open a prepared table and deal; idempotent by table."""

    async def table_statuses(self, table_ids: Sequence[str]) -> Mapping[str, bool]:
        """Whether the game is over, for each of at most 500 tables that the engine knows."""
