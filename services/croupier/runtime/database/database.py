"""Databases through SQLAlchemy: SQLite for one machine, PostgreSQL for any number of replicas."""

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from sqlalchemy import URL, Connection, make_url, text
from sqlalchemy.exc import ArgumentError

from croupier.runtime.database.drivers import COMMAND_SECONDS, PostgresPool
from croupier.runtime.database.faults import describe, is_transient
from croupier.runtime.database.sqlite_threads import SqliteThreads
from croupier.runtime.errors import Unavailable
from croupier.runtime.file_lock import lock_file
from croupier.runtime.identity.permissions import check_secret
from croupier.runtime.observation.outage_log import OutageLog
from croupier.runtime.server.program import SettingsError
from croupier_api.v1 import errors_pb2

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
TRANSACTION_SECONDS = 15.0
"""More than the limit of a command, so that usually the command raises the error."""
RETRY_SECONDS = 1.0
POSTGRESQL_PORT = "5432"
HOST = re.compile(r"(\[[^]/?@]+\]|[^][:,/?@]+)(?::(\d+))?")
SEVERAL_HOSTS = re.compile(
    rf"(?P<user>[\w+]+://(?:[^:/]*(?::[^@]*)?@)?+)(?P<hosts>{HOST.pattern}(?:,{HOST.pattern})+)(?P<rest>(?:[/?].*)?)"
)
"""SQLAlchemy's pattern of URLs, but with a list of hosts."""
POSTGRESQL_SCHEMES = ("postgres", "postgresql", "postgresql+asyncpg")
URL_FORMS = (
    "sqlite:////absolute/path.db or postgresql://user:password@host:port/database,"
    " with special characters percent-encoded (@ as %40)"
)


class Connections(Protocol):
    """The port to a database: both verbs call a function with a connection, and return what it returns.

    Its transaction is committed at its end, and rolled back by any exception.
    """

    url: URL

    async def read(self, query: Callable[[Connection], Result]) -> Result:
        """Call a function that only reads."""

    async def write(self, change: Callable[[Connection], Result]) -> Result:
        """Call a function that may write."""

    async def close(self) -> None:
        """Close all connections, after the transactions that run."""


class Database:
    """The transactions of one process on its database."""

    def __init__(self, connections: Connections, outages: OutageLog | None = None) -> None:
        """`outages` logs when the database cannot be used."""
        self.connections = connections
        self._outages = outages

    @property
    def url(self) -> URL:
        return self.connections.url

    @property
    def dialect(self) -> str:
        """Return "sqlite" or "postgresql"."""
        return self.url.get_backend_name()

    async def read(
        self,
        query: Callable[Concatenate[Connection, Arguments], Result],
        *arguments: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Result:
        """Return what a function returns that reads from a connection; raises Unavailable.

        On SQLite it runs in a thread, so it must not touch what the event loop changes.
        """
        with self.available():
            async with asyncio.timeout(TRANSACTION_SECONDS):
                return await self.connections.read(lambda connection: query(connection, *arguments, **named))

    async def write(
        self,
        change: Callable[Concatenate[Connection, Arguments], Result],
        *arguments: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Result:
        """Return what a function returns that may write to a connection, once its changes are committed.

        Any exception rolls them back. Raises Unavailable; a commit that was running then may have succeeded, as may one
        whose caller is cancelled. On SQLite the function runs in the only thread that writes.
        """
        with self.available():
            async with asyncio.timeout(TRANSACTION_SECONDS):
                return await self.connections.write(lambda connection: change(connection, *arguments, **named))

    @contextmanager
    def available(self) -> Iterator[None]:
        """Raise Unavailable for an error by which the database cannot be used just now, and log the outage."""
        try:
            yield
        except Exception as fault:
            if not is_transient(fault):
                raise
            raise self.unavailable(fault) from fault
        self.answered()

    def unavailable(self, fault: Exception) -> Unavailable:
        """Return the refusal because of a transient error, and log the outage."""
        if self._outages is not None:
            self._outages.failed(describe(fault))
        return Unavailable(
            errors_pb2.ERROR_REASON_STORE_UNAVAILABLE,
            "the database does not answer: try again",
            retry_after_seconds=RETRY_SECONDS,
        )

    def answered(self) -> None:
        """Log the end of an outage."""
        if self._outages is not None:
            self._outages.succeeded()

    async def is_reachable(self, timeout_seconds: float = 2.0) -> bool:
        """Return whether the database answers in time and accepts writes."""
        try:
            with self.available():
                # Not wait_for: in Python 3.11 that can swallow a cancellation.
                async with asyncio.timeout(timeout_seconds):
                    await self.connections.read(lambda connection: connection.execute(text("SELECT 1")).all())
        except Exception:  # noqa: BLE001 - after any error it cannot be used now
            return False
        return True

    async def close(self) -> None:
        """Close all connections, after the transactions that run."""
        await self.connections.close()


def open_database(
    url: str,
    command_seconds: float | None = COMMAND_SECONDS,
    outages: OutageLog | None = None,
) -> Database:
    """Open a database by its URL, such as sqlite:////data/x.db or postgresql://user:password@host:port/name.

    No connection is made yet. A command to PostgreSQL fails after `command_seconds`. `outages` logs when the database
    cannot be used. Raises SettingsError for other URLs.
    """
    known = _parsed_url(url)
    if known.get_backend_name() == "sqlite":
        return Database(SqliteThreads(known, TRANSACTION_SECONDS), outages)
    return Database(PostgresPool(known, command_seconds), outages)


def sqlite_url(file: Path) -> str:
    """Return the URL of a file of SQLite, whose path may have any characters."""
    return URL.create("sqlite", database=str(file)).render_as_string()


def _parsed_url(text_of_url: str) -> URL:
    try:
        url = _make_url(text_of_url)
        if re.search("[@,]", url.host or ""):
            # The rest of a password, which messages would show as the host, or one of several hosts has a fault.
            raise ValueError
        if url.drivername in POSTGRESQL_SCHEMES:
            url = url.set(drivername="postgresql+asyncpg")
        elif url.drivername != "sqlite":
            raise ValueError
        # It checks several hosts and ports.
        url.get_dialect()().create_connect_args(url)
        return url
    except (ArgumentError, ValueError):
        # The URL is neither quoted nor chained: it may have a password.
        raise SettingsError(f"invalid --database (CROUPIER_DATABASE): expected {URL_FORMS}") from None


def _make_url(text_of_url: str) -> URL:
    """Parse a URL, with several hosts as parameters, where both SQLAlchemy and the driver accept them."""
    several = SEVERAL_HOSTS.fullmatch(text_of_url)
    if several is None:
        return make_url(text_of_url)
    names, ports = zip(*HOST.findall(several["hosts"]), strict=True)
    hosts = {"host": ",".join(names), "port": ",".join(port or POSTGRESQL_PORT for port in ports)}
    return make_url(several["user"] + several["rest"]).update_query_dict(hosts)


def check_permissions(database: Database) -> None:
    """Raise SettingsError for a file of SQLite that others may read or write."""
    if database.dialect == "sqlite" and database.url.database:
        check_secret(Path(database.url.database))


@contextmanager
def sole_use(database: Database) -> Iterator[None]:
    """Keep other processes that call this from a file of SQLite for the block; raises SettingsError if one has it.

    The lock is that of a file beside it: SQLite's own locks are for each transaction.
    """
    if database.dialect != "sqlite" or not database.url.database:
        yield
        return
    file = Path(database.url.database).resolve()
    try:
        lock = lock_file(file.with_name(f"{file.name}-lock"))
    except BlockingIOError:
        raise SettingsError(f"another process uses the database {file}: stop it, or use PostgreSQL") from None
    except OSError as fault:
        reason = (fault.strerror or str(fault)).lower()
        raise SettingsError(f"the database {file} cannot be used ({reason}): check its path and rights") from None
    with lock:
        yield


def database_name(database: Database) -> str:
    """Return the URL of a database for messages, without password, and without parameters but several hosts."""
    hosts = {name: value for name, value in database.url.query.items() if name in ("host", "port")}
    url = database.url.set(drivername=database.dialect, query=hosts)
    return url.render_as_string(hide_password=True)
