"""Work claims: overdue deadlines and due reports are found by one engine at a time."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from sqlalchemy import Connection, make_url, select

from croupier.engine.core.fold import Turn
from croupier.engine.storage.port import SequenceTaken, TableChange, TableStatus, append_durably
from croupier.engine.storage.schema import DEADLINES, TABLES
from croupier.engine.storage.sql_store import SqlTableStore
from croupier.engine.storage.writer import REPORT_MILLISECONDS
from croupier.runtime.database.database import TRANSACTION_SECONDS, Database, open_database
from croupier.runtime.database.sqlite_threads import SqliteThreads
from croupier.runtime.errors import Unavailable
from croupier.runtime.outcomes import Callback
from tests.databases import execute, held_transaction
from tests.engine.databases import another_store, entry, opened, running, store_on
from tests.engine.fakes import START
from tests.engine.play import make_config, within_timeout
from tests.query_plans import before_each_statement

DUE = TableChange(1, finished=False)
LATE = START + REPORT_MILLISECONDS + 1
Claim = Callable[[SqlTableStore, int, int, int], Awaitable[list[str]]]
either_claim = pytest.mark.parametrize("claim", [SqlTableStore.claim_overdue, SqlTableStore.claim_unreported])


@pytest.fixture
async def two_stores(postgres_url: str) -> AsyncIterator[tuple[SqlTableStore, SqlTableStore]]:
    """Yield the stores of two engines, with ten tables whose deadlines and reports are due."""
    async with another_store(postgres_url) as first, another_store(postgres_url) as second:
        for number in range(10):
            await opened(first, f"t{number}")
            await append_durably(first, f"t{number}", [entry(2, at=START)], DUE)
        yield first, second


async def test_overdue_tables_are_found_oldest_first_and_only_those(store: SqlTableStore) -> None:
    for number in (3, 1, 2, 4):
        await opened(store, f"t{number}", [entry(1, deadline=START + number)])
    await store.prepare((await opened(store, "t9", [entry(1, deadline=START + 9)])), START)
    assert await store.claim_overdue(START + 4, START + 100, 10) == ["t1", "t2", "t3"]
    assert await store.claim_overdue(START + 4, START + 100, 10) == []
    assert await store.claim_overdue(START + 101, START + 200, 2) == ["t4", "t9"]
    assert sorted(await store.claim_overdue(START + 101, START + 200, 9)) == ["t1", "t2", "t3"]


async def test_a_postponed_table_is_claimed_later_and_one_that_was_played_meanwhile_at_its_deadline(
    store: SqlTableStore,
) -> None:
    for table_id in ("t1", "t2", "t3"):
        await opened(store, table_id, [entry(1, deadline=START)])
    assert sorted(await store.claim_overdue(START + 1, START + 10, 10)) == ["t1", "t2", "t3"]
    await append_durably(store, "t2", [entry(2, deadline=START + 90)], None)
    await store.postpone(["t1", "t2", "gone"], START + 50)
    assert await store.claim_overdue(START + 50, START + 60, 10) == ["t3"]
    assert sorted(await store.claim_overdue(START + 51, START + 200, 10)) == ["t1"]
    assert await store.claim_overdue(START + 91, START + 200, 10) == ["t3", "t2"]


async def test_a_table_has_its_new_deadline_and_a_finished_one_none(store: SqlTableStore) -> None:
    for table_id in ("t1", "t2", "t3"):
        await opened(store, table_id, [entry(1, deadline=START)])
    assert len(await store.claim_overdue(START + 1, START + 100, 10)) == 3
    await append_durably(store, "t1", [entry(2, deadline=START + 10), entry(3, deadline=START + 20)], None)
    await append_durably(store, "t2", [entry(2, deadline=0)], TableChange(1, finished=True))
    assert await store.claim_overdue(START + 20, START + 50, 10) == []
    assert await store.claim_overdue(START + 21, START + 50, 10) == ["t1"]
    assert sorted(await store.claim_overdue(START + 10**9, START + 10**9, 10)) == ["t1", "t3"]


async def test_a_concurrent_append_keeps_the_new_time_of_its_reports(sqlite_url: str) -> None:
    """On PostgreSQL a lock keeps the row as it is."""

    def move_on(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("UPDATE tables"):
            with sqlite3.connect(sqlite_url.removeprefix("sqlite:///")) as other:
                other.execute("UPDATE tables SET reports_at = ? WHERE table_id = 't1'", [LATE + 50])

    database = open_database(sqlite_url)
    async with running(store_on(database)) as store:
        for table_id in ("t1", "t2"):
            await opened(store, table_id)
            await append_durably(store, table_id, [entry(2, at=START)], DUE)
        with before_each_statement(move_on):
            assert await store.claim_unreported(LATE, LATE + 5, 10) == ["t2"]
        assert await store.claim_unreported(LATE + 49, LATE + 60, 10) == ["t2"]
    await database.close()


async def test_an_engine_that_starts_knows_the_deadlines_and_turns_of_open_tables(
    store: SqlTableStore, database_url: str
) -> None:
    for table_id in ("t1", "t2", "t3", "t4"):
        await opened(store, table_id)
    await append_durably(store, "t1", [entry(2, deadline=START + 2)], None, Turn(0b10, 0b01))
    await append_durably(store, "t2", [entry(2, deadline=START + 9), entry(3, deadline=START + 1)], None, Turn(0b100))
    await append_durably(store, "t3", [entry(2, deadline=0)], TableChange(1, finished=True))
    async with another_store(database_url) as started:
        assert await started.statuses(["t1", "t2", "t3", "t4"]) == {
            "t1": TableStatus("open", START + 2, Turn(0b10, 0b01)),
            "t2": TableStatus("open", START + 1, Turn(0b100)),
            "t3": TableStatus("finished"),
            "t4": TableStatus("open", START, Turn()),
        }
        assert await started.claim_overdue(START + 2, START + 50, 10) == ["t4", "t2"]
        assert await started.claim_overdue(START + 3, START + 50, 10) == ["t1"]
        assert await started.claim_overdue(START + 50, START + 60, 10) == []


async def test_an_append_that_lost_a_race_changes_no_deadline(store: SqlTableStore) -> None:
    await opened(store, "t1")
    await append_durably(store, "t1", [entry(2, deadline=START + 5)], None)
    assert await store.claim_overdue(START, START + 50, 10) == []
    with pytest.raises(SequenceTaken):
        await append_durably(store, "t1", [entry(2, deadline=START - 5)], None)
    assert await store.claim_overdue(START, START + 50, 10) == []
    assert await store.claim_overdue(START + 6, START + 50, 10) == ["t1"]


class LosingThreads(SqliteThreads):
    """Threads whose transaction fails at its commit, or whose answer is lost after it."""

    fails = loses_answer = False

    async def write(self, change: Callable[[Connection], Any]) -> Any:
        result = await super().write(self._possibly_failing(change))
        if self.loses_answer:
            raise TimeoutError
        return result

    def start_write(self, change: Callable[[sqlite3.Connection], Any], done: Callback[Any]) -> None:
        def possibly_lost(outcome: Any) -> None:
            done(TimeoutError() if self.loses_answer else outcome)

        super().start_write(self._possibly_failing(change), possibly_lost)

    def _possibly_failing(self, change: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def failing(connection: Any) -> None:
            change(connection)
            raise TimeoutError

        return failing if self.fails else change


@pytest.fixture
async def losing(sqlite_url: str) -> AsyncIterator[LosingThreads]:
    threads = LosingThreads(make_url(sqlite_url), TRANSACTION_SECONDS)
    yield threads
    await threads.close()


async def test_the_only_engine_knows_the_deadlines_after_a_commit_that_failed_or_whose_answer_was_lost(
    losing: LosingThreads,
) -> None:
    async with running(store_on(Database(losing))) as store:
        for table_id in ("t1", "t2"):
            await opened(store, table_id)
        await store.prepare(make_config(table_id="t3"), START)
        assert await store.claim_overdue(START, START, 10) == []
        late, early = START + 100, START - 100
        losing.fails = True
        with pytest.raises(Unavailable):
            await append_durably(store, "t1", [entry(2, deadline=late)], DUE)
        with pytest.raises(Unavailable):
            await append_durably(store, "t2", [entry(2, deadline=0)], TableChange(1, finished=True))
        losing.fails = False
        assert await store.claim_overdue(START + 1, START + 1, 10) == ["t1", "t2"]
        losing.loses_answer = True
        with pytest.raises(Unavailable):
            await append_durably(store, "t1", [entry(2, deadline=early)], None)
        with pytest.raises(Unavailable):
            await store.open(make_config(table_id="t3"), [entry(1, deadline=early + 1)])
        losing.loses_answer = False
        assert await store.claim_overdue(early + 2, late, 10) == ["t1", "t3"]


async def test_an_append_to_sqlite_stores_no_deadline(sqlite_url: str) -> None:
    database = open_database(sqlite_url)
    async with running(store_on(database)) as store:
        await opened(store)
        await append_durably(store, "t1", [entry(2, deadline=START + 9)], None)
        assert await execute(database, select(DEADLINES)) == []
        assert await store.claim_overdue(START + 10, START + 10, 1) == ["t1"]
    await database.close()


async def test_reports_are_claimed_some_time_after_they_became_due(store: SqlTableStore) -> None:
    for table_id in ("t1", "t2"):
        await opened(store, table_id)
    await append_durably(store, "t1", [entry(2, at=START)], DUE)
    due = START + REPORT_MILLISECONDS
    assert await store.claim_unreported(due, due, 10) == []
    assert await store.claim_unreported(due + 1, due + 50, 10) == ["t1"]
    assert await store.claim_unreported(due + 50, due + 50, 10) == []
    assert await store.claim_unreported(due + 51, due + 90, 10) == ["t1"]
    await store.set_reports_done("t1", 1)
    assert await store.claim_unreported(due + 10**6, due, 10) == []
    await append_durably(store, "t1", [entry(3, at=START + 10**6)], TableChange(2, finished=True))
    assert await store.claim_unreported(due + 10**6, due, 10) == []
    assert await store.claim_unreported(due + 10**6 + 1, due, 10) == ["t1"]


@either_claim
async def test_a_claim_excludes_other_engines_for_a_time(
    two_stores: tuple[SqlTableStore, SqlTableStore], claim: Claim
) -> None:
    until = LATE + 2_000
    claims = await asyncio.gather(*(claim(store, LATE, until, 3) for store in two_stores * 2))
    found = [table_id for claimed in claims for table_id in claimed]
    rest = await claim(two_stores[0], LATE, until, 10)
    assert sorted(found + rest) == [f"t{number}" for number in range(10)]
    assert await claim(two_stores[1], until, until, 10) == []
    assert len(await claim(two_stores[1], until + 1, until + 1, 100)) == 10


@either_claim
async def test_a_claim_skips_locked_rows(
    two_stores: tuple[SqlTableStore, SqlTableStore], postgres_url: str, claim: Claim
) -> None:
    """A locked row is in use by another engine."""
    changing = open_database(postgres_url)
    async with held_transaction(changing) as connection:
        for table in (DEADLINES, TABLES):
            await connection.execute(select(table).where(table.c.table_id == "t2").with_for_update())
        claimed = await within_timeout(claim(two_stores[0], LATE, LATE, 10))
        assert sorted(claimed) == [f"t{number}" for number in range(10) if number != 2]
    assert "t2" in await claim(two_stores[0], LATE, LATE, 10)
    await changing.close()
