"""Where logs are kept: the port."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from croupier.engine.core.log import Entry, TableConfig


class SequenceTaken(Exception):
    """Somebody else appended this sequence first, or the table has gone to the archive; nothing was stored."""


class StoredTable(NamedTuple):
    """A table as the store has it: `status` is "prepared", "open" or "finished"."""

    status: str
    config: TableConfig
    entries: tuple[Entry, ...]


class TableMark(NamedTuple):
    """What an append changes about its table: how many reports are due, and whether the game is over."""

    reports_due: int
    finished: bool


class TableStore(Protocol):
    """The port. Every method is safe to repeat, and may be called by several engines at once.

    Times are milliseconds since 1970 UTC. Deadlines are those of the last entries. What reads configurations or entries
    raises UnreadableLog if they are malformed or of an unknown format.
    """

    async def prepare(self, config: TableConfig, at: int) -> TableConfig:
        """Keep a prepared table, or give the one that has this id already."""

    async def open(self, config: TableConfig, entries: Sequence[Entry]) -> bool:
        """Open a prepared table with its first entries; False if it was not prepared any more."""

    async def append(self, table_id: str, entries: Sequence[Entry], mark: TableMark | None) -> None:
        """Store entries durably, all or none; raises SequenceTaken."""

    async def load(self, table_id: str) -> StoredTable | None:
        """A table with its whole log, None if there is none."""

    async def entries_after(self, table_id: str, sequence: int) -> tuple[Entry, ...]:
        """The entries beyond a sequence, in order."""

    async def entries_beyond(self, heads: Mapping[str, int]) -> dict[str, tuple[Entry, ...]]:
        """The entries beyond a sequence of each table, in order; tables without any are left out."""

    async def claim_overdue(self, before: int, until: int, limit: int) -> list[str]:
        """Open tables whose deadlines passed before `before`, oldest first; others do not get them until `until`."""

    async def statuses(self, table_ids: Sequence[str]) -> dict[str, str]:
        """The status of each table that exists."""

    async def open_counts(self) -> dict[str, int]:
        """How many tables of each game are open."""

    async def claim_unreported(self, now: int, until: int, limit: int) -> list[str]:
        """Tables of which reports are due since long enough; other engines do not get them until `until`."""

    async def reports_done(self, table_id: str) -> int:
        """How many reports of a table were handed over."""

    async def set_reports_done(self, table_id: str, count: int) -> None:
        """Note how many reports were handed over."""

    async def compact(self, finished_before: int, limit: int) -> int:
        """Archive tables that ended before a moment and have handed over all reports; gives how many."""

    async def forget(self, finished_before: int, limit: int) -> int:
        """Remove archived tables that ended before a moment; gives how many."""

    async def forget_prepared(self, prepared_before: int, limit: int) -> int:
        """Remove tables that were prepared before a moment and never opened; gives how many."""
