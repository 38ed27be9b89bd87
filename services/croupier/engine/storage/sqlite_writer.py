"""Appends to SQLite, on their own thread."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from croupier.engine.storage.writer import Append, change_rows, lost_races
from croupier.runtime.database import Database, available, blocking_engine

# Text for the driver: SQLAlchemy needs as long for its part of a small transaction as SQLite for all of it.
_INSERT = "INSERT INTO entries (table_id, sequence, at, deadline, body) VALUES (?, ?, ?, ?, ?)"
_SCHEDULE = "INSERT INTO deadlines (table_id, at) VALUES (?, ?) ON CONFLICT (table_id) DO UPDATE SET at = excluded.at"
_CHANGE = """UPDATE tables SET status = ?2, reports_due = ?3, reports_at = ?4, finished_at = ?5,
    network = CASE WHEN ?5 IS NULL THEN network END WHERE table_id = ?1"""
_END = "DELETE FROM deadlines WHERE table_id = ?"


class SqliteWriter:
    """Stores appends in one transaction, as a single job of a thread.

    The asynchronous driver of SQLite sends each statement to its thread, and on a busy event loop each of these waits
    for the interpreter lock: a commit takes two to three times the CPU and the time.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._engine = blocking_engine(database.engine)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="entry-writer")
        self._connection: Any = None

    async def write(self, appends: Sequence[Append]) -> Sequence[int]:
        """Store all appends durably, or none; then return the indexes of those that lost a race."""
        with available(self._database.engine):
            async with self._database.turn():
                return await asyncio.get_running_loop().run_in_executor(self._thread, self._transaction, appends)

    def _transaction(self, appends: Sequence[Append]) -> Sequence[int]:
        if self._connection is None:
            pooled = self._engine.raw_connection()
            self._connection = pooled.driver_connection
            # It leaves the pool, and stays open.
            pooled.detach()
        try:
            # It commits, or rolls back after an exception.
            with self._connection as connection:
                execute_append(connection.executemany, appends)
        except sqlite3.IntegrityError as conflict:
            with self._engine.connect() as reading:
                return lost_races(reading, appends, conflict)
        except sqlite3.Error:
            self._disconnect()
            raise
        return ()

    async def close(self) -> None:
        """Close the connections and end the thread."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        self._thread.shutdown()

    def _close(self) -> None:
        self._disconnect()
        self._engine.dispose()

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None


def execute_append(
    execute_many: Callable[[str, Sequence[tuple[object, ...]]], object], appends: Sequence[Append]
) -> None:
    """Execute the statements of an append within a transaction."""
    execute_many(_INSERT, [row for append in appends for row in append.rows])
    if deadlines := [(append.table_id, append.deadline) for append in appends if not append.ends_game]:
        execute_many(_SCHEDULE, deadlines)
    if changes := change_rows(appends):
        execute_many(_CHANGE, changes)
    if ended := [(append.table_id,) for append in appends if append.ends_game]:
        execute_many(_END, ended)
