"""PostgreSQL that fails, hangs or is demoted: calls end in time as UNAVAILABLE, and work again once it is back."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from prometheus_client import CollectorRegistry
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from croupier.runtime.database.database import Database, open_database
from croupier.runtime.database.drivers import PostgresPool
from croupier.runtime.database.notifications import Notifications
from croupier.runtime.database.schema_versions import migrate_database
from croupier.runtime.errors import Unavailable
from croupier.runtime.observation.metrics import RpcMetrics
from croupier.runtime.observation.outage_log import OutageLog
from croupier.runtime.server.service import Resources, Service, serve
from croupier.runtime.settings import ServiceSettings
from croupier_loadtest.postgres import PostgresServer, postgres_server
from tests.databases import execute, failed_over
from tests.engine.fakes import RecordingLogger
from tests.waiting import TIMEOUT_SECONDS, until

pytestmark = pytest.mark.postgres


@pytest.fixture(scope="module")
def own_server() -> Iterator[PostgresServer]:
    """Start a server that tests may pause and kill, and whose sessions they may make read-only."""
    with postgres_server() as server:
        server.run_sql("postgres", "CREATE TABLE moves (number int)")
        yield server


@pytest.fixture
def logger() -> RecordingLogger:
    return RecordingLogger()


@pytest.fixture
async def database(own_server: PostgresServer, logger: RecordingLogger) -> AsyncIterator[Database]:
    opened = open_database(own_server.url("postgres"), outages=OutageLog("the database", logger, lambda: 0))
    yield opened
    await opened.close()


def pid_of(connection: Connection) -> int:
    return int(connection.execute(text("SELECT pg_backend_pid()")).scalar_one())


def write_after(connection: Connection, before: str) -> int:
    connection.execute(text(before))
    connection.execute(text("INSERT INTO moves VALUES (1)"))
    return pid_of(connection)


async def write(database: Database, before: str = "SELECT 1") -> int:
    """Write, after another statement, and return the process id of the session."""
    return await database.write(write_after, before)


async def write_if_available(database: Database) -> int | None:
    try:
        return await write(database)
    except Unavailable:
        return None


async def pooled_pids(database: Database, number: int = 3) -> set[int]:
    """Use several connections of the pool at once, and return the process ids of their sessions."""
    # All begin before the first has its answer.
    return set(await asyncio.gather(*(database.read(pid_of) for _ in range(number))))


async def test_after_a_failover_all_pooled_connections_are_replaced(
    own_server: PostgresServer, database: Database
) -> None:
    before = await pooled_pids(database)
    assert len(before) == 3

    async def has_moved() -> bool:
        return await write_if_available(database) not in {*before, None}

    with failed_over(own_server):
        await until(has_moved)
        # Also those that were only read with, which would see what was before the failover.
        assert before.isdisjoint(await pooled_pids(database))


async def test_a_session_that_becomes_read_only_while_it_is_used_ends_with_all_others(database: Database) -> None:
    before = await pooled_pids(database)
    with pytest.raises(Unavailable):
        await write(database, "SET TRANSACTION READ ONLY")
    assert before.isdisjoint(await pooled_pids(database))


async def test_a_lost_prepared_statement_ends_the_session(database: Database) -> None:
    for _ in range(2):
        before = await write(database)
    await execute(database, "DEALLOCATE ALL")
    # The test of the connection before its use finds that out.
    assert await write(database) != before


async def test_a_statement_that_fails_keeps_the_connection(database: Database) -> None:
    before = await write(database)
    for _ in range(2):
        with pytest.raises(DBAPIError, match="unheard"):
            await execute(database, "SELECT * FROM unheard")
    with pytest.raises(Unavailable):
        await execute(database, "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'deadlock_detected'; END $$")
    assert await write(database) == before


async def test_a_database_without_primary_cannot_be_used_until_there_is_one(
    own_server: PostgresServer, database: Database, logger: RecordingLogger
) -> None:
    assert await database.is_reachable()
    with failed_over(own_server, has_primary=False):

        async def is_unreachable() -> bool:
            return not await database.is_reachable()

        await until(is_unreachable)
        for _ in range(3):
            with pytest.raises(Unavailable):
                await write(database)
    assert logger.lines == [
        ("warning", "calls to the database fail", {"reason": "it is read-only: use the URL of the primary"})
    ]
    await until(database.is_reachable)
    assert await write(database)


async def test_after_a_failover_notifications_arrive_from_the_new_primary(
    own_server: PostgresServer, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("croupier.runtime.database.notifications.CHECK_SECONDS", 0.05)
    checked = asyncio.Event()
    running = asyncio.create_task(Notifications(database, RecordingLogger()).run({"news": print}, checked.set))

    async def listening() -> str:
        query = "SELECT pid FROM pg_stat_activity WHERE application_name = 'croupier notifications'"
        return await asyncio.to_thread(own_server.run_sql, "postgres", query)

    await asyncio.wait_for(checked.wait(), TIMEOUT_SECONDS)
    before = await listening()
    with failed_over(own_server):

        async def has_moved() -> bool:
            return await listening() not in ("", before)

        await until(has_moved)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_of_several_hosts_the_first_that_accepts_writes_is_used(
    own_server: PostgresServer, postgres: PostgresServer
) -> None:
    own_server.run_sql("postgres", "CREATE ROLE mover LOGIN PASSWORD 'x y%20'")
    postgres.run_sql("postgres", "CREATE ROLE mover LOGIN PASSWORD 'x y%20'")
    hosts = ",".join(f"127.0.0.1:{port}" for port in (1, own_server.port, postgres.port))
    database = open_database(f"postgresql://mover:x%20y%2520@{hosts}/postgres")
    ports: set[str] = set()
    with failed_over(own_server, has_primary=False):

        async def has_moved() -> bool:
            ports.update(port for (port,) in await execute(database, "SHOW port"))
            await database.close()
            return str(postgres.port) in ports

        await until(has_moved)
    await database.close()
    postgres.run_sql("postgres", "DROP ROLE mover")
    own_server.run_sql("postgres", "DROP ROLE mover")


@contextmanager
def stopped(server: PostgresServer) -> Iterator[None]:
    server.stop()
    try:
        yield
    finally:
        server.start()


@pytest.mark.usefixtures("logs_as_before")
@pytest.mark.parametrize("fault", [partial(failed_over, has_primary=False), stopped], ids=["read_only", "stopped"])
async def test_a_service_is_ready_only_while_its_database_accepts_writes(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    own_server: PostgresServer,
    fault: Callable[[PostgresServer], AbstractContextManager[None]],
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.setattr("croupier.runtime.server.grpc_server.READINESS_POLL_SECONDS", 0.05)
    url, ready = own_server.create_database(f"of_{request.node.callspec.id}"), tmp_path / "ready"
    await migrate_database(url, ["croupier.scoring"])
    local = "127.0.0.1:0"
    settings = ServiceSettings(database=url, metrics_listen=local, health_listen=local, ready_file=ready)

    def build(_settings: ServiceSettings, _resources: Resources) -> Service:
        registry = CollectorRegistry()
        return Service(ports=(), registry=registry, rpc_metrics=RpcMetrics(registry))

    serving = asyncio.create_task(serve("scoring", settings, build))
    await until(lambda: ready.exists() or serving.done())
    async with grpc.aio.insecure_channel(json.loads(ready.read_text())["health"]) as channel:
        health = health_pb2_grpc.HealthStub(channel)

        async def is_ready() -> bool:
            answer = await health.Check(health_pb2.HealthCheckRequest(), wait_for_ready=True)
            return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)

        async def is_not_ready() -> bool:
            return not await is_ready()

        await until(is_ready)
        with fault(own_server):
            await until(is_not_ready)
        await until(is_ready)
    os.kill(os.getpid(), signal.SIGTERM)
    assert await asyncio.wait_for(serving, TIMEOUT_SECONDS) == 0


async def query_twice(database: Database, between: Callable[[], object]) -> None:
    await database.read(lambda connection: (pid_of(connection), between(), pid_of(connection)))


@pytest.mark.slow
async def test_a_server_that_was_killed(own_server: PostgresServer, database: Database) -> None:
    await database.read(pid_of)
    own_server.kill()
    try:
        for _ in range(2):
            with pytest.raises(Unavailable):
                await database.read(pid_of)
        assert not await database.is_reachable()
    finally:
        own_server.start()
    await database.read(pid_of)
    assert await database.is_reachable()


@pytest.mark.slow
async def test_a_server_that_is_killed_within_a_transaction(own_server: PostgresServer, database: Database) -> None:
    with pytest.raises(Unavailable):
        await query_twice(database, own_server.kill)
    own_server.start()
    await database.read(pid_of)


@pytest.mark.slow
async def test_connections_that_are_terminated(own_server: PostgresServer, database: Database) -> None:
    terminate = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'croupier'"
    with pytest.raises(Unavailable):
        await query_twice(database, lambda: own_server.run_sql("postgres", terminate))
    own_server.run_sql("postgres", terminate)
    await database.read(pid_of)


@pytest.mark.slow
async def test_a_server_that_hangs(own_server: PostgresServer, database: Database) -> None:
    # With a short timeout of commands, for which the test waits, and one connection, which each call has to return.
    with_timeout = Database(PostgresPool(database.url, command_seconds=2, pool_size=1))
    await with_timeout.read(pid_of)
    own_server.pause()
    try:
        assert not await with_timeout.is_reachable(0.2)
        with pytest.raises(Unavailable):
            await with_timeout.read(pid_of)
    finally:
        own_server.resume()
    await with_timeout.read(pid_of)
    await with_timeout.close()


WAITS_FOR_STANDBY = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
STORED = "SELECT count(*) FROM moves WHERE number = 7"


def configure(server: PostgresServer, change: str) -> None:
    server.run_sql("postgres", f"ALTER SYSTEM {change}")
    server.run_sql("postgres", "SELECT pg_reload_conf()")


@pytest.mark.slow
async def test_a_commit_is_not_visible_before_a_standby_has_it(own_server: PostgresServer, database: Database) -> None:
    configure(own_server, "SET synchronous_standby_names = 'nobody'")
    try:
        with pytest.raises(Unavailable):
            await execute(database, "INSERT INTO moves VALUES (7)")
        # If the call's end had cancelled the commit's wait, the move would be visible.
        assert own_server.run_sql("postgres", WAITS_FOR_STANDBY) == "1"
        assert own_server.run_sql("postgres", STORED) == "0"
    finally:
        configure(own_server, "RESET synchronous_standby_names")
    # The move is not lost either: it is visible once the standby has it.
    await until(lambda: own_server.run_sql("postgres", STORED) == "1")


@pytest.mark.slow
async def test_a_cancelled_call_ends(database: Database) -> None:
    for wait in range(100):
        # A pooled connection is checked before it is used again.
        await database.read(pid_of)
        querying = asyncio.create_task(database.read(pid_of))
        await asyncio.sleep(wait * 20e-6)
        if querying.cancel():
            with pytest.raises(asyncio.CancelledError):
                await querying


@pytest.mark.slow
async def test_more_calls_than_connections_take_turns(own_server: PostgresServer, database: Database) -> None:
    await pooled_pids(database, 300)
    sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'croupier'"
    assert own_server.run_sql("postgres", sessions) == "10"
