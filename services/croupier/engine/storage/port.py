"""The store of logs: the port."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from croupier.engine.core.log import Entry, TableConfig


class SequenceTaken(Exception):
    """Another append was first, or the table was archived; nothing was stored."""


class StoredTable(NamedTuple):
    """A stored table: `status` is "prepared", "open" or "finished"."""

    status: str
    config: TableConfig
    entries: tuple[Entry, ...]


class TableChange(NamedTuple):
    """The changes of an append to the row of its table: the number of reports due, and whether the game is over."""

    reports_due: int
    finished: bool


class TableStore(Protocol):
    """The port. Every method is safe to repeat, and may be called by several engines at once.

    Times are milliseconds since 1970 UTC. Deadlines are those of the last entries. Methods that read configurations or
    entries raise UnreadableLog if those are malformed or of an unknown format.
    """

    async def prepare(self, config: TableConfig, at: int) -> TableConfig:
        """Store a prepared table, or return the one that has this id already."""

    async def open(self, config: TableConfig, entries: Sequence[Entry]) -> bool:
        """Open a prepared table with its first entries; return False if it is not prepared any more."""

    async def append(self, table_id: str, entries: Sequence[Entry], change: TableChange | None) -> None:
        """Store entries durably, all or none; raises SequenceTaken."""

    async def load(self, table_id: str) -> StoredTable | None:
        """Return a table with its whole log, None if there is none."""

    async def entries_after(self, table_id: str, sequence: int) -> tuple[Entry, ...]:
        """Return the entries after a sequence, in order."""

    async def entries_beyond(self, heads: Mapping[str, int]) -> dict[str, tuple[Entry, ...]]:
        """Return the entries after a sequence of each table, in order; omit tables without any."""

    async def claim_overdue(self, before: int, until: int, limit: int) -> list[str]:
        """Claim open tables whose deadlines passed before `before`, oldest first, until `until`."""

    async def statuses(self, table_ids: Sequence[str]) -> dict[str, str]:
        """Return the status of each table that exists."""

    async def open_counts(self) -> dict[str, int]:
        """Return the number of open tables of each game."""

    async def claim_unreported(self, now: int, until: int, limit: int) -> list[str]:
        """Claim tables whose reports were not delivered in time, until `until`."""

    async def reports_done(self, table_id: str) -> int:
        """Return the number of delivered reports of a table; 0 for an unknown one."""

    async def set_reports_done(self, table_id: str, count: int) -> None:
        """Record the number of delivered reports; it never decreases."""

    async def archive_finished(self, finished_before: int, limit: int) -> int:
        """Archive tables that ended before a moment and whose reports are all delivered; return their number."""

    async def delete_archived(self, finished_before: int, limit: int) -> int:
        """Delete archived tables that ended before a moment; return their number."""

    async def delete_prepared(self, prepared_before: int, limit: int) -> int:
        """Delete tables that were prepared before a moment and never opened; return their number."""
