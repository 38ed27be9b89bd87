"""The store of logs: the port."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple, Protocol

from croupier.engine.core.fold import Turn
from croupier.engine.core.history import PackedLog
from croupier.engine.core.log import Entry, TableConfig
from croupier.engine.core.log_codec import LogPart, Row, rows_of
from croupier.runtime.outcomes import Callback, settle
from croupier.runtime.steps import in_steps

PAGE_ROWS = 500
"""A larger result would occupy the event loop for too long."""
STEP_ROWS = 16
"""To fold so many rows takes about a millisecond."""
NO_TURN = Turn()


class SequenceTaken(Exception):
    """Another append was first, or the table was archived; nothing was stored."""


class StoredTable(NamedTuple):
    """A stored table without its log: `status` is "prepared", "open" or "finished".

    `finished_at` is the time of the game's end in milliseconds since 1970 UTC, None until then. `network` is that of
    the player who created it, empty if it is not known or the game is over.
    """

    status: str
    config: TableConfig
    finished_at: int | None = None
    network: str = ""

    @property
    def is_prepared(self) -> bool:
        """Whether the game has not begun."""
        return self.status == "prepared"


class TableChange(NamedTuple):
    """The changes of an append to the row of its table: the number of reports due, and whether the game is over."""

    reports_due: int
    finished: bool


class TableStatus(NamedTuple):
    """The status of a table as in StoredTable; while it is open its next deadline, and its turn if that is known."""

    status: str
    deadline: int = 0
    turn: Turn | None = None


class TableStore(Protocol):
    """The port. Every method is safe to repeat, and may be called by several engines at once.

    Times are milliseconds since 1970 UTC. Deadlines are those of the last entries. Methods that read configurations or
    entries raise UnreadableLog if those are malformed or of an unknown format.
    """

    async def prepare(self, config: TableConfig, at: int, network: str = "") -> TableConfig:
        """Store a prepared table that a player of a network created, or return the one that has this id already."""

    async def open(self, config: TableConfig, entries: Sequence[Entry], turn: Turn = NO_TURN) -> bool:
        """Open a prepared table with entries and the turn after them; return False if it is not prepared any more."""

    def append(
        self, table_id: str, entries: Sequence[Entry], change: TableChange | None, turn: Turn, done: Callback[None]
    ) -> None:
        """Begin to store entries and the turn after them, all or none; call `done` when they are durable.

        The error is SequenceTaken if another append was first. Any other leaves open whether they are stored.
        """

    async def find(self, table_id: str) -> StoredTable | None:
        """Return a table without its log, None if there is none."""

    async def log_after(self, table_id: str, sequence: int, limit: int) -> LogPart:
        """Return the first rows after a sequence, at most `limit`; an archived log is one part as a whole."""

    async def entries_beyond(self, heads: Mapping[str, int], limit: int) -> dict[str, tuple[Entry, ...]]:
        """Return the first entries after a sequence of each table, by table in order; omit tables without any.

        At most `limit` are of tables that are not archived.
        """

    async def find_replay(self, table_id: str) -> bytes | None:
        """Return the stored replay of an archived table, None if there is none."""

    async def store_replay(self, table_id: str, replay: bytes) -> None:
        """Store the replay of a table if it is archived."""

    async def claim_overdue(self, before: int, until: int, limit: int) -> list[str]:
        """Claim open tables whose deadlines passed before `before`, oldest first, until `until`."""

    async def postpone(self, table_ids: Sequence[str], until: int) -> None:
        """Let open tables that nobody can play for now be claimed no earlier than at `until`."""

    async def statuses(self, table_ids: Sequence[str]) -> dict[str, TableStatus]:
        """Return the status of each table that exists."""

    async def acted_players(self, table_ids: Sequence[str]) -> dict[str, list[str]]:
        """Return the players of each table that is over who have acted; of an archived one all players."""

    async def ended_after(self, position: tuple[int, str], limit: int) -> list[tuple[int, str]]:
        """Return the next tables in the order of the times at which their games ended, each after this time."""

    async def open_counts(self) -> dict[tuple[str, int], int]:
        """Return the number of open tables by game and rules version."""

    async def claim_unreported(self, now: int, until: int, limit: int) -> list[str]:
        """Claim tables whose reports were not delivered in time, until `until`."""

    async def reports_done(self, table_id: str) -> int:
        """Return the number of delivered reports of a table; 0 for an unknown one."""

    async def set_reports_done(self, table_id: str, count: int) -> None:
        """Record the number of delivered reports; it never decreases."""

    async def claim_finished(self, finished_before: int, now: int, until: int, limit: int) -> list[str]:
        """Claim tables to archive, which ended before a moment and whose reports are all delivered, until `until`."""

    async def archive(self, table_id: str, packed: PackedLog) -> None:
        """Move a table with its log to the archive, unless it is there; raises ValueError if its log is another."""

    async def delete_archived(self, finished_before: int, limit: int) -> int:
        """Delete archived tables that ended before a moment; return their number."""

    async def delete_prepared(self, prepared_before: int, limit: int) -> int:
        """Delete tables that were prepared before a moment and never opened; return their number."""

    async def discard_prepared(self, table_ids: Sequence[str]) -> int:
        """Delete those of some tables that were never opened; return their number."""


async def append_durably(
    store: TableStore, table_id: str, entries: Sequence[Entry], change: TableChange | None, turn: Turn = NO_TURN
) -> None:
    """Append, and return once it is durable; raises SequenceTaken, Unavailable.

    The append of a cancelled caller continues.
    """
    outcome: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    store.append(table_id, entries, change, turn, partial(settle, outcome))
    await outcome


async def log_rows(store: TableStore, table_id: str) -> AsyncIterator[Row]:
    """Yield each row of a whole log, in steps that let other calls through; raises UnreadableLog.

    The table may be archived meanwhile.
    """
    sequence, is_last = 0, False
    while not is_last:
        part = await store.log_after(table_id, sequence, PAGE_ROWS)
        async for row in in_steps(rows_of(table_id, part), STEP_ROWS):
            if row[0] > sequence:
                sequence = row[0]
                yield row
        is_last = len(part.rows) < PAGE_ROWS
