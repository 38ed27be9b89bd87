"""A simulated database: SQLite in memory, in the simulation's own thread.

The statements of the services are executed; latency, lost messages, downtime and the death of a client within a
transaction are simulated. Transactions are serial.
"""

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection, MetaData, NullPool, create_engine, make_url

from croupier_loadtest.simulation.faults import DatabaseFault, Faults
from croupier_loadtest.simulation.loop import PROCESS, Process

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


@dataclass(frozen=True, eq=False)
class Transaction:
    """A transaction of a process."""

    process: Process


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
        self._owner: Transaction | None = None
        self._waiting: deque[tuple[Transaction, asyncio.Future[None]]] = deque()

    async def enter(self, transaction: Transaction) -> None:
        """Wait for the lock; raises DatabaseFault while the database is down."""
        await self.faults.database_round_trip(self.name)
        self.check_reachable(transaction.process)
        if self._owner is not None:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append((transaction, turn))
            try:
                await turn
            except asyncio.CancelledError:
                self.leave(transaction)
                raise
            if self._owner is not transaction:
                raise DatabaseFault(LOST)
        self._owner = transaction
        self.statements.begin()

    def check_reachable(self, process: Process) -> None:
        """Raise DatabaseFault if a process cannot reach the database."""
        if self.is_down or process in self.cut_off:
            raise DatabaseFault("the simulated database is down, or cut off")

    def leave(self, transaction: Transaction) -> None:
        """Roll back, and let the next transaction in."""
        if self._owner is not transaction:
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

    async def commit(self, transaction: Transaction) -> None:
        """Commit, and let the next transaction in; raises DatabaseFault, before or after the commit."""
        try:
            await self.faults.commit_leg(self.faults.rates.failed_transaction, "commit lost", self.name)
            self.check_reachable(transaction.process)
        except BaseException:
            self.leave(transaction)
            raise
        if self._owner is not transaction:
            raise DatabaseFault(LOST)
        self.statements.commit()
        changes, self._changes = self._changes, []
        if changes:
            self._committed(changes)
        self.leave(transaction)
        await self.faults.commit_leg(self.faults.rates.lost_commit_answer, "commit answer lost", self.name)

    def stop(self) -> None:
        """Go down; uncommitted changes are lost."""
        self.is_down = True
        if self._owner is not None:
            self.leave(self._owner)

    def forget(self, process: Process) -> None:
        """Roll back the transaction of a process that has died."""
        if self._owner is not None and self._owner.process is process:
            self.leave(self._owner)

    def close(self) -> None:
        """Close the connections."""
        self.statements.close()
        self.raw.close()


class SimulatedConnections:
    """The port of the services to a simulated database."""

    url = make_url("sqlite://")

    def __init__(self, database: SimulatedDatabase) -> None:
        self._database = database

    async def write(self, change: Callable[[Connection], Result]) -> Result:
        """Call a function in a transaction, with the lock of the database from its begin to its end."""
        database, transaction = self._database, Transaction(PROCESS.get())
        await database.enter(transaction)
        try:
            result = change(database.statements)
        except BaseException:
            database.leave(transaction)
            raise
        await database.commit(transaction)
        return result

    read = write

    async def close(self) -> None:
        """Do nothing: the data belong to the simulation."""
