"""A database of the simulated world: SQLite in memory, run in the simulation's own thread.

The statements are those of the services; what is simulated is everything around them: how long the way takes, what gets
lost on it, that it is down, and that a client dies in the middle of a transaction. Transactions come one after the
other. A connection has the interface of aiosqlite's, so that SQLAlchemy's dialect for it can be used as it is.
"""

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from typing import Any, Self

from sqlalchemy import MetaData, NullPool, create_engine
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from tests.simulation.faults import Faults
from tests.simulation.loop import PROCESS, Process

Change = tuple[Any, ...]
"""What a watched statement changed: the word for it, and values of the row."""
DatabaseOfProcess = Callable[[], "SimulatedDatabase"]


def empty_database(metadata: MetaData) -> bytes:
    """A database file with a service's tables and nothing in them."""
    with closing(sqlite3.connect(":memory:", check_same_thread=False)) as raw:
        engine = create_engine("sqlite://", creator=lambda: raw)
        metadata.create_all(engine)
        raw.commit()
        return raw.serialize()


def engine_in_memory(find: DatabaseOfProcess) -> AsyncEngine:
    """SQLAlchemy's access to whichever database `find` gives when a connection is wanted; it keeps no connection."""

    async def connect(*_: Any, **__: Any) -> "InlineConnection":
        return InlineConnection(find())

    return create_async_engine(
        "sqlite+aiosqlite:////simulated.db",
        hide_parameters=True,
        poolclass=NullPool,
        connect_args={"async_creator_fn": connect},
    )


class SimulatedDatabase:
    """The data, the lock that lets one transaction in at a time, and what can go wrong.

    `watch` is a script of temporary triggers that call noted(word, values...); `committed` hears what a transaction
    noted, once it is stored.
    """

    def __init__(
        self, name: str, file: bytes, watch: str, faults: Faults, committed: Callable[[list[Change]], None]
    ) -> None:
        self.name = name
        self.faults = faults
        self.process = Process(f"{name} database")
        self.is_down = False
        self._committed = committed
        self._noted: list[Change] = []
        self._owner: InlineConnection | None = None
        self._waiting: deque[tuple[InlineConnection, asyncio.Future[None]]] = deque()
        self.raw = sqlite3.connect(":memory:", check_same_thread=False)
        self.raw.deserialize(file)
        self.raw.execute("PRAGMA foreign_keys=ON")
        self.raw.create_function("noted", -1, self._note)
        self.raw.executescript(watch)

    def _note(self, *values: Any) -> None:
        self._noted.append(values)

    async def enter(self, connection: "InlineConnection") -> None:
        """Wait for the lock; raises sqlite3.OperationalError while the database is down."""
        await self.faults.way_to_database(self.name)
        self.check_up()
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

    def check_up(self) -> None:
        """Raises sqlite3.OperationalError while the database is down."""
        if self.is_down:
            raise sqlite3.OperationalError("the simulated database is down")

    def leave(self, connection: "InlineConnection") -> None:
        """Undo what was not committed and let the next one in."""
        if self._owner is not connection:
            return
        self.raw.rollback()
        self._noted.clear()
        self._owner = None
        while self._waiting and self._owner is None:
            self._owner, turn = self._waiting.popleft()
            if turn.done() or not self._owner.process.alive:
                self._owner = None
            elif self.is_down:
                self._owner = None
                turn.set_exception(sqlite3.OperationalError("the simulated database went down"))
            else:
                turn.set_result(None)

    def commit(self, connection: "InlineConnection") -> None:
        """Store what a transaction did, and let the next one in."""
        self.raw.commit()
        changes, self._noted = self._noted, []
        if changes:
            self._committed(changes)
        self.leave(connection)

    def holds(self, connection: "InlineConnection") -> bool:
        """Whether a connection has the lock."""
        return self._owner is connection

    def stop(self) -> None:
        """Go down; what was not committed is lost."""
        self.is_down = True
        if self._owner is not None:
            self.leave(self._owner)

    def start(self) -> None:
        """Come up again."""
        self.is_down = False

    def forget(self, process: Process) -> None:
        """A process died, and its transaction with it."""
        if self._owner is not None and self._owner.process is process:
            self.leave(self._owner)


class InlineConnection:
    """A connection of one process; it holds the database's lock from its first statement to its commit or rollback."""

    def __init__(self, database: SimulatedDatabase) -> None:
        self.database = database
        self.process = PROCESS.get()
        self._connection = database.raw
        self._has_begun = False

    async def began(self) -> None:
        """Begin a transaction unless one is under way; raises sqlite3.OperationalError if it was lost."""
        if not self._has_begun:
            await self.database.enter(self)
            self._has_begun = True
        elif not self.database.holds(self):
            raise sqlite3.OperationalError("the simulated connection was lost")

    def cursor(self, *_: Any, **__: Any) -> "InlineCursor":
        return InlineCursor(self)

    async def commit(self) -> None:
        if not self._has_begun:
            return
        self._has_begun = False
        if not self.database.holds(self):
            raise sqlite3.OperationalError("the simulated connection was lost")
        try:
            await self.database.faults.before_commit(self.database.name)
            self.database.check_up()
        except BaseException:
            self.database.leave(self)
            raise
        if not self.database.holds(self):
            raise sqlite3.OperationalError("the simulated connection was lost")
        self.database.commit(self)
        await self.database.faults.after_commit(self.database.name)

    async def rollback(self) -> None:
        self._has_begun = False
        self.database.leave(self)

    async def close(self) -> None:
        await self.rollback()

    def stop(self) -> None:
        self._has_begun = False
        self.database.leave(self)

    async def create_function(self, *_: Any, **__: Any) -> None:
        """Nothing here uses functions of the dialect's own."""


class InlineCursor:
    """A cursor of aiosqlite's interface."""

    def __init__(self, connection: InlineConnection) -> None:
        self._connection = connection
        self._cursor = connection.database.raw.cursor()
        self.arraysize = 1

    async def __aenter__(self) -> Self:
        return self

    @property
    def description(self) -> Any:
        return self._cursor.description

    @property
    def rowcount(self) -> int:
        return self._cursor.rowcount

    @property
    def lastrowid(self) -> Any:
        return self._cursor.lastrowid

    async def execute(self, operation: str, parameters: Sequence[Any] = ()) -> Self:
        await self._connection.began()
        self._cursor.execute(operation, parameters)
        return self

    async def executemany(self, operation: str, parameters: Iterable[Sequence[Any]]) -> Self:
        await self._connection.began()
        self._cursor.executemany(operation, parameters)
        return self

    async def fetchall(self) -> list[Any]:
        return self._cursor.fetchall()

    async def close(self) -> None:
        self._cursor.close()
