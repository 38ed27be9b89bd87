"""Databases through SQLAlchemy: SQLite for one machine, PostgreSQL for any number of replicas."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from types import MappingProxyType
from typing import Any

import aiosqlite
import asyncpg
from sqlalchemy import URL, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import AsyncAdaptedQueuePool

from croupier.runtime.database_faults import is_passing
from croupier.runtime.errors import Unavailable

BUSY_TIMEOUT_MILLISECONDS = 10_000
CHECKPOINT_PAGES = 10_000
"""Pages of the write-ahead log (40 MB) before they are copied home: a page that many commits touch is copied once."""

LAST_WORD_SECONDS = 1.0

CONNECT_SECONDS = 5.0
COMMAND_SECONDS = 8.0
TRANSACTION_SECONDS = 15.0
"""More than a command may take, so that usually the command says what is wrong."""
POOL_SIZE = 10
ROWS_AT_A_TIME = 64
"""How many rows the SQLite driver fetches from its thread at once."""
CACHE_KIBIBYTES = 512
"""What each connection to SQLite keeps of it; the operating system keeps the rest, once for all of them."""
POOL_WAIT_SECONDS = 10.0
RETRY_SECONDS = 1.0
SERVER_SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "application_name": "croupier",
        "jit": "off",
        "statement_timeout": "10s",
        "lock_timeout": "5s",
        # Whoever is cut off in the middle of a transaction does not keep its locks for long.
        "idle_in_transaction_session_timeout": "10s",
    }
)
"""What a session asks of PostgreSQL."""

_DRIVERS: Mapping[str, str] = MappingProxyType(
    {
        "sqlite": "sqlite+aiosqlite",
        "sqlite+aiosqlite": "sqlite+aiosqlite",
        "postgresql": "postgresql+asyncpg",
        "postgresql+asyncpg": "postgresql+asyncpg",
    }
)
URL_FORMS = "sqlite:////absolute/path.db or postgresql://user:password@host:port/database"


def open_database(
    url: str, pool_size: int = POOL_SIZE, command_seconds: float | None = COMMAND_SECONDS, pre_ping: bool = True
) -> AsyncEngine:
    """Open a database by its URL, such as sqlite:////data/x.db or postgresql://user:password@host:port/name.

    Nothing is connected yet. There are at most `pool_size` connections at a time. A PostgreSQL answers a command within
    `command_seconds`, and `pre_ping` asks a connection that was idle whether it is still one. Raises ValueError for
    other URLs.
    """
    known = _known_url(url)
    # The text of a failure would otherwise quote what was to be stored: cards, seeds, tokens.
    if known.get_backend_name() == "postgresql":
        return create_async_engine(
            known,
            hide_parameters=True,
            async_creator=partial(connect_postgresql, known, command_seconds),
            pool_size=pool_size,
            max_overflow=0,
            pool_timeout=POOL_WAIT_SECONDS,
            pool_pre_ping=pre_ping,
        )
    engine = create_async_engine(
        known,
        hide_parameters=True,
        connect_args={"async_creator_fn": _connect},
        # Named since a database in memory, which lacks its tables and is told so later, would get one without limits.
        poolclass=AsyncAdaptedQueuePool,
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=POOL_WAIT_SECONDS,
        # The connection that was used last has the warmest cache; a second one is for when it is busy.
        pool_use_lifo=True,
    )
    event.listen(engine.sync_engine, "connect", _set_pragmas)
    return engine


def _known_url(text_of_url: str) -> URL:
    try:
        url = make_url(text_of_url)
        return url.set(drivername=_DRIVERS[url.drivername])
    except (ArgumentError, ValueError, KeyError):
        # Neither quoted nor chained: it may hold a password.
        raise ValueError(f"--database is not the URL of a database that can be used: {URL_FORMS} is expected") from None


def database_name(database: AsyncEngine) -> str:
    """The URL of a database for messages, without password or parameters, as it can be given again."""
    url = database.url.set(drivername=database.dialect.name, query={})
    return url.render_as_string(hide_password=True)


class _Connection(asyncpg.Connection):  # type: ignore[misc]  # The driver has no types.
    """Whoever gives a commit up drops its connection, and does not ask the server to cancel.

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
            self._loop.call_soon(self.terminate)


async def connect_postgresql(url: URL, command_seconds: float | None = COMMAND_SECONDS) -> asyncpg.Connection:
    """A connection of the driver's own to a database that was opened; `url` is the engine's."""
    dsn = url.set(drivername="postgresql").render_as_string(hide_password=False)
    # The driver reads the URL as every program for PostgreSQL does: sslmode, lists of hosts, settings of the session.
    return await asyncpg.connect(
        dsn,
        timeout=CONNECT_SECONDS,
        command_timeout=command_seconds,
        server_settings=dict(SERVER_SETTINGS),
        connection_class=_Connection,
    )


class _SqliteConnection(aiosqlite.Connection):
    """A connection whose thread is stopped once.

    SQLAlchemy stops it a second time when a statement outlasts the wait for an orderly close, and the driver then waits
    for the answer of a thread that has ended: the event loop could not be closed.
    """

    def stop(self) -> asyncio.Future[Any] | None:
        return super().stop() if self._running else None


async def _connect(*arguments: Any, **options: Any) -> aiosqlite.Connection:
    connection = _SqliteConnection(partial(sqlite3.connect, *arguments, **options), ROWS_AT_A_TIME)
    thread = connection._thread
    # As SQLAlchemy has it: a connection that is still open does not keep the process from ending.
    thread.daemon = True
    try:
        return await connection
    except BaseException:
        # Refused or cancelled: the thread has yet to tell the event loop of its end, which is a matter of microseconds,
        # and nobody waits for that. A program that gives up here would close the loop under it.
        thread.join(LAST_WORD_SECONDS)
        raise


def blocking_twin(engine: AsyncEngine) -> Engine:
    """The same SQLite database through the driver of the standard library, for use on one thread."""
    twin = create_engine(engine.url.set(drivername="sqlite"), hide_parameters=True)
    event.listen(twin, "connect", _set_pragmas)
    return twin


def _set_pragmas(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    # WAL lets readers go on while a commit is under way; FULL makes a commit survive a loss of power.
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        f"busy_timeout={BUSY_TIMEOUT_MILLISECONDS}",
        f"wal_autocheckpoint={CHECKPOINT_PAGES}",
        f"cache_size=-{CACHE_KIBIBYTES}",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


@asynccontextmanager
async def transaction(database: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """A transaction: committed at the end of the block, rolled back by any exception.

    Raises Unavailable while the database cannot be used; whether a commit that was under way then holds is not known.
    """
    # SQLite's own limit is the time that it waits for a lock.
    limit = TRANSACTION_SECONDS if database.dialect.name == "postgresql" else None
    try:
        async with asyncio.timeout(limit), database.begin() as connection:
            yield connection
    except Exception as fault:
        if not is_passing(fault):
            raise
        raise Unavailable(
            "DATABASE_UNAVAILABLE", "the database cannot be reached now: try again", retry_after_seconds=RETRY_SECONDS
        ) from fault


async def is_reachable(engine: AsyncEngine, timeout_seconds: float = 2.0) -> bool:
    """Whether the database answers in time."""

    async def ask() -> None:
        async with engine.connect() as connection:
            await connection.execute(text("SELECT 1"))

    return await _succeeds(ask, timeout_seconds)


async def _succeeds(ask: Callable[[], Awaitable[None]], timeout_seconds: float) -> bool:
    try:
        # Not wait_for: in Python 3.11 that can swallow a cancellation.
        async with asyncio.timeout(timeout_seconds):
            await ask()
    except Exception:  # noqa: BLE001 - whatever is wrong, it cannot be used now
        return False
    return True
