"""Calls to a PostgreSQL that fails end in time as UNAVAILABLE, and work again when it is back."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from croupier.runtime.database import is_reachable, open_database, transaction
from croupier.runtime.errors import Unavailable
from loadtest.postgres import PostgresServer, postgres_server
from tests.waiting import until

pytestmark = [pytest.mark.postgres, pytest.mark.slow]


@pytest.fixture(scope="module")
def own_server() -> Iterator[PostgresServer]:
    """Start a server that tests may pause and kill."""
    with postgres_server() as server:
        yield server


@pytest.fixture
async def database(own_server: PostgresServer) -> AsyncIterator[AsyncEngine]:
    opened = open_database(own_server.url("postgres"))
    yield opened
    await opened.dispose()


async def select_one(connection: AsyncConnection) -> int:
    return int((await connection.execute(text("SELECT 1"))).scalar_one())


async def query(database: AsyncEngine) -> int:
    async with transaction(database) as connection:
        return await select_one(connection)


async def query_twice(database: AsyncEngine, between: Callable[[], object]) -> None:
    async with transaction(database) as connection:
        await select_one(connection)
        between()
        await select_one(connection)


async def test_a_server_that_was_killed(own_server: PostgresServer, database: AsyncEngine) -> None:
    assert await query(database) == 1
    own_server.kill()
    try:
        for _ in range(2):
            with pytest.raises(Unavailable):
                await query(database)
        assert not await is_reachable(database)
    finally:
        own_server.start()
    assert await query(database) == 1
    assert await is_reachable(database)


async def test_a_server_that_is_killed_within_a_transaction(own_server: PostgresServer, database: AsyncEngine) -> None:
    with pytest.raises(Unavailable):
        await query_twice(database, own_server.kill)
    own_server.start()
    assert await query(database) == 1


async def test_connections_that_are_terminated(own_server: PostgresServer, database: AsyncEngine) -> None:
    terminate = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'croupier'"
    with pytest.raises(Unavailable):
        await query_twice(database, lambda: own_server.run_sql("postgres", terminate))
    own_server.run_sql("postgres", terminate)
    assert await query(database) == 1


async def test_a_server_that_hangs(own_server: PostgresServer) -> None:
    # With a short timeout of commands, for which the test waits.
    with_timeout = open_database(own_server.url("postgres"), command_seconds=2)
    await query(with_timeout)
    own_server.pause()
    try:
        assert not await is_reachable(with_timeout, 0.2)
        with pytest.raises(Unavailable):
            await query(with_timeout)
    finally:
        own_server.resume()
    assert await query(with_timeout) == 1
    assert with_timeout.pool.checkedout() == 0  # type: ignore[attr-defined]
    await with_timeout.dispose()


DEADLOCK, LOCK_TIMEOUT, OUT_OF_MEMORY, UNKNOWN_TABLE = "40P01", "55P03", "53200", "42P01"


async def fail_with(database: AsyncEngine, code: str) -> None:
    async with transaction(database) as connection:
        await connection.execute(text(f"DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{code}'; END $$"))


@pytest.mark.parametrize("code", [DEADLOCK, LOCK_TIMEOUT, OUT_OF_MEMORY])
async def test_transient_errors_are_unavailable(database: AsyncEngine, code: str) -> None:
    with pytest.raises(Unavailable):
        await fail_with(database, code)
    assert await query(database) == 1


async def test_permanent_errors_are_not_unavailable(database: AsyncEngine) -> None:
    with pytest.raises(DBAPIError):
        await fail_with(database, UNKNOWN_TABLE)


WAITS_FOR_STANDBY = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"


def configure(server: PostgresServer, change: str) -> None:
    server.run_sql("postgres", f"ALTER SYSTEM {change}")
    server.run_sql("postgres", "SELECT pg_reload_conf()")


async def test_a_commit_is_not_visible_before_a_standby_has_it(
    own_server: PostgresServer, database: AsyncEngine
) -> None:
    own_server.run_sql("postgres", "CREATE TABLE moves (number int)")
    configure(own_server, "SET synchronous_standby_names = 'nobody'")
    try:
        with pytest.raises(Unavailable):
            async with transaction(database) as connection:
                await connection.execute(text("INSERT INTO moves VALUES (1)"))
        # If the call's end had cancelled the commit's wait, the move would be visible.
        assert own_server.run_sql("postgres", WAITS_FOR_STANDBY) == "1"
        assert own_server.run_sql("postgres", "SELECT count(*) FROM moves") == "0"
    finally:
        configure(own_server, "RESET synchronous_standby_names")
    # The move is not lost either: it is visible once the standby has it.
    await until(lambda: own_server.run_sql("postgres", "SELECT count(*) FROM moves") == "1")


async def test_a_cancelled_call_ends(database: AsyncEngine) -> None:
    for wait in range(100):
        # A pooled connection is checked before it is used again.
        await query(database)
        querying = asyncio.create_task(query(database))
        await asyncio.sleep(wait * 20e-6)
        if querying.cancel():
            with pytest.raises(asyncio.CancelledError):
                await querying


async def test_more_calls_than_connections_take_turns(database: AsyncEngine) -> None:
    assert await asyncio.gather(*(query(database) for _ in range(300))) == [1] * 300
    assert database.pool.size() == 10  # type: ignore[attr-defined]
