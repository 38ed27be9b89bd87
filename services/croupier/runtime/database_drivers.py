"""Connections of the database drivers: the only code that uses the drivers' internals.

asyncpg and aiosqlite may change these with any release, so pyproject.toml bounds their versions from above. Before a
bound is raised, `tests/runtime/test_database_drivers.py` has to pass with the new version.
"""

import asyncio
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import aiosqlite
import asyncpg
from asyncpg.connect_utils import SessionAttribute
from sqlalchemy import URL

from croupier.runtime.permissions import open_private

Result = TypeVar("Result")
CONNECT_SECONDS = 5.0
COMMAND_SECONDS = 8.0
SERVER_SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "application_name": "croupier",
        "jit": "off",
        "statement_timeout": "10s",
        "lock_timeout": "5s",
        # A client that loses its connection within a transaction does not keep its locks for long.
        "idle_in_transaction_session_timeout": "10s",
    }
)
"""Settings of each session of PostgreSQL."""
THREAD_END_SECONDS = 1.0


class PostgresConnection(asyncpg.Connection):  # type: ignore[misc]  # The driver has no types.
    """A connection that is terminated, instead of its command cancelled, after a timeout outside of a transaction.

    To cancel a commit would end its wait for the standby: the next query would see a row that only one disk has. The
    command goes on at the server, within the limits of SERVER_SETTINGS.
    """

    def _cancel_current_command(self, *waiters: object) -> None:
        if self._top_xact is not None:
            # Nothing is committed yet. SQLAlchemy's pre-ping is a transaction too: after a termination it would open
            # another connection, and ignore the cancellation of its caller.
            super()._cancel_current_command(*waiters)
        else:
            # Later in the loop, because the driver has yet to raise the error to the caller.
            asyncio.get_running_loop().call_soon(self.terminate)


async def connect_postgresql(
    url: URL, command_seconds: float | None = COMMAND_SECONDS, settings: Mapping[str, str] = SERVER_SETTINGS
) -> asyncpg.Connection:
    """Connect with the driver itself, without a pool, to a server that accepts writes; `url` is that of the engine.

    Of several hosts it is the first such one. Raises TargetServerAttributeNotMatched if all are read-only.
    """
    # Of a repeated parameter the driver takes the last value.
    query = {name: value if isinstance(value, str) else ",".join(value) for name, value in url.query.items()}
    dsn = url.set(drivername="postgresql", query=query).render_as_string(hide_password=False)
    # The driver parses sslmode, several hosts and session settings in the URL, as libpq does.
    return await asyncpg.connect(
        dsn,
        timeout=CONNECT_SECONDS,
        command_timeout=command_seconds,
        server_settings={**SERVER_SETTINGS, **settings},
        connection_class=PostgresConnection,
        target_session_attrs=SessionAttribute.read_write,
    )


def is_read_only(connection: asyncpg.Connection) -> bool:
    """Return whether a session's server reported with its last answer that new transactions cannot write.

    PostgreSQL reports it unasked. A failover may leave sessions open at a primary that was demoted.
    """
    settings = connection.get_settings()
    return "on" in (
        getattr(settings, "default_transaction_read_only", None),
        getattr(settings, "in_hot_standby", None),
    )


class ConstraintViolated(Exception):
    """A statement violates a constraint and changed nothing."""


class PreparedStatement:
    """A statement of PostgreSQL, prepared on a connection of its own, which is opened again after a failure."""

    def __init__(self, url: URL, statement: str, command_seconds: float) -> None:
        self._url = url
        self._text = statement
        self._command_seconds = command_seconds
        self._connection: asyncpg.Connection | None = None
        self._prepared: Any = None

    async def execute(self, *values: object) -> None:
        """Execute the statement in a transaction of its own; raises ConstraintViolated, or what the driver raises."""
        try:
            if self._connection is None:
                self._connection = await connect_postgresql(self._url, self._command_seconds)
                self._prepared = await self._connection.prepare(self._text)
            await self._prepared.fetch(*values)
        except asyncpg.IntegrityConstraintViolationError as violation:
            raise ConstraintViolated(violation.constraint_name) from None
        except BaseException as fault:
            self.close()
            if isinstance(fault, asyncpg.PostgresError):
                # It may quote a row.
                fault.detail = None
            raise

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None:
            self._connection.terminate()
        self._connection = None


class SqliteCursor:
    """A cursor that executes a statement and fetches its rows in one step of the connection's thread.

    A step costs more than most statements; the driver's own cursor takes four.
    """

    def __init__(self, connection: "SqliteConnection") -> None:
        self._connection = connection
        self._rows: list[Any] = []
        self.description: Any = None
        self.rowcount = -1
        self.lastrowid: int | None = None
        self.arraysize = 1

    async def __aenter__(self) -> "SqliteCursor":
        return self

    async def execute(self, statement: str, parameters: Sequence[Any] = ()) -> None:
        """Execute a statement."""
        await self._run(sqlite3.Cursor.execute, statement, parameters)

    async def executemany(self, statement: str, parameters: Iterable[Sequence[Any]]) -> None:
        """Execute a statement for each row of parameters."""
        await self._run(sqlite3.Cursor.executemany, statement, parameters)

    async def fetchall(self) -> list[Any]:
        """Return all rows."""
        return self._rows

    async def close(self) -> None:
        """Do nothing: the cursor of SQLite is closed."""

    async def _run(self, execute: Callable[..., Any], *arguments: Any) -> None:
        self._rows, self.description, self.rowcount, self.lastrowid = await self._connection.run(
            partial(_fetched, execute, *arguments)
        )


class SqliteConnection(aiosqlite.Connection):
    """A connection whose thread is stopped once, does not keep the process from ending, and runs no idle steps."""

    def __init__(self, connector: partial[sqlite3.Connection]) -> None:
        # The number of rows of a step concerns cursors that this connection does not have.
        super().__init__(connector, iter_chunk_size=1)
        self._is_stopped = False
        self._is_interrupted = False
        # SQLAlchemy does the same to connections that it makes itself.
        self._thread.daemon = True

    # aiosqlite takes a step to make one.
    def cursor(self) -> SqliteCursor:  # type: ignore[override]
        """Return a cursor."""
        return SqliteCursor(self)

    async def run(self, function: Callable[[sqlite3.Connection], Result]) -> Result:
        """Return what a function returns that the thread calls with the connection of SQLite."""
        try:
            result: Result = await self._execute(function, self._conn)  # type: ignore[no-untyped-call]
        except asyncio.CancelledError:
            self._is_interrupted = True
            raise
        return result

    async def commit(self) -> None:
        """Commit the transaction, if there is one."""
        if self._has_transaction():
            await super().commit()

    async def rollback(self) -> None:
        """Roll back the transaction, if there is one."""
        if self._has_transaction():
            await super().rollback()
            self._is_interrupted = False

    def _has_transaction(self) -> bool:
        # The thread may still begin one for a statement whose caller was cancelled.
        return self._is_interrupted or self.in_transaction

    def stop(self) -> asyncio.Future[Any] | None:
        """Stop the thread; returns None if it was stopped before.

        SQLAlchemy stops it a second time when a statement outlasts its timeout for closing. The driver would then wait
        for ever for a thread that has ended.
        """
        if self._is_stopped:
            return None
        self._is_stopped = True
        return super().stop()

    async def connected(self) -> "SqliteConnection":
        """Connect; a failure leaves no thread behind."""
        try:
            await self
        except BaseException:
            # Within microseconds the thread reports its end to the event loop, which the caller may close.
            self._thread.join(THREAD_END_SECONDS)
            raise
        return self


async def connect_sqlite(file: str | Path, **options: Any) -> SqliteConnection:
    """Connect with the driver itself, with the arguments of `sqlite3.connect`; a new file is its owner's only."""
    return await SqliteConnection(partial(_connect_sqlite, file, **options)).connected()


def _fetched(
    execute: Callable[..., Any], statement: str, parameters: Any, connection: sqlite3.Connection
) -> tuple[list[Any], Any, int, int | None]:
    with closing(connection.cursor()) as cursor:
        execute(cursor, statement, parameters)
        rows = cursor.fetchall() if cursor.description else []
        # Only now: a statement that returns rows counts them as they are fetched.
        return rows, cursor.description, cursor.rowcount, cursor.lastrowid


def _connect_sqlite(file: str | Path, **options: Any) -> sqlite3.Connection:
    # SQLite gives a new file the mode 0644, and its write-ahead log the mode of the file. An existing file must not be
    # closed here: that would release the locks of all connections of this process. Only ":memory:" is not absolute.
    if Path(file).is_absolute():
        with suppress(OSError):
            open_private(Path(file), os.O_EXCL).close()
    connection: sqlite3.Connection = sqlite3.connect(file, **options)
    return connection
