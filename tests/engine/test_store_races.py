"""Several engines that append to one PostgreSQL at the same time, and databases that cut them off."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from random import Random

import pytest
from sqlalchemy import insert, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.engine.archive import compact
from croupier.engine.entry_writer import late
from croupier.engine.schema import ENTRIES
from croupier.engine.sql_store import SqlTableStore, append_of
from croupier.engine.store import SequenceTaken, TableMark
from croupier.runtime.database import open_database
from loadtest.postgres import PostgresServer
from tests.engine.databases import (
    another_store,
    entry,
    loaded,
    opened,
    opened_at_once,
    sequences,
    writer_on,
)
from tests.engine.fakes import START
from tests.engine.play import soon
from tests.waiting import PATIENCE_SECONDS, until

TABLES = [f"t{number:02}" for number in range(50)]
ROUNDS = 6
LAST = TableMark(1, finished=True)

CUT_WHO_WAITS = """SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'"""
UNTIL_SOMEBODY_WAITS = """DO $$ BEGIN FOR i IN 1..6000 LOOP
    EXIT WHEN 1 <= (SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock');
    PERFORM pg_sleep(0.01);
    PERFORM pg_stat_clear_snapshot();
END LOOP; END $$"""
UNTIL_TWO_WAIT = UNTIL_SOMEBODY_WAITS.replace("1 <=", "2 <=")


async def race(store: SqlTableStore, table_id: str, name: str, wins: Counter[tuple[str, int]], random: Random) -> None:
    """Append again and again what follows on the log as it is, as an engine does."""
    head = 1
    while head < ROUNDS:
        for _ in range(random.randrange(3)):
            await asyncio.to_thread(bool)
        rows = [entry(head + 1, name)] if random.random() < 0.7 else [entry(head + 1, name), entry(head + 2, name)]
        is_last = rows[-1].sequence >= ROUNDS
        try:
            await store.append(table_id, rows, LAST if is_last else None)
            wins.update((table_id, each.sequence) for each in rows)
            head = rows[-1].sequence
        except SequenceTaken:
            head += len(await store.entries_after(table_id, head))


async def test_two_stores_that_append_to_fifty_tables_keep_logs_without_a_gap(postgres_url: str, seed: int) -> None:
    wins: Counter[tuple[str, int]] = Counter()
    async with AsyncExitStack() as stack:
        database = open_database(postgres_url)
        stack.push_async_callback(database.dispose)
        stores = [await stack.enter_async_context(another_store(postgres_url, f"e{number}")) for number in range(2)]
        await opened_at_once(database, TABLES)
        racing = (
            race(store, table_id, f"e{number}", wins, Random(f"{seed} {number} {table_id}"))
            for number, store in enumerate(stores)
            for table_id in TABLES
        )
        async with asyncio.timeout(PATIENCE_SECONDS):
            await asyncio.gather(*racing)
        assert set(wins.values()) == {1}
        for table_id in TABLES:
            log = sequences(await loaded(stores[0], table_id))
            assert log == list(range(1, len(log) + 1))
            assert {sequence for table, sequence in wins if table == table_id} == set(log[1:])
        names = {each.request_id for each in (await loaded(stores[1], TABLES[0])).entries[1:]}
        assert names <= {"e0", "e1"}
        assert set((await stores[1].statuses(TABLES)).values()) == {"finished"}


async def test_engines_that_append_to_the_same_tables_in_any_order_never_wait_for_each_other(
    postgres: PostgresServer, postgres_url: str
) -> None:
    """A third holds them up in the middle, so that each has written half of what the other still has to write."""
    database, holder = open_database(postgres_url), open_database(postgres_url)
    writers = [writer_on(database, name) for name in ("e1", "e2")]
    await opened_at_once(database, TABLES)
    batch = [append_of(table_id, [entry(2)], None) for table_id in TABLES]
    held = {"table_id": TABLES[25], "sequence": 2, "at": START, "deadline": START, "body": "{}"}
    async with holder.connect() as connection:
        await connection.execute(insert(ENTRIES).values(held))
        writing = [asyncio.create_task(writers[0].write(batch)), asyncio.create_task(writers[1].write(batch[::-1]))]
        await asyncio.to_thread(postgres.run_sql, postgres_url.rpartition("/")[2], UNTIL_TWO_WAIT)
        await connection.rollback()
    outcomes = await soon(asyncio.gather(*writing))
    assert sorted(map(len, outcomes)) == [0, len(TABLES)]
    await database.dispose()
    await holder.dispose()


async def test_nothing_stored_without_a_reason_is_never_taken_for_stored(
    database: AsyncEngine, store: SqlTableStore
) -> None:
    await opened(store)
    conflict = IntegrityError("", None, ValueError("a constraint that nobody knows"))
    async with database.connect() as connection:
        with pytest.raises(IntegrityError):
            await connection.run_sync(late, [append_of("t1", [entry(2)], None)], conflict)


async def test_a_connection_that_is_cut_during_a_commit_loses_nothing_that_was_told(
    postgres: PostgresServer, postgres_url: str
) -> None:
    """Another transaction holds up the commit until its connection is cut."""
    name = postgres_url.rpartition("/")[2]
    holder = open_database(postgres_url)
    async with another_store(postgres_url, "e1") as store:
        await opened(store)
        await store.append("t1", [entry(2)], None)
        async with holder.connect() as connection:
            await connection.execute(text("LOCK TABLE deadlines IN ACCESS EXCLUSIVE MODE"))
            appending = asyncio.create_task(store.append("t1", [entry(3, "cut")], None))
            await asyncio.to_thread(postgres.run_sql, name, UNTIL_SOMEBODY_WAITS)
            assert await asyncio.to_thread(postgres.run_sql, name, CUT_WHO_WAITS) == "1"
            with pytest.raises(Exception, match=r"closed|terminat|reached"):
                await soon(appending)
            await connection.rollback()
        assert sequences(await loaded(store)) == [1, 2]
        await store.append("t1", [entry(3, "again")], None)
        assert (await loaded(store)).entries[-1].request_id == "again"
    await holder.dispose()


async def test_an_append_that_waits_for_the_archive_finds_its_table_gone(
    postgres: PostgresServer, postgres_url: str
) -> None:
    archiving = open_database(postgres_url)
    async with another_store(postgres_url, "e1") as store:
        await opened(store)
        await opened(store, "t2")
        await store.append("t1", [entry(2)], LAST)
        await store.set_reports_done("t1", 1)
        async with archiving.begin() as connection:
            assert await compact(connection, START + 1_000, 10) == 1
            stale = asyncio.create_task(store.append("t1", [entry(3)], None))
            other = asyncio.create_task(store.append("t2", [entry(2)], None))
            await asyncio.to_thread(postgres.run_sql, postgres_url.rpartition("/")[2], UNTIL_SOMEBODY_WAITS)
            assert not stale.done()
        with pytest.raises(SequenceTaken):
            await soon(stale)
        await soon(other)
        assert sequences(await loaded(store)) == [1, 2]
        assert sequences(await loaded(store, "t2")) == [1, 2]
    await archiving.dispose()


async def test_a_commit_that_hangs_is_noticed(postgres: PostgresServer, postgres_url: str) -> None:
    name = postgres_url.rpartition("/")[2]
    holder = open_database(postgres_url)
    async with another_store(postgres_url, "e1") as store:
        await opened(store)
        assert store.is_flowing()
        async with holder.connect() as connection:
            await connection.execute(text("LOCK TABLE deadlines IN ACCESS EXCLUSIVE MODE"))
            appending = asyncio.create_task(store.append("t1", [entry(2)], None))
            await asyncio.to_thread(postgres.run_sql, name, UNTIL_SOMEBODY_WAITS)
            await until(lambda: not store.is_flowing())
            assert not appending.done()
            await connection.rollback()
        await soon(appending)
        assert store.is_flowing()
    await holder.dispose()
