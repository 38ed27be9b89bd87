"""Connections of the database drivers, and all that croupier uses of the drivers' internals.

asyncpg and aiosqlite may change these with any release, so pyproject.toml bounds their versions from above. Before a
bound is raised, `tests/runtime/test_database_drivers.py` has to pass with the new version; it says what depends on it.
"""

import asyncio
import sqlite3
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import aiosqlite
import asyncpg
from sqlalchemy import URL

CONNECT_SECONDS = 5.0
COMMAND_SECONDS = 8.0
SERVER_SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "application_name": "croupier",
        "jit": "off",
        "statement_timeout": "10s",
        "lock_timeout": "5s",
        # A client that is cut off in the middle of a transaction does not keep its locks for long.
        "idle_in_transaction_session_timeout": "10s",
    }
)
"""What a session asks of PostgreSQL."""
ROWS_AT_A_TIME = 64
"""How many rows the SQLite driver fetches from its thread at once."""
THREAD_END_SECONDS = 1.0


class PostgresConnection(asyncpg.Connection):  # type: ignore[misc]  # The driver has no types.
    """A connection that is dropped when a commit is given up; the server is not asked to cancel it.

    That would end the commit's wait for its standby, and the next look would take for stored what is on one disk only.
    What goes on without us has the server's own limits.
    """

    def _cancel_current_command(self, *waiters: object) -> None:
        if self._top_xact is not None:
            # Within a transaction nothing is committed yet. And SQLAlchemy's look at an idle connection, which is one,
            # takes a connection that is gone for a reason to open another, and its caller's cancellation for done.
            super()._cancel_current_command(*waiters)
        else:
            # A moment later: the driver is about to tell the caller.
            asyncio.get_running_loop().call_soon(self.terminate)


async def connect_postgresql(url: URL, command_seconds: float | None = COMMAND_SECONDS) -> asyncpg.Connection:
    """A connection of the driver's own to a database that was opened; `url` is the engine's."""
    dsn = url.set(drivername="postgresql").render_as_string(hide_password=False)
    # The driver reads the URL as every program for PostgreSQL does: sslmode, lists of hosts, settings of the session.
    return await asyncpg.connect(
        dsn,
        timeout=CONNECT_SECONDS,
        command_timeout=command_seconds,
        server_settings=dict(SERVER_SETTINGS),
        connection_class=PostgresConnection,
    )


class SqliteConnection(aiosqlite.Connection):
    """A connection whose thread is stopped once, and does not keep the process from ending."""

    def __init__(self, connector: partial[sqlite3.Connection]) -> None:
        super().__init__(connector, ROWS_AT_A_TIME)
        self._is_stopped = False
        # SQLAlchemy does the same to connections that it makes itself.
        self._thread.daemon = True

    def stop(self) -> asyncio.Future[Any] | None:
        """Stop the thread; None if that was done.

        SQLAlchemy stops it a second time when a statement outlasts the wait for an orderly close, and the driver then
        waits for the answer of a thread that has ended: the event loop could not be closed.
        """
        if self._is_stopped:
            return None
        self._is_stopped = True
        return super().stop()

    async def connected(self) -> "SqliteConnection":
        """Connect; no thread is left if that fails."""
        try:
            await self
        except BaseException:
            # Refused or cancelled: the thread has yet to tell the event loop of its end, which is a matter of
            # microseconds, and nobody waits for that. A program that gives up here would close the loop under it.
            self._thread.join(THREAD_END_SECONDS)
            raise
        return self


async def connect_sqlite(*arguments: Any, **options: Any) -> SqliteConnection:
    """A connection of the driver's own; takes what `sqlite3.connect` takes."""
    return await SqliteConnection(partial(sqlite3.connect, *arguments, **options)).connected()
