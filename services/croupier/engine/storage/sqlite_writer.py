"""Appends to SQLite."""

import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection

from croupier.engine.storage.writer import (
    Append,
    EntryWriter,
    Written,
    change_rows,
    deadline_rows,
    lost_races,
)
from croupier.runtime.database.database import TRANSACTION_SECONDS, Database
from croupier.runtime.database.faults import is_transient
from croupier.runtime.database.sqlite_threads import Ended, SqliteThreads

# Text for the driver: SQLAlchemy needs as long for its part of a small transaction as SQLite for all of it.
_INSERT = "INSERT INTO entries (table_id, sequence, at, deadline, body) VALUES (?, ?, ?, ?, ?)"
_SCHEDULE = """INSERT INTO deadlines (table_id, at, to_act, away) VALUES (?, ?, ?, ?)
    ON CONFLICT (table_id) DO UPDATE SET at = excluded.at, to_act = excluded.to_act, away = excluded.away"""
_CHANGE = """UPDATE tables SET status = ?2, reports_due = ?3, reports_at = ?4, finished_at = ?5,
    network = CASE WHEN ?5 IS NULL THEN network END WHERE table_id = ?1"""
_END = "DELETE FROM deadlines WHERE table_id = ?"


class SqliteWriter(EntryWriter):
    """Stores appends in one transaction, in the thread that writes."""

    def __init__(self, database: Database, threads: SqliteThreads) -> None:
        """`threads` are those of the database."""
        self._database = database
        self._threads = threads

    def write(self, appends: Sequence[Append], written: Written) -> None:
        def ended(_: None, fault: Exception | None) -> None:
            if isinstance(fault, sqlite3.IntegrityError):
                self._start(lost_races, appends, fault, ended=partial(self._report, written))
            else:
                self._report(written, (), fault)

        self._start(execute_append, appends, ended=ended)

    def _start(self, work: Callable[..., object], *arguments: object, ended: Ended) -> None:
        self._threads.start_write(lambda connection: work(connection, *arguments), ended, TRANSACTION_SECONDS)

    def _report(self, written: Written, losers: Sequence[int], fault: Exception | None) -> None:
        if fault is None:
            self._database.answered()
            written(losers)
        else:
            written(self._database.unavailable(fault) if is_transient(fault) else fault)

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
