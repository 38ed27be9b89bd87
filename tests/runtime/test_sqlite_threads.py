"""The threads of SQLite: one writes and others read, each call in its turn, and none outlives its database."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError

from croupier.runtime.database.database import TRANSACTION_SECONDS, Database, open_database, sqlite_url
from croupier.runtime.database.schema_versions import migrate
from croupier.runtime.database.sqlite_threads import SqliteThreads, execute_alone
from croupier.runtime.errors import Unavailable
from croupier.runtime.server.program import SettingsError
from tests.databases import copy_database, execute
from tests.waiting import TIMEOUT_SECONDS, SettlingLoop, settled


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = open_database(sqlite_url(tmp_path / "x.db"))
    await execute(database, "CREATE TABLE moves (number INTEGER PRIMARY KEY)")
    yield database
    await database.close()


async def moves(database: Database) -> list[int]:
    rows = await database.read(lambda connection: connection.execute(text("SELECT number FROM moves")).all())
    return [number for (number,) in rows]


def insert(number: int, connection: Connection) -> None:
    connection.execute(text("INSERT INTO moves VALUES (:number)"), {"number": number})


def insert_by_driver(number: int, driver: sqlite3.Connection) -> None:
    driver.execute("INSERT INTO moves VALUES (?)", [number])


class HeldWrite:
    """A write that has begun, and waits until it may end."""

    def __init__(self, insert: Callable[[int, Any], None] = insert) -> None:
        self.has_begun, self.may_end = asyncio.Event(), threading.Event()
        self._insert = insert
        self._loop = asyncio.get_running_loop()

    def __call__(self, connection: Any) -> None:
        self._insert(1, connection)
        self._loop.call_soon_threadsafe(self.has_begun.set)
        assert self.may_end.wait(TIMEOUT_SECONDS)

    async def begin(self, database: Database) -> asyncio.Task[None]:
        writing = asyncio.create_task(database.write(self))
        await self.has_begun.wait()
        return writing


async def test_writes_are_done_in_the_order_of_their_calls_while_others_read(database: Database) -> None:
    held, done = HeldWrite(), list[int]()

    async def write(number: int) -> None:
        await database.write(partial(insert, number))
        done.append(number)

    writing = await held.begin(database)
    later = [asyncio.create_task(write(number)) for number in range(2, 10)]
    assert [await moves(database) for _ in range(10)] == [[]] * 10
    held.may_end.set()
    await asyncio.gather(writing, *later)
    assert done == [*range(2, 10)]
    assert await moves(database) == [*range(1, 10)]


async def test_a_read_cannot_write(database: Database) -> None:
    with pytest.raises(Unavailable) as refused:
        await database.read(partial(insert, 1))
    assert "attempt to write a readonly database" in str(refused.value.__cause__)
    assert await moves(database) == []


@pytest.mark.parametrize("verb", ["read", "write"])
async def test_the_exception_of_a_function_is_raised_and_its_changes_are_rolled_back(
    database: Database, verb: str
) -> None:
    def fail(connection: Connection) -> None:
        if verb == "write":
            insert(1, connection)
        raise KeyError(verb)

    with pytest.raises(KeyError, match=verb):
        await getattr(database, verb)(fail)
    await database.write(partial(insert, 2))
    with pytest.raises(IntegrityError):
        await execute(database, "INSERT INTO moves VALUES (3), (2)")
    assert await moves(database) == [2]


async def test_a_write_that_is_cancelled_before_its_turn_is_left_out(database: Database) -> None:
    held = HeldWrite()
    writing = await held.begin(database)
    waiting = [asyncio.create_task(database.write(partial(insert, number))) for number in (2, 3)]
    await settled()
    for cancelled in (writing, waiting[0]):
        cancelled.cancel()
    await asyncio.wait([writing, waiting[0]])
    held.may_end.set()
    await waiting[1]
    # The first had begun.
    assert await moves(database) == [1, 3]


async def test_a_write_that_waits_for_too_long_is_unavailable(database: Database) -> None:
    held, loop, now = HeldWrite(), asyncio.get_running_loop(), [0.0]
    assert isinstance(loop, SettlingLoop)
    writing = await held.begin(database)
    loop.follow(lambda: now[0])
    waiting = asyncio.create_task(database.write(partial(insert, 2)))
    await settled()
    now[0] = TRANSACTION_SECONDS
    with pytest.raises(Unavailable):
        await waiting
    held.may_end.set()
    await asyncio.wait([writing])
    assert await moves(database) == [1]


class Outcomes:
    """The outcomes of writes that call back."""

    def __init__(self, database: Database) -> None:
        assert isinstance(database.connections, SqliteThreads)
        self._threads = database.connections
        self._outcomes: asyncio.Queue[Any] = asyncio.Queue()

    def start(self, change: Callable[[sqlite3.Connection], Any]) -> None:
        self._threads.start_write(change, self._outcomes.put_nowait)

    async def next(self) -> Any:
        """Return the next result, or the class of the next error."""
        outcome = await self._outcomes.get()
        return type(outcome) if isinstance(outcome, Exception) else outcome

    def __len__(self) -> int:
        return self._outcomes.qsize()


async def test_writes_call_back_with_what_they_return_or_raise(database: Database) -> None:
    outcomes = Outcomes(database)

    def insert_both(driver: sqlite3.Connection) -> None:
        insert_by_driver(2, driver)
        insert_by_driver(1, driver)

    outcomes.start(lambda driver: driver.execute("SELECT 7").fetchone())
    outcomes.start(partial(insert_by_driver, 1))
    outcomes.start(insert_both)
    assert [await outcomes.next() for _ in range(3)] == [(7,), None, sqlite3.IntegrityError]
    assert await moves(database) == [1]


async def test_a_statement_that_is_executed_alone_is_committed_at_its_end(database: Database) -> None:
    outcomes = Outcomes(database)

    def fail_after(statement: str, driver: sqlite3.Connection) -> None:
        execute_alone(driver, statement, [1])
        insert_by_driver(2, driver)
        raise KeyError

    for _ in range(2):
        outcomes.start(partial(fail_after, "INSERT INTO moves VALUES (?)"))
    assert [await outcomes.next() for _ in range(2)] == [KeyError, sqlite3.IntegrityError]
    # Statements after it are in a transaction again.
    assert await moves(database) == [1]


async def test_a_thread_that_could_not_start_is_started_by_the_next_write(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    await database.close()
    with monkeypatch.context() as exhausted:
        exhausted.setattr(threading.Thread, "start", fails)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            await database.write(partial(insert, 1))
    await database.write(partial(insert, 2))
    assert await moves(database) == [2]


async def test_writes_that_take_too_long_call_back_once_and_are_left_out_before_their_turn(database: Database) -> None:
    held, loop, now, outcomes = HeldWrite(insert_by_driver), asyncio.get_running_loop(), [0.0], Outcomes(database)
    assert isinstance(loop, SettlingLoop)
    loop.follow(lambda: now[0])
    outcomes.start(held)
    await held.has_begun.wait()
    outcomes.start(partial(insert_by_driver, 2))
    await settled()
    assert len(outcomes) == 0
    now[0] = TRANSACTION_SECONDS
    assert [await outcomes.next(), await outcomes.next()] == [TimeoutError] * 2
    held.may_end.set()
    outcomes.start(partial(insert_by_driver, 3))
    assert await outcomes.next() is None
    # The first had begun.
    assert await moves(database) == [1, 3]


async def test_a_file_that_was_replaced_is_opened_again_after_a_failure(database: Database, tmp_path: Path) -> None:
    other = open_database(sqlite_url(tmp_path / "other.db"))
    await execute(other, "CREATE TABLE cards (number INTEGER)")
    await other.close()
    assert await moves(database) == []
    copy_database(tmp_path / "other.db", tmp_path / "new.db").replace(tmp_path / "x.db")
    for rest in ("x.db-wal", "x.db-shm"):
        (tmp_path / rest).unlink()
    cards = "SELECT count(*) FROM cards"
    with pytest.raises(Unavailable):
        await execute(database, cards)
    assert await execute(database, cards) == [(0,)]


async def test_the_end_waits_for_the_writes_and_leaves_the_file_alone(tmp_path: Path) -> None:
    before, database = set(threading.enumerate()), open_database(sqlite_url(tmp_path / "x.db"))
    await execute(database, "CREATE TABLE moves (number INTEGER PRIMARY KEY)")
    held = HeldWrite()
    writing = [await held.begin(database), asyncio.create_task(database.write(partial(insert, 2)))]
    await settled()
    closing = asyncio.create_task(database.close())
    await settled()
    assert not closing.done()
    held.may_end.set()
    await asyncio.gather(closing, *writing)
    assert set(threading.enumerate()) <= before
    assert [file.name for file in tmp_path.iterdir()] == ["x.db"]  # noqa: ASYNC240
    assert (tmp_path / "x.db").stat().st_mode & 0o777 == 0o600
    # A database that is used after its end is opened again.
    assert await moves(database) == [1, 2]
    await database.close()


async def read_missing_folder(file: Path) -> None:
    database = open_database(sqlite_url(file.parent / "missing" / file.name))
    with pytest.raises(SettingsError, match=r"missing.x\.db cannot be used, unable to open database file"):
        await migrate(database, "croupier.scoring")
    await database.close()


async def cancel_connection(file: Path) -> None:
    database = open_database(sqlite_url(file))
    reading = asyncio.create_task(database.is_reachable())
    await asyncio.sleep(0)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    await database.close()


@pytest.mark.parametrize("connect", [read_missing_folder, cancel_connection])
def test_a_failed_connection_leaves_no_thread_behind(
    tmp_path: Path, connect: Callable[[Path], Coroutine[Any, Any, None]]
) -> None:
    before = set(threading.enumerate())
    asyncio.run(connect(tmp_path / "x.db"))
    assert set(threading.enumerate()) <= before
