"""The port to the engine's control service, with plain values."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

from croupier.lobby.tables.forming_table import OptionValue, Table, TableState, TimeControl
from croupier.runtime.translations import ENGLISH

MAX_TABLE_IDS = 500


class Preset(NamedTuple):
    """Options, those that differ from the defaults, and a complete time control."""

    options: Mapping[str, OptionValue]
    time_control: TimeControl


@dataclass(frozen=True, slots=True)
class GameDescription:
    """A game: the parts that the lobby checks, bots with the default first, and `description`, the encoded message.

    Presets are by name.
    """

    game: str
    min_seats: int
    max_seats: int
    bots: tuple[str, ...]
    description: bytes
    presets: Mapping[str, Preset] = field(default_factory=dict)

    def has_seats(self, seat_count: int) -> bool:
        """Return whether the game can be played by so many."""
        return self.min_seats <= seat_count <= self.max_seats


@dataclass(frozen=True, slots=True)
class Preparation:
    """A table as the engine will play it; options and time control are complete, teams are seats."""

    options: Mapping[str, OptionValue]
    time_control: TimeControl
    seed_commitment: str
    rules_version: int
    teams: tuple[tuple[int, ...], ...] = ()

    def applied_to(self, table: Table, state: TableState) -> Table:
        """Return a table as it is prepared, in a state."""
        return replace(
            table,
            state=state,
            options=self.options,
            time_control=self.time_control,
            seed_commitment=self.seed_commitment,
            rules_version=self.rules_version,
            teams=self.teams,
        )


class OfferedGames(NamedTuple):
    """The games of one engine in the order to show them, and whether others know other games: in a roll-out.

    `reactions` are encoded messages, in the order to show them.
    """

    games: tuple[GameDescription, ...]
    is_rolling_out: bool = False
    reactions: tuple[bytes, ...] = ()


class EndedTables(NamedTuple):
    """Tables whose games are over, and the time at which the stream resumes, in milliseconds since 1970 UTC."""

    table_ids: Sequence[str]
    resume_at: int


class Turn(NamedTuple):
    """The seats that are to act, and those that are away, a bit of each; and the next deadline, 0 without one.

    The deadline is in milliseconds since 1970 UTC.
    """

    to_act: int
    away: int
    deadline: int


class TableStatus(NamedTuple):
    """Whether the game of a table is over, and the players who have acted in it, known only then; before, its turn.

    The turn is None if the engine does not know it.
    """

    is_finished: bool
    acted_players: Sequence[str] = ()
    turn: Turn | None = None


class EnginePort(Protocol):
    """The engine's control service.

    Every call raises the ServiceError of a refusal, and Unavailable if the engine does not answer in time.
    """

    async def describe_games(self, seat_count: int = 0, language: str = ENGLISH) -> OfferedGames:
        """Return the games of an engine, with their options for a number of seats, in one of LANGUAGES.

        With 0 for the greatest number of each game; otherwise games without this number are left out.
        """

    async def prepare_table(
        self,
        table_id: str,
        game: str,
        seats: int,
        options: Mapping[str, OptionValue],
        time_control: TimeControl,
        network: str = "",
        host_player_id: str = "",
        *,
        revision: int = 0,
        validate_only: bool = False,
    ) -> Preparation:
        """Check a table, which its host created from a network, and commit to the secret seed of its revision.

        Idempotent by table and revision. With `validate_only` there is no commitment, and nothing is stored.
        """

    async def open_table(self, table: Table) -> None:
        """Open the revision of a table that was prepared, and deal; idempotent by table."""

    async def discard_tables(self, table_ids: Sequence[str]) -> None:
        """Delete those of at most 500 tables that are prepared and not open; idempotent."""

    async def forget_player(self, player_id: str, playing: Sequence[str], after: str) -> Sequence[str]:
        """Remove the name of a deleted player from the ledger, also at tables whose games have not ended; idempotent.

        Returns the next tables after one with a result of the player, in the order of their ids; none after the last.
        """

    async def table_statuses(self, table_ids: Sequence[str]) -> Mapping[str, TableStatus]:
        """Return the status of each of at most 500 tables that the engine knows."""

    def watch_ended_tables(self, resume_at: int) -> AsyncGenerator[EndedTables, None]:
        """Yield tables whose games end at or after a time; ends or raises when the stream has to be resumed."""
