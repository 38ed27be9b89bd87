"""Internals of asyncpg and aiosqlite that croupier uses: a new version that fails here cannot be used yet."""

import asyncio
import inspect
import logging
import sqlite3
import threading
import tomllib
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path

import aiosqlite
import asyncpg
import pytest
from packaging.requirements import Requirement
from sqlalchemy import make_url, text

from croupier.runtime.database import open_database
from croupier.runtime.database_drivers import connect_postgresql, connect_sqlite
from tests.waiting import until

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
SLOW_MOVE = "DO $$ BEGIN PERFORM pg_sleep(1); INSERT INTO moves VALUES (1); END $$"
COMMITS = "a commit after a timeout would be cancelled at the server, and taken for durable before its standby has it"
STEPS = "each statement of SQLite would take four steps of the connection's thread"
THREADS = "a process with an open SQLite connection would not end, and one whose connecting fails would leave a thread"


@pytest.mark.parametrize("driver", ["asyncpg", "aiosqlite"])
def test_versions_of_the_drivers_are_bounded_from_above(driver: str) -> None:
    listed = map(Requirement, tomllib.loads(PROJECT.read_text())["project"]["dependencies"])
    bounds = next(each.specifier for each in listed if each.name == driver)
    assert any(bound.operator == "<" for bound in bounds), f"any release of {driver} may change its internals"
    assert version(driver) in bounds


def test_asyncpg_has_what_is_overridden() -> None:
    cancel = getattr(asyncpg.Connection, "_cancel_current_command", None)
    assert cancel, f"asyncpg asks for cancellation by another method: {COMMITS}"
    assert all(each.kind is each.POSITIONAL_OR_KEYWORD for each in inspect.signature(cancel).parameters.values())
    assert "_top_xact" in asyncpg.Connection.__slots__, f"asyncpg keeps its transaction elsewhere: {COMMITS}"


def test_aiosqlite_has_what_is_overridden() -> None:
    assert inspect.isfunction(aiosqlite.Connection.stop), "SQLAlchemy's second stop() would wait for a thread for ever"
    thread = getattr(aiosqlite.Connection(partial(sqlite3.connect, ":memory:"), 1), "_thread", None)
    assert isinstance(thread, threading.Thread), f"aiosqlite keeps its thread elsewhere: {THREADS}"
    execute = getattr(aiosqlite.Connection, "_execute", None)
    assert inspect.iscoroutinefunction(execute), f"aiosqlite runs a step of its thread by another method: {STEPS}"


@pytest.mark.postgres
async def test_a_command_goes_on_at_the_server_after_a_timeout_except_within_a_transaction(
    new_database: Callable[..., str],
) -> None:
    url = make_url(new_database())
    observer, connection = await connect_postgresql(url), await connect_postgresql(url)
    await observer.execute("CREATE TABLE moves (number int)")
    async with connection.transaction():
        with pytest.raises(TimeoutError):
            async with connection.transaction():
                await connection.execute(SLOW_MOVE, timeout=0.1)
        assert await connection.fetchval("SELECT count(*) FROM moves") == 0
    with pytest.raises(TimeoutError):
        await connection.execute(SLOW_MOVE, timeout=0.1)
    await until(connection.is_closed, "the connection is dropped")
    await until(lambda: observer.fetchval("SELECT count(*) FROM moves"), f"the move is stored: else {COMMITS}")
    await observer.close()


async def test_a_connection_to_sqlite_is_stopped_once_and_keeps_no_process(tmp_path: Path) -> None:
    before = set(threading.enumerate())
    connection = await connect_sqlite(str(tmp_path / "x.db"))
    (thread,) = set(threading.enumerate()) - before
    assert thread.daemon, f"aiosqlite starts another thread: {THREADS}"
    stopped = connection.stop()
    assert stopped
    await stopped
    assert connection.stop() is None
    thread.join()


async def test_a_statement_of_sqlite_takes_one_step_of_the_connections_thread(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    database = open_database(f"sqlite:///{tmp_path / 'x.db'}")
    async with database.begin() as connection:
        await connection.execute(text("CREATE TABLE moves (number int)"))
    caplog.set_level(logging.DEBUG, "aiosqlite")
    async with database.begin() as connection:
        written = await connection.execute(text("INSERT INTO moves VALUES (2), (3) RETURNING number"))
        assert written.all() == [(2,), (3,)]
        assert (await connection.execute(text("DELETE FROM moves WHERE number > 2"))).rowcount == 1
    assert caplog.text.count("executing") == 3, "two statements and a commit"
    caplog.clear()
    async with database.connect() as connection:
        assert (await connection.execute(text("SELECT number FROM moves"))).all() == [(2,)]
    assert caplog.text.count("executing") == 1, "no transaction ends"
    await database.dispose()


async def test_a_statement_whose_caller_was_cancelled_leaves_no_transaction(tmp_path: Path) -> None:
    connection = await connect_sqlite(str(tmp_path / "x.db"))
    await connection.execute("CREATE TABLE moves (number int)")
    is_running, may_end = threading.Event(), threading.Event()

    def begin_late(sqlite: sqlite3.Connection) -> None:
        is_running.set()
        assert may_end.wait(10)
        sqlite.execute("INSERT INTO moves VALUES (1)")

    cancelled = asyncio.create_task(connection.run(begin_late))
    await asyncio.to_thread(is_running.wait, 10)
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    rolled_back = asyncio.create_task(connection.rollback())
    may_end.set()
    await rolled_back
    cursor = connection.cursor()
    await cursor.execute("SELECT count(*) FROM moves")
    assert (await cursor.fetchall(), connection.in_transaction) == ([(0,)], False)
    await connection.close()
