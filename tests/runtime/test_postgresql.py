"""Calls to a PostgreSQL that fails end in time as UNAVAILABLE, and work again when it is back."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from croupier.runtime.database.database import Database, open_database
from croupier.runtime.database.drivers import PostgresPool
from croupier.runtime.errors import Unavailable
from loadtest.postgres import PostgresServer, postgres_server
from tests.databases import execute
from tests.waiting import until

pytestmark = [pytest.mark.postgres, pytest.mark.slow]


@pytest.fixture(scope="module")
def own_server() -> Iterator[PostgresServer]:
    """Start a server that tests may pause and kill."""
    with postgres_server() as server:
        yield server


@pytest.fixture
async def database(own_server: PostgresServer) -> AsyncIterator[Database]:
    opened = open_database(own_server.url("postgres"))
    yield opened
    await opened.close()


def select_one(connection: Connection) -> int:
    return int(connection.execute(text("SELECT 1")).scalar_one())


async def query(database: Database) -> int:
    return await database.read(select_one)


async def query_twice(database: Database, between: Callable[[], object]) -> None:
    await database.read(lambda connection: (select_one(connection), between(), select_one(connection)))


async def test_a_server_that_was_killed(own_server: PostgresServer, database: Database) -> None:
    assert await query(database) == 1
    own_server.kill()
    try:
        for _ in range(2):
            with pytest.raises(Unavailable):
                await query(database)
        assert not await database.is_reachable()
    finally:
        own_server.start()
    assert await query(database) == 1
    assert await database.is_reachable()


async def test_a_server_that_is_killed_within_a_transaction(own_server: PostgresServer, database: Database) -> None:
    with pytest.raises(Unavailable):
        await query_twice(database, own_server.kill)
    own_server.start()
    assert await query(database) == 1


async def test_connections_that_are_terminated(own_server: PostgresServer, database: Database) -> None:
    terminate = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'croupier'"
    with pytest.raises(Unavailable):
        await query_twice(database, lambda: own_server.run_sql("postgres", terminate))
    own_server.run_sql("postgres", terminate)
    assert await query(database) == 1


async def test_a_server_that_hangs(own_server: PostgresServer, database: Database) -> None:
    # With a short timeout of commands, for which the test waits, and one connection, which each call has to return.
    with_timeout = Database(PostgresPool(database.url, command_seconds=2, pool_size=1))
    await query(with_timeout)
    own_server.pause()
    try:
        assert not await with_timeout.is_reachable(0.2)
        with pytest.raises(Unavailable):
            await query(with_timeout)
    finally:
        own_server.resume()
    assert await query(with_timeout) == 1
    await with_timeout.close()


DEADLOCK, LOCK_TIMEOUT, OUT_OF_MEMORY, UNKNOWN_TABLE = "40P01", "55P03", "53200", "42P01"


async def fail_with(database: Database, code: str) -> None:
    await execute(database, f"DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{code}'; END $$")


@pytest.mark.parametrize("code", [DEADLOCK, LOCK_TIMEOUT, OUT_OF_MEMORY])
async def test_transient_errors_are_unavailable(database: Database, code: str) -> None:
    with pytest.raises(Unavailable):
        await fail_with(database, code)
    assert await query(database) == 1


async def test_permanent_errors_are_not_unavailable(database: Database) -> None:
    with pytest.raises(DBAPIError):
        await fail_with(database, UNKNOWN_TABLE)


WAITS_FOR_STANDBY = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"


def configure(server: PostgresServer, change: str) -> None:
    server.run_sql("postgres", f"ALTER SYSTEM {change}")
    server.run_sql("postgres", "SELECT pg_reload_conf()")


async def test_a_commit_is_not_visible_before_a_standby_has_it(own_server: PostgresServer, database: Database) -> None:
    own_server.run_sql("postgres", "CREATE TABLE moves (number int)")
    configure(own_server, "SET synchronous_standby_names = 'nobody'")
    try:
        with pytest.raises(Unavailable):
            await execute(database, "INSERT INTO moves VALUES (1)")
        # If the call's end had cancelled the commit's wait, the move would be visible.
        assert own_server.run_sql("postgres", WAITS_FOR_STANDBY) == "1"
        assert own_server.run_sql("postgres", "SELECT count(*) FROM moves") == "0"
    finally:
        configure(own_server, "RESET synchronous_standby_names")
    # The move is not lost either: it is visible once the standby has it.
    await until(lambda: own_server.run_sql("postgres", "SELECT count(*) FROM moves") == "1")


async def test_a_cancelled_call_ends(database: Database) -> None:
    for wait in range(100):
        # A pooled connection is checked before it is used again.
        await query(database)
        querying = asyncio.create_task(query(database))
        await asyncio.sleep(wait * 20e-6)
        if querying.cancel():
            with pytest.raises(asyncio.CancelledError):
                await querying


async def test_more_calls_than_connections_take_turns(own_server: PostgresServer, database: Database) -> None:
    assert await asyncio.gather(*(query(database) for _ in range(300))) == [1] * 300
    sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'croupier'"
    assert own_server.run_sql("postgres", sessions) == "10"
