"""Appends to SQLite."""

import asyncio
import sqlite3
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection

from croupier.engine.storage.writer import (
    Append,
    EntryWriter,
    Written,
    change_rows,
    deadline_rows,
    lost_races,
    write_in_task,
)
from croupier.runtime.database.database import Database

# Text for the driver: SQLAlchemy needs as long for its part of a small transaction as SQLite for all of it.
_INSERT = "INSERT INTO entries (table_id, sequence, at, deadline, body) VALUES (?, ?, ?, ?, ?)"
_SCHEDULE = """INSERT INTO deadlines (table_id, at, to_act, away) VALUES (?, ?, ?, ?)
    ON CONFLICT (table_id) DO UPDATE SET at = excluded.at, to_act = excluded.to_act, away = excluded.away"""
_CHANGE = """UPDATE tables SET status = ?2, reports_due = ?3, reports_at = ?4, finished_at = ?5,
    network = CASE WHEN ?5 IS NULL THEN network END WHERE table_id = ?1"""
_END = "DELETE FROM deadlines WHERE table_id = ?"


class SqliteWriter(EntryWriter):
    """Stores appends in one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._writing: asyncio.Task[Sequence[int]] | None = None

    def write(self, appends: Sequence[Append], written: Written) -> None:
        self._writing = write_in_task(self._write(appends), written)

    async def _write(self, appends: Sequence[Append]) -> Sequence[int]:
        try:
            await self._database.write(execute_append, appends)
        except sqlite3.IntegrityError as conflict:
            return await self._database.read(lost_races, appends, conflict)
        return ()

    def close(self) -> None:
        """Do nothing: it has no connection of its own."""


def execute_append(connection: Connection, appends: Sequence[Append]) -> None:
    """Execute the statements of an append within a transaction; raises what the driver raises."""
    driver: Any = connection.connection.driver_connection
    driver.executemany(_INSERT, [row for append in appends for row in append.rows])
    if deadlines := deadline_rows(appends):
        driver.executemany(_SCHEDULE, deadlines)
    if changes := change_rows(appends):
        driver.executemany(_CHANGE, changes)
    if ended := [(append.table_id,) for append in appends if append.ends_game]:
        driver.executemany(_END, ended)
