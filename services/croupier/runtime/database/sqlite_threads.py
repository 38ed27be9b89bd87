"""SQLite on threads of its own: a few that read, and one that writes."""

import asyncio
import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event
from sqlalchemy.exc import SQLAlchemyError

from croupier.runtime.database.faults import driver_error
from croupier.runtime.identity.permissions import open_private
from croupier.runtime.outcomes import Callback, settle
from croupier.runtime.time_limits import TimeLimits

Result = TypeVar("Result")
READERS = 3
BUSY_TIMEOUT_MILLISECONDS = 10_000
CHECKPOINT_PAGES = 10_000
"""Pages of the write-ahead log (40 MB) before a checkpoint, which copies a page of many commits once."""
CACHE_KIBIBYTES = 512
"""The page cache of each connection; the operating system caches the file once for all."""


class SqliteThreads:
    """The connections to a file of SQLite, each in a thread of its own.

    A transaction is one job of a thread, since each change of threads costs more than most statements. SQLite has one
    writer at a time: here it is one thread, whose jobs are done in the order in which they came.
    """

    def __init__(self, url: URL, write_seconds: float) -> None:
        """No thread starts, and no connection is made yet. `write_seconds` are the limit of writes that call back."""
        self.url = url
        self._limits = TimeLimits(write_seconds)
        self._readers = _Threads(_engine(url, is_writer=False), "sqlite-reader", READERS)
        self._writer = _Threads(_engine(url, is_writer=True), "sqlite-writer", 1)

    async def read(self, query: Callable[[Connection], Result]) -> Result:
        """Call a function in a thread, with a connection that cannot write."""
        return await self._readers.run(query)

    async def write(self, change: Callable[[Connection], Result]) -> Result:
        """Call a function in the thread that writes, in a transaction."""
        return await self._writer.run(change)

    def start_write(self, change: Callable[[sqlite3.Connection], Result], done: Callback[Result]) -> None:
        """Call a function in the thread that writes, in a transaction of the driver, and `done` with its outcome.

        After the limit that is a TimeoutError, and the function is not called if it did not begin. A future, the task
        that waits for it, and the transaction of SQLAlchemy would cost an append more than this hand-over.
        """
        self._writer.start(partial(_in_transaction_of_driver, change), done, self._limits)

    async def close(self) -> None:
        """End the threads after the jobs that were sent to them, and close their connections."""
        await self._readers.close()
        # The last connection of a file writes its log back.
        await self._writer.close()


class _Job:
    """A function to call, None to end the thread; and what its outcome is passed to, unless the job was given up.

    Beyond its limit it is given up with a TimeoutError.
    """

    def __init__(
        self, work: Callable[[Connection], Any] | None, done: Callback[Any], limits: TimeLimits | None = None
    ) -> None:
        self.work = work
        self.is_given_up = False
        self._done = done
        self._loop = asyncio.get_running_loop()
        self._limits = limits
        if limits is not None:
            limits.begin(self)

    def give_up(self) -> None:
        """Call the function only if it has begun, and pass its outcome on in no case."""
        self.is_given_up = True
        if self._limits is not None:
            self._limits.end(self)

    def expire(self) -> None:
        """Give the job up at its limit."""
        self._end(TimeoutError())

    def end(self, outcome: Any) -> None:
        """Pass the outcome to the event loop; called in the thread."""
        try:
            self._loop.call_soon_threadsafe(self._end, outcome)
        except RuntimeError:
            return  # The loop is closed, since its program did not wait.

    def _end(self, outcome: Any) -> None:
        if not self.is_given_up:
            self.give_up()
            self._done(outcome)


class _Threads:
    """Threads that do jobs, the first that came first; they start with the first job."""

    def __init__(self, engine: Engine, name: str, count: int) -> None:
        self._engine = engine
        self._name = name
        self._count = count
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._threads: list[Thread] = []

    async def run(self, work: Callable[[Connection], Result]) -> Result:
        """Return what a function returns in a thread; if the caller is cancelled before it began, it is not called."""
        outcome: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        job = self.start(partial(_in_transaction, work), partial(settle, outcome))
        try:
            return await outcome
        finally:
            job.give_up()

    def start(
        self, work: Callable[[Connection], Result], done: Callback[Result], limits: TimeLimits | None = None
    ) -> _Job:
        """Call a function in a thread, without a transaction, and `done` with its outcome."""
        while len(self._threads) < self._count:
            # Daemons, so that no statement keeps the process from ending.
            thread = Thread(target=self._work, name=self._name, daemon=True)
            thread.start()
            self._threads.append(thread)
        job = _Job(work, done, limits)
        self._jobs.put(job)
        return job

    async def close(self) -> None:
        """End the threads after the jobs that were sent to them."""
        threads, self._threads = self._threads, []
        ended: list[asyncio.Future[None]] = [asyncio.get_running_loop().create_future() for _ in threads]
        for each in ended:
            self._jobs.put(_Job(None, partial(settle, each)))
        await asyncio.gather(*ended)
        for thread in threads:
            # It has done its last job.
            thread.join()

    def _work(self) -> None:
        connection: Connection | None = None
        while (job := self._jobs.get()).work is not None:
            if job.is_given_up:
                continue
            try:
                connection = connection or self._engine.connect()
                result = job.work(connection)
            except Exception as fault:  # noqa: BLE001 - the caller receives it
                if _spoils(fault):
                    _close(connection)
                    connection = None
                job.end(fault)
            else:
                job.end(result)
        _close(connection)
        job.end(None)


def _in_transaction(work: Callable[[Connection], Result], connection: Connection) -> Result:
    with connection.begin():
        return work(connection)


def _in_transaction_of_driver(work: Callable[[sqlite3.Connection], Result], connection: Connection) -> Result:
    driver: Any = connection.connection.dbapi_connection
    with driver:
        return work(driver)


def execute_alone(driver: sqlite3.Connection, statement: str, values: Sequence[object]) -> None:
    """Execute a statement as a transaction of its own, which is over at its end.

    The statements that begin and commit one would take a third more, since the driver prepares them each time.
    """
    driver.isolation_level = None
    try:
        driver.execute(statement, values)
    finally:
        driver.isolation_level = "DEFERRED"


def _spoils(fault: Exception) -> bool:
    """Return whether a connection is opened again after an error: its file may be another by then, or writable."""
    error = driver_error(fault)
    return isinstance(error, sqlite3.Error) and not isinstance(error, sqlite3.IntegrityError)


def _close(connection: Connection | None) -> None:
    if connection is not None:
        # A fault of the rollback before the end changes nothing.
        with suppress(SQLAlchemyError, sqlite3.Error):
            connection.close()


def _engine(url: URL, *, is_writer: bool) -> Engine:
    # Errors must not quote parameters: cards, seeds, tokens.
    engine = create_engine(url, hide_parameters=True, poolclass=NullPool)
    event.listen(engine, "do_connect", _make_private)
    event.listen(engine, "connect", partial(_set_pragmas, is_writer))
    return engine


def _make_private(_dialect: object, _record: object, arguments: Any, _named: object) -> None:
    """Make a missing file, with the mode 0600."""
    # SQLite gives a new file the mode 0644, and its write-ahead log the mode of the file. An existing file must not be
    # closed here: that would release the locks of all connections of this process. Only ":memory:" is not absolute.
    file = Path(arguments[0])
    if file.is_absolute():
        with suppress(OSError):
            open_private(file, os.O_EXCL).close()


def _set_pragmas(is_writer: bool, connection: sqlite3.Connection, _record: object) -> None:
    # WAL lets readers continue during a commit; with FULL a commit survives a loss of power.
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        f"busy_timeout={BUSY_TIMEOUT_MILLISECONDS}",
        f"wal_autocheckpoint={CHECKPOINT_PAGES}",
        f"cache_size=-{CACHE_KIBIBYTES}",
        f"query_only={not is_writer}",
    ):
        connection.execute(f"PRAGMA {pragma}").close()
