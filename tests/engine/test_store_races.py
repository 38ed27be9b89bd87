"""Concurrent appends of several engines to one PostgreSQL, lost connections, and failovers."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from sqlalchemy import insert, select, text
from sqlalchemy.exc import IntegrityError

from croupier.engine.cluster.housekeeping import packed_log
from croupier.engine.storage.archive import archive
from croupier.engine.storage.port import SequenceTaken, TableChange, append_durably
from croupier.engine.storage.schema import DEADLINES, ENTRIES, TABLES
from croupier.engine.storage.sql_store import SqlTableStore, append_of
from croupier.engine.storage.writer import lost_races
from croupier.runtime.database.database import Database
from croupier.runtime.database.schema_versions import migrate_database
from croupier.runtime.errors import Unavailable
from croupier_loadtest.postgres import PostgresServer, postgres_server
from tests.databases import failed_over, held_transaction
from tests.engine.databases import another_store, entry, loaded, opened, sequences, writing_on
from tests.engine.fakes import START
from tests.engine.play import within_timeout
from tests.waiting import TIMEOUT_SECONDS, until

NAMES = [f"t{number:02}" for number in range(50)]
LAST = TableChange(1, finished=True)
RunSql = Callable[[str], Awaitable[str]]

TERMINATE_WAITING = """SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'"""
WAIT_FOR_LOCKS = """DO $$ BEGIN FOR i IN 1..6000 LOOP
    EXIT WHEN %d <= (SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock');
    PERFORM pg_sleep(0.01);
    PERFORM pg_stat_clear_snapshot();
END LOOP; END $$"""


@pytest.fixture(autouse=True)
def _long_commit_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prevent time-outs of commits on a busy machine."""
    monkeypatch.setattr("croupier.engine.storage.postgres_writer.COMMIT_SECONDS", TIMEOUT_SECONDS)


@pytest.fixture
def database_url(postgres_url: str) -> str:
    """PostgreSQL only."""
    return postgres_url


@pytest.fixture
def run_sql(postgres: PostgresServer, database: Database) -> RunSql:
    """Runs a statement from outside of this process."""
    return lambda statement: asyncio.to_thread(postgres.run_sql, database.url.database or "", statement)


async def test_engines_that_append_to_the_same_tables_never_deadlock(
    database: Database, store: SqlTableStore, run_sql: RunSql
) -> None:
    """A third transaction blocks both in the middle, when each has written rows that the other still has to write.

    Until a transaction has the keys of all entries, it holds no other row.
    """
    for table_id in NAMES:
        await opened(store, table_id)
    changes = (None, TableChange(1, finished=False), LAST)
    batch = [append_of(table_id, [entry(2)], changes[at % 3]) for at, table_id in enumerate(NAMES)]
    held = {"table_id": NAMES[25], "sequence": 2, "at": START, "deadline": START, "body": "{}"}
    async with held_transaction(database) as connection:
        await connection.execute(insert(ENTRIES).values(held))
        orders = (batch, batch[::-1])
        writing = [writing_on(database, each) for each in orders]
        await run_sql(WAIT_FOR_LOCKS % 2)
        for rows in (TABLES, DEADLINES):
            free = select(rows).with_for_update(skip_locked=True, key_share=True)
            assert len((await connection.execute(free)).all()) == len(NAMES)
        await connection.rollback()
    outcomes = await within_timeout(asyncio.gather(*writing))
    assert sorted(len(outcome) for outcome in outcomes if not isinstance(outcome, Exception)) == [0, len(NAMES)]
    assert [sequences(await loaded(store, table_id)) for table_id in NAMES] == [[1, 2]] * len(NAMES)


async def test_an_unexplained_conflict_is_a_failure(database: Database, store: SqlTableStore) -> None:
    await opened(store)
    conflict = IntegrityError("", None, ValueError("an unknown constraint"))
    with pytest.raises(IntegrityError):
        await database.read(lost_races, [append_of("t1", [entry(2)], None)], conflict)


async def test_a_hanging_commit_times_out_and_loses_nothing_acknowledged(
    store: SqlTableStore, database: Database, run_sql: RunSql
) -> None:
    """Another transaction blocks the commit until its connection is terminated."""
    await opened(store)
    await append_durably(store, "t1", [entry(2)], None)
    assert store.commits.is_responsive()
    async with held_transaction(database) as connection:
        await connection.execute(text("LOCK TABLE deadlines IN ACCESS EXCLUSIVE MODE"))
        appending = asyncio.create_task(append_durably(store, "t1", [entry(3, "cut")], None))
        await run_sql(WAIT_FOR_LOCKS % 1)
        await until(lambda: not store.commits.is_responsive())
        assert not appending.done()
        assert await run_sql(TERMINATE_WAITING) == "1"
        with pytest.raises(Unavailable):
            await within_timeout(appending)
        await connection.rollback()
    assert sequences(await loaded(store)) == [1, 2]
    await append_durably(store, "t1", [entry(3, "again")], None)
    assert (await loaded(store)).entries[-1].request_id == "again"
    assert store.commits.is_responsive()


async def test_an_append_that_waits_for_the_archive_fails(
    store: SqlTableStore, database: Database, run_sql: RunSql
) -> None:
    await opened(store)
    await opened(store, "t2")
    await append_durably(store, "t1", [entry(2)], LAST)
    await store.set_reports_done("t1", 1)
    packed = await packed_log(store, "t1")
    async with held_transaction(database) as connection:
        await connection.run_sync(archive, "t1", packed)
        stale = asyncio.create_task(append_durably(store, "t1", [entry(3)], None))
        fresh = asyncio.create_task(append_durably(store, "t2", [entry(2)], None))
        await run_sql(WAIT_FOR_LOCKS % 1)
        assert not stale.done()
    with pytest.raises(SequenceTaken):
        await within_timeout(stale)
    await within_timeout(fresh)
    for table_id in ("t1", "t2"):
        assert sequences(await loaded(store, table_id)) == [1, 2]


@pytest.mark.postgres
async def test_after_a_failover_appends_go_to_the_new_primary() -> None:
    sequence, refused = 2, 0

    async def has_moved() -> bool:
        nonlocal sequence, refused
        try:
            await append_durably(store, "t1", [entry(sequence + 1)], None)
        except Unavailable:
            refused += 1
        else:
            sequence += 1
        return refused > 0 and sequence > 3

    # A server whose sessions a test may make read-only.
    with postgres_server() as server:
        url = server.url("postgres")
        await migrate_database(url, ["croupier.engine"])
        async with another_store(url) as store:
            await opened(store)
            await append_durably(store, "t1", [entry(2)], None)
            with failed_over(server):
                await until(has_moved)
            # The connection is replaced after the first failure.
            assert refused == 1
            assert sequences(await loaded(store)) == [*range(1, sequence + 1)]
