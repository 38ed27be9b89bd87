"""Appends to SQLite, and the deadlines in memory."""

import asyncio
import sqlite3
from collections.abc import Sequence
from functools import partial

from sqlalchemy import Connection, select

from croupier.engine.core.log import TableConfig
from croupier.engine.storage.schema import ENTRIES, IS_LAST_ENTRY, TABLES
from croupier.engine.storage.writer import Append, EntryWriter, change_rows, lost_races, open_table
from croupier.runtime.database.database import Database
from croupier.runtime.database.faults import is_transient
from croupier.runtime.database.sqlite_threads import SqliteThreads, execute_alone
from croupier.runtime.outcomes import Callback, call_back

# Text for the driver: SQLAlchemy needs as long for its part of a small transaction as SQLite for all of it.
_INSERT = "INSERT INTO entries (table_id, sequence, at, deadline, body, to_act, away) VALUES (?, ?, ?, ?, ?, ?, ?)"
_CHANGE = """UPDATE tables SET status = ?2, reports_due = ?3, reports_at = ?4, finished_at = ?5,
    network = CASE WHEN ?5 IS NULL THEN network END WHERE table_id = ?1"""
_DEADLINES = (
    select(TABLES.c.table_id, ENTRIES.c.deadline)
    .join_from(TABLES, ENTRIES, IS_LAST_ENTRY)
    .where(TABLES.c.status == "open")
)


class SqliteWriter(EntryWriter):
    """Stores appends in one transaction, in the thread that writes.

    It has to be the only one of its database, since it alone knows the deadlines.
    """

    def __init__(self, database: Database, threads: SqliteThreads) -> None:
        """`threads` are those of the database."""
        self._database = database
        self._threads = threads
        self._deadlines: dict[str, int] | None = None
        """When each open table may be claimed, as the rows of deadlines have it; None until they are read.

        Only the thread that writes uses the dict, so it changes in the order of the transactions. Failed ones may have
        changed it too, and others may be stored without an answer: after both it is read again.
        """
        self._finding_losers: asyncio.Task[Sequence[int]] | None = None
        """The task that looks for lost races, which nothing else refers to."""

    async def open(self, append: Append, config: TableConfig) -> bool:
        try:
            return await self._database.write(self._open, append, config)
        except BaseException:
            self._deadlines = None
            raise

    def write(self, appends: Sequence[Append], done: Callback[Sequence[int]]) -> None:
        self._threads.start_write(partial(self._append, appends), partial(self._appended, appends, done))

    def _appended(
        self, appends: Sequence[Append], done: Callback[Sequence[int]], outcome: Sequence[int] | Exception
    ) -> None:
        if not isinstance(outcome, Exception):
            self._database.answered()
        elif isinstance(outcome, sqlite3.IntegrityError):
            self._finding_losers = call_back(self._database.write(lost_races, appends, outcome), done)
            return
        else:
            self._deadlines = None
            if is_transient(outcome):
                outcome = self._database.unavailable(outcome)
        done(outcome)

    async def claim_overdue(self, before: int, until: int, limit: int) -> list[str]:
        return await self._database.write(self._claim, before, until, limit)

    async def postpone(self, table_ids: Sequence[str], until: int) -> None:
        await self._database.write(self._postpone, table_ids, until)

    def close(self) -> None:
        """Do nothing: it has no connection of its own."""

    def _open(self, connection: Connection, append: Append, config: TableConfig) -> bool:
        if is_opened := open_table(connection, append, config):
            self._schedule([append])
        return is_opened

    def _append(self, appends: Sequence[Append], driver: sqlite3.Connection) -> Sequence[int]:
        if is_one_row(appends):
            execute_alone(driver, _INSERT, appends[0].rows[0])
        else:
            execute_append(driver, appends)
        self._schedule(appends)
        return ()

    def _schedule(self, appends: Sequence[Append]) -> None:
        if (deadlines := self._deadlines) is None:
            return
        for append in appends:
            if append.ends_game:
                deadlines.pop(append.table_id, None)
            else:
                deadlines[append.table_id] = append.deadline

    def _claim(self, connection: Connection, before: int, until: int, limit: int) -> list[str]:
        if (deadlines := self._deadlines) is None:
            deadlines = self._deadlines = {row.table_id: row.deadline for row in connection.execute(_DEADLINES)}
        overdue = sorted([(at, table_id) for table_id, at in deadlines.items() if at < before])
        claimed = [table_id for _, table_id in overdue[:limit]]
        deadlines.update(dict.fromkeys(claimed, until))
        return claimed

    def _postpone(self, _connection: Connection, table_ids: Sequence[str], until: int) -> None:
        if (deadlines := self._deadlines) is not None:
            deadlines.update((table_id, until) for table_id in table_ids if deadlines.get(table_id, until) < until)


def is_one_row(appends: Sequence[Append]) -> bool:
    """Return whether these appends are one entry and change no table, as most moves at human pace."""
    return len(appends) == 1 and len(appends[0].rows) == 1 and appends[0].change is None


def execute_append(driver: sqlite3.Connection, appends: Sequence[Append]) -> None:
    """Execute the statements of an append within a transaction."""
    driver.executemany(_INSERT, [row for append in appends for row in append.rows])
    if changes := change_rows(appends):
        driver.executemany(_CHANGE, changes)
