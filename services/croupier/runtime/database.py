"""Databases through SQLAlchemy: SQLite for one machine, PostgreSQL for any number of replicas."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from types import MappingProxyType
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import AsyncAdaptedQueuePool

from croupier.runtime.database_drivers import COMMAND_SECONDS, connect_postgresql, connect_sqlite
from croupier.runtime.database_faults import is_passing
from croupier.runtime.errors import Unavailable
from croupier.runtime.program import SettingsError
from croupier_api.v1 import errors_pb2

BUSY_TIMEOUT_MILLISECONDS = 10_000
CHECKPOINT_PAGES = 10_000
"""Pages of the write-ahead log (40 MB) before they are copied home: a page that many commits touch is copied once."""

TRANSACTION_SECONDS = 15.0
"""More than a command may take, so that usually the command says what is wrong."""
POOL_SIZE = 10
CACHE_KIBIBYTES = 512
"""What each connection to SQLite keeps of it; the operating system keeps the rest, once for all of them."""
POOL_WAIT_SECONDS = 10.0
RETRY_SECONDS = 1.0
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
    `command_seconds`, and `pre_ping` asks a connection that was idle whether it is still one. Raises
    SettingsError for other URLs.
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
        connect_args={"async_creator_fn": connect_sqlite},
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
        raise SettingsError(f"invalid --database (CROUPIER_DATABASE): expected {URL_FORMS}") from None


def database_name(database: AsyncEngine) -> str:
    """The URL of a database for messages, without password or parameters, as it can be given again."""
    url = database.url.set(drivername=database.dialect.name, query={})
    return url.render_as_string(hide_password=True)


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
            errors_pb2.ERROR_REASON_STORE_UNAVAILABLE,
            "the database does not answer: try again",
            retry_after_seconds=RETRY_SECONDS,
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
