"""A simulated database: SQLite in memory, in the simulation's own thread.

The statements of the services are executed; latency, lost messages, downtime and the death of a client within a
transaction are simulated. Transactions are serial. InlineEngine and InlineConnection have the methods of SQLAlchemy's
AsyncEngine and AsyncConnection that the services use.
"""

import asyncio
import sqlite3
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from sqlalchemy import Connection, Dialect, MetaData, NullPool, create_engine

from loadtest.simulation.faults import DatabaseFault, Faults
from loadtest.simulation.loop import PROCESS, Process

Change = tuple[Any, ...]
"""A change of a watched table: its kind, and values of the row."""
Result = TypeVar("Result")
LOST = "the simulated connection was lost"


class Schema:
    """A service's empty schema, with one SQLAlchemy engine for all databases, which compiles each statement once."""

    def __init__(self, metadata: MetaData) -> None:
        self._raw = sqlite3.connect(":memory:", check_same_thread=False)
        self._engine = create_engine("sqlite://", creator=lambda: self._raw, poolclass=NullPool, hide_parameters=True)
        with self._engine.connect() as connection:
            metadata.create_all(connection)
            connection.commit()
            self._file = self._raw.serialize()

    def open(self) -> tuple[sqlite3.Connection, Connection]:
        """Return a new empty database: the driver's connection to it, and SQLAlchemy's."""
        self._raw = sqlite3.connect(":memory:", check_same_thread=False)
        self._raw.deserialize(self._file)
        self._raw.execute("PRAGMA foreign_keys=ON")
        return self._raw, self._engine.connect()


class SimulatedDatabase:
    """The data, the lock that serializes transactions, and the faults.

    `triggers` is a script of temporary triggers that call record_change(kind, values...); `committed` receives
    the changes of a transaction after its commit.
    """

    def __init__(
        self, name: str, schema: Schema, triggers: str, faults: Faults, committed: Callable[[list[Change]], None]
    ) -> None:
        self.name = name
        self.faults = faults
        self.process = Process(f"{name} database")
        self.is_down = False
        self.cut_off: set[Process] = set()
        """The processes that cannot reach the database, while others can."""
        self.raw, self.statements = schema.open()
        self.raw.create_function("record_change", -1, lambda *values: self._changes.append(values))
        self.raw.executescript(triggers)
        self._committed = committed
        self._changes: list[Change] = []
        self._owner: InlineConnection | None = None
        self._waiting: deque[tuple[InlineConnection, asyncio.Future[None]]] = deque()

    async def enter(self, connection: "InlineConnection") -> None:
        """Wait for the lock; raises DatabaseFault while the database is down."""
        await self.faults.database_round_trip(self.name)
        self.check_reachable(connection.process)
        if self._owner is None:
            self._owner = connection
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((connection, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if self._owner is connection:
                self.leave(connection)
            raise

    def check_reachable(self, process: Process) -> None:
        """Raise DatabaseFault if a process cannot reach the database."""
        if self.is_down or process in self.cut_off:
            raise DatabaseFault("the simulated database is down, or cut off")

    def leave(self, connection: "InlineConnection") -> None:
        """Roll back, and let the next transaction in."""
        if self._owner is not connection:
            return
        self.statements.rollback()
        self._changes.clear()
        self._owner = None
        while self._waiting and self._owner is None:
            self._owner, turn = self._waiting.popleft()
            if turn.done() or not self._owner.process.alive:
                self._owner = None
            elif self.is_down:
                self._owner = None
                turn.set_exception(DatabaseFault(LOST))
            else:
                turn.set_result(None)

    async def commit(self, connection: "InlineConnection") -> None:
        """Commit, and let the next transaction in; raises DatabaseFault, before or after the commit."""
        try:
            await self.faults.before_commit(self.name)
            self.check_reachable(connection.process)
        except BaseException:
            self.leave(connection)
            raise
        if self._owner is not connection:
            raise DatabaseFault(LOST)
        self.statements.commit()
        changes, self._changes = self._changes, []
        if changes:
            self._committed(changes)
        self.leave(connection)
        await self.faults.after_commit(self.name)

    def holds(self, connection: "InlineConnection") -> bool:
        """Return whether a connection has the lock."""
        return self._owner is connection

    def stop(self) -> None:
        """Go down; uncommitted changes are lost."""
        self.is_down = True
        if self._owner is not None:
            self.leave(self._owner)

    def start(self) -> None:
        """Come up again."""
        self.is_down = False

    def forget(self, process: Process) -> None:
        """Roll back the transaction of a process that has died."""
        if self._owner is not None and self._owner.process is process:
            self.leave(self._owner)

    def close(self) -> None:
        """Close the connections."""
        self.statements.close()
        self.raw.close()


class InlineEngine:
    """Replaces SQLAlchemy's AsyncEngine in a service."""

    def __init__(self, database: SimulatedDatabase) -> None:
        self._database = database

    @property
    def dialect(self) -> Dialect:
        return self._database.statements.dialect

    def get_execution_options(self) -> Mapping[str, Any]:
        """Return no options."""
        return {}

    @asynccontextmanager
    async def connect(self) -> "AsyncIterator[InlineConnection]":
        """Open a connection; uncommitted changes are rolled back at the end."""
        connection = InlineConnection(self._database)
        try:
            yield connection
        finally:
            await connection.rollback()

    @asynccontextmanager
    async def begin(self) -> "AsyncIterator[InlineConnection]":
        """Begin a transaction: committed at the end of the block, rolled back by any exception."""
        async with self.connect() as connection:
            yield connection
            await connection.commit()


class InlineConnection:
    """A connection of one process, with the database's lock from its first statement to its commit or rollback."""

    def __init__(self, database: SimulatedDatabase) -> None:
        self.process = PROCESS.get()
        self._database = database
        self._has_begun = False

    @property
    def dialect(self) -> Dialect:
        return self._database.statements.dialect

    async def _begin(self) -> Connection:
        if not self._has_begun:
            await self._database.enter(self)
            self._has_begun = True
        elif not self._database.holds(self):
            raise DatabaseFault(LOST)
        return self._database.statements

    async def execute(self, statement: Any, parameters: Any = None) -> Any:
        return (await self._begin()).execute(statement, parameters)

    async def exec_driver_sql(self, statement: str, parameters: Any = None) -> Any:
        return (await self._begin()).exec_driver_sql(statement, parameters)

    async def run_sync(self, work: Callable[..., Result], *arguments: Any) -> Result:
        return work(await self._begin(), *arguments)

    async def commit(self) -> None:
        if not self._has_begun:
            return
        self._has_begun = False
        if not self._database.holds(self):
            raise DatabaseFault(LOST)
        await self._database.commit(self)

    async def rollback(self) -> None:
        self._has_begun = False
        self._database.leave(self)
