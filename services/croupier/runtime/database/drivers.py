"""Connections to PostgreSQL: the only code that uses the driver's internals.

asyncpg may change these with any release, so pyproject.toml bounds its version from above. Before the bound is raised,
`tests/runtime/test_database_drivers.py` has to pass with the new version.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar

import asyncpg
from asyncpg.connect_utils import SessionAttribute
from sqlalchemy import URL, Connection, ExceptionContext, event
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.ext.asyncio import create_async_engine

from croupier.runtime.database.faults import ends_session

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
POOL_SIZE = 10
POOL_WAIT_SECONDS = 10.0


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


@dataclass(slots=True)
class PreparedStatement:
    """A statement of PostgreSQL, prepared on a connection of its own, which is opened again after a failure."""

    url: URL
    text: str
    command_seconds: float
    _connection: asyncpg.Connection | None = None
    _prepared: Any = None

    async def execute(self, *values: object) -> None:
        """Execute the statement in a transaction of its own; raises ConstraintViolated, or what the driver raises."""
        try:
            if self._connection is None:
                self._connection = await connect_postgresql(self.url, self.command_seconds)
                self._prepared = await self._connection.prepare(self.text)
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


class PostgresPool:
    """A pool of connections; each transaction has one of them."""

    def __init__(self, url: URL, command_seconds: float | None = COMMAND_SECONDS, pool_size: int = POOL_SIZE) -> None:
        """No connection is made yet. A command fails after `command_seconds`; at most `pool_size` are open."""
        self.url = url
        self._engine = create_async_engine(
            url,
            # Errors must not quote parameters: cards, seeds, tokens.
            hide_parameters=True,
            pool_size=pool_size,
            max_overflow=0,
            pool_timeout=POOL_WAIT_SECONDS,
            pool_pre_ping=True,
            async_creator=partial(connect_postgresql, url, command_seconds),
        )
        event.listen(self._engine.sync_engine, "checkout", _refuse_read_only)
        event.listen(self._engine.sync_engine, "handle_error", _discard_connections)

    async def read(self, query: Callable[[Connection], Result]) -> Result:
        """Call a function with a connection, in a transaction."""
        async with self._engine.begin() as connection:
            return await connection.run_sync(query)

    write = read

    async def close(self) -> None:
        """Close the connections that no transaction uses."""
        await self._engine.dispose()


def _refuse_read_only(connection: Any, _record: object, _pooled: object) -> None:
    """Discard all connections of the pool, and let it connect again, if the test of one found it read-only."""
    if is_read_only(connection.driver_connection):
        raise InvalidatePoolError


def _discard_connections(context: ExceptionContext) -> None:
    """Discard all connections of the pool after an error that belongs to the session or its server."""
    if ends_session(context.original_exception):
        context.is_disconnect = True
