"""Databases through SQLAlchemy: SQLite for one machine, PostgreSQL for any number of replicas."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from sqlalchemy import URL, Engine, ExceptionContext, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, InvalidatePoolError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import AsyncAdaptedQueuePool

from croupier.runtime.database_drivers import COMMAND_SECONDS, connect_postgresql, connect_sqlite, is_read_only
from croupier.runtime.database_faults import describe, ends_session, is_transient
from croupier.runtime.errors import Unavailable
from croupier.runtime.outage_log import OutageLog
from croupier.runtime.permissions import check_secret
from croupier.runtime.program import SettingsError
from croupier_api.v1 import errors_pb2

BUSY_TIMEOUT_MILLISECONDS = 10_000
CHECKPOINT_PAGES = 10_000
"""Pages of the write-ahead log (40 MB) before a checkpoint, which copies a page of many commits once."""

TRANSACTION_SECONDS = 15.0
"""More than the limit of a command, so that usually the command raises the error."""
POOL_SIZE = 10
CACHE_KIBIBYTES = 512
"""The page cache of each connection to SQLite; the operating system caches the file once for all."""
POOL_WAIT_SECONDS = 10.0
RETRY_SECONDS = 1.0
POSTGRESQL_PORT = 5432
_OUTAGES = "croupier_outages"
"""The option of an engine with the log of its outages."""
_DRIVERS: Mapping[str, str] = MappingProxyType(
    {
        "sqlite": "sqlite+aiosqlite",
        "sqlite+aiosqlite": "sqlite+aiosqlite",
        "postgres": "postgresql+asyncpg",
        "postgresql": "postgresql+asyncpg",
        "postgresql+asyncpg": "postgresql+asyncpg",
    }
)
URL_FORMS = (
    "sqlite:////absolute/path.db or postgresql://user:password@host:port/database,"
    " with special characters percent-encoded (@ as %40)"
)


def open_database(
    url: str,
    pool_size: int = POOL_SIZE,
    command_seconds: float | None = COMMAND_SECONDS,
    outages: OutageLog | None = None,
) -> AsyncEngine:
    """Open a database by its URL, such as sqlite:////data/x.db or postgresql://user:password@host:port/name.

    No connection is made yet. At most `pool_size` are open at a time. A command to PostgreSQL fails after
    `command_seconds`. `outages` logs when the database cannot be used. Raises SettingsError for other URLs.
    """
    known = _parsed_url(url)
    # Errors must not quote parameters: cards, seeds, tokens.
    options: dict[str, Any] = {
        "hide_parameters": True,
        "pool_size": pool_size,
        "max_overflow": 0,
        "pool_timeout": POOL_WAIT_SECONDS,
        "execution_options": {_OUTAGES: outages},
    }
    if known.get_backend_name() == "postgresql":
        creator = partial(connect_postgresql, known, command_seconds)
        engine = create_async_engine(known, **options, async_creator=creator, pool_pre_ping=True)
        event.listen(engine.sync_engine, "checkout", _refuse_read_only)
    else:
        engine = create_async_engine(
            known,
            **options,
            connect_args={"async_creator_fn": connect_sqlite},
            # A database in memory would get another pool by default, without limits; it is refused later.
            poolclass=AsyncAdaptedQueuePool,
            # The connection that was used last has the warmest cache.
            pool_use_lifo=True,
        )
        event.listen(engine.sync_engine, "connect", _set_pragmas)
    event.listen(engine.sync_engine, "handle_error", _discard_connections)
    return engine


def _refuse_read_only(connection: Any, _record: object, _pooled: object) -> None:
    """Discard all connections of the pool, and let it connect again, if the test of one found it read-only."""
    if is_read_only(connection.driver_connection):
        raise InvalidatePoolError


def _discard_connections(context: ExceptionContext) -> None:
    """Discard all connections of the pool after an error that belongs to the session or its server."""
    if ends_session(context.original_exception):
        context.is_disconnect = True


def sqlite_url(file: Path) -> str:
    """Return the URL of a file of SQLite, whose path may have any characters."""
    return URL.create("sqlite", database=str(file)).render_as_string()


def _parsed_url(text_of_url: str) -> URL:
    try:
        url = make_url(_with_hosts_in_query(text_of_url))
        if "@" in (url.host or ""):
            # The rest of a password: messages would show it as the host.
            raise ValueError
        url = url.set(drivername=_DRIVERS[url.drivername])
        # It checks several hosts and ports.
        url.get_dialect()().create_connect_args(url)
        return url
    except (ArgumentError, ValueError, KeyError):
        # The URL is neither quoted nor chained: it may have a password.
        raise SettingsError(f"invalid --database (CROUPIER_DATABASE): expected {URL_FORMS}") from None


def _with_hosts_in_query(url: str) -> str:
    """Return the URL with several hosts as parameters, where both SQLAlchemy and the driver accept them."""
    parts = urlsplit(url)
    user, _, several = parts.netloc.rpartition("@")
    if "," not in several:
        return url
    hosts = [urlsplit(f"//{host}") for host in several.split(",")]
    names = ",".join(f"[{host.hostname}]" if ":" in (host.hostname or "") else host.hostname or "" for host in hosts)
    ports = ",".join(str(host.port or POSTGRESQL_PORT) for host in hosts)
    query = urlencode([*parse_qsl(parts.query), ("host", names), ("port", ports)])
    return urlunsplit(parts._replace(netloc=f"{user}@", query=query))


def check_permissions(database: AsyncEngine) -> None:
    """Raise SettingsError for a file of SQLite that others may read or write."""
    if database.dialect.name == "sqlite" and database.url.database:
        check_secret(Path(database.url.database))


def database_name(database: AsyncEngine) -> str:
    """Return the URL of a database for messages, without password, and without parameters but several hosts."""
    hosts = {name: value for name, value in database.url.query.items() if name in ("host", "port")}
    url = database.url.set(drivername=database.dialect.name, query=hosts)
    return url.render_as_string(hide_password=True)


def blocking_engine(engine: AsyncEngine) -> Engine:
    """Return an engine for the same SQLite database with the blocking driver, for use on one thread."""
    blocking = create_engine(engine.url.set(drivername="sqlite"), hide_parameters=True)
    event.listen(blocking, "connect", _set_pragmas)
    return blocking


def _set_pragmas(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    # WAL lets readers continue during a commit; with FULL a commit survives a loss of power.
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


@contextmanager
def available(database: AsyncEngine) -> Iterator[None]:
    """Raise Unavailable for an error by which the database cannot be used just now, which its log of outages gets."""
    outages: OutageLog | None = database.get_execution_options().get(_OUTAGES)
    try:
        yield
    except Exception as fault:
        if not is_transient(fault):
            raise
        if outages is not None:
            outages.failed(describe(fault))
        raise Unavailable(
            errors_pb2.ERROR_REASON_STORE_UNAVAILABLE,
            "the database does not answer: try again",
            retry_after_seconds=RETRY_SECONDS,
        ) from fault
    if outages is not None:
        outages.succeeded()


@asynccontextmanager
async def transaction(database: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """Open a transaction, which is committed at the end of the block and rolled back by any exception.

    Raises Unavailable while the database cannot be used; a commit that was running then may have succeeded.
    """
    # SQLite has the limit of its busy timeout.
    limit = TRANSACTION_SECONDS if database.dialect.name == "postgresql" else None
    with available(database):
        async with asyncio.timeout(limit), database.begin() as connection:
            yield connection


class Database:
    """The transactions of one process on its database; those that write take turns on SQLite, which has one writer.

    A turn is fair and ends with the transaction before it, while a transaction that waits in SQLite polls after pauses
    of up to a tenth of a second.
    """

    def __init__(self, engine: AsyncEngine, *, is_shared: bool = True) -> None:
        """`is_shared` is whether other processes write to the database too."""
        self.engine = engine
        self._turn: AbstractAsyncContextManager[None] = (
            asyncio.Lock() if engine.dialect.name == "sqlite" else nullcontext()
        )
        self._is_shared = is_shared
        self._writes = 0

    @property
    def version(self) -> int | None:
        """A number that changes with each transaction that writes; None if the database is shared.

        As long as it is the same, a query has the same answer.
        """
        return None if self._is_shared else self._writes

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Hold the turn to write."""
        async with self._turn:
            try:
                yield
            except asyncio.CancelledError:
                # SQLite's thread may still commit, within its busy timeout.
                asyncio.get_running_loop().call_later(BUSY_TIMEOUT_MILLISECONDS / 1000, self._count_write)
                raise
            finally:
                self._count_write()

    def _count_write(self) -> None:
        self._writes += 1

    def reading(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """Open a connection to read with; raises Unavailable while the database cannot be used."""
        return transaction(self.engine)

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """Open a transaction, which is committed at the end of the block, and rolled back by any exception.

        Raises Unavailable while the database cannot be used.
        """
        async with self.turn(), transaction(self.engine) as connection:
            yield connection

    @asynccontextmanager
    async def writing_heartbeats(self) -> AsyncIterator[AsyncConnection]:
        """Open such a transaction for rows on the state of processes, which leaves the version as it is."""
        async with self._turn, transaction(self.engine) as connection:
            yield connection


async def is_reachable(engine: AsyncEngine, timeout_seconds: float = 2.0) -> bool:
    """Return whether the database answers in time and accepts writes."""
    try:
        with available(engine):
            # Not wait_for: in Python 3.11 that can swallow a cancellation.
            async with asyncio.timeout(timeout_seconds), engine.connect() as connection:
                await connection.execute(text("SELECT 1"))
    except Exception:  # noqa: BLE001 - after any error it cannot be used now
        return False
    return True
