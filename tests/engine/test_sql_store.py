"""The store on SQLite and on PostgreSQL."""

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from random import Random
from unittest.mock import AsyncMock

import asyncpg
import pytest
from sqlalchemy import insert, text
from sqlalchemy.exc import SQLAlchemyError

from croupier.engine.core.fold import Turn
from croupier.engine.core.log import Entry
from croupier.engine.core.log_codec import UnreadableLog
from croupier.engine.metrics import EngineMetrics
from croupier.engine.storage.port import SequenceTaken, TableChange, TableStatus, append_durably
from croupier.engine.storage.schema import ENTRIES, METADATA
from croupier.engine.storage.sql_store import SqlTableStore
from croupier.runtime.database.database import TRANSACTION_SECONDS, Database, open_database
from croupier.runtime.database.schema_versions import migrate
from croupier.runtime.errors import Unavailable
from tests.databases import execute, on_postgresql
from tests.engine.databases import entries_of, entry, loaded, opened, running, sequences, store_on, without
from tests.engine.fakes import START, FakeClock
from tests.engine.play import make_config, whole_log, within_timeout
from tests.migrations import differences, migrate_to, up_to_date
from tests.query_plans import rows_read
from tests.waiting import settled

LATER = START + 60_000


async def test_migrations_create_the_current_schema(empty_url: str) -> None:
    async with up_to_date(empty_url, "croupier.engine") as database:
        assert await database.read(differences, METADATA, "engine_schema_version") == []
        assert not await migrate(database, "croupier.engine")


STORED_BY_0005 = (
    """INSERT INTO tables
        (table_id, status, game, rules_version, config, seed, created_at, reports_due, reports_done, reports_at)
        VALUES (:id, 'open', 'thulla', 1, '{}', :seed, 0, 0, 0, 0)""",
    "INSERT INTO entries (table_id, sequence, at, deadline, body) VALUES (:id, 1, 1, 5, '{}'), (:id, 2, 3, 7, '{}')",
    "INSERT INTO deadlines (table_id, at, to_act, away) VALUES (:id, 9, :to_act, :away)",
)


async def test_turns_of_open_tables_outlive_the_migration_that_stores_them_with_entries(empty_url: str) -> None:
    old = open_database(empty_url)
    await migrate_to(old, "croupier.engine", "0005")
    stored = {"t1": Turn(0b10, 0b01), "t2": Turn(0b01), "t3": None}
    for table_id, turn in stored.items():
        to_act, away = turn or (None, None)
        for statement in STORED_BY_0005:
            await execute(old, text(statement), {"id": table_id, "seed": b"s", "to_act": to_act, "away": away})
    await old.close()
    async with up_to_date(empty_url, "croupier.engine") as database, running(store_on(database)) as store:
        assert await store.statuses([*stored]) == {name: TableStatus("open", 7, turn) for name, turn in stored.items()}
        rest = [] if database.dialect == "sqlite" else [(each,) for each in stored]
        assert await execute(database, "SELECT table_id FROM deadlines ORDER BY table_id") == rest
        assert sorted(await store.claim_overdue(10, 20, 10)) == [*stored]
        first = await execute(database, "SELECT to_act, away FROM entries WHERE sequence = 1")
        assert first == [(None, None)] * 3


async def test_repeated_preparation_returns_the_same_seed(store: SqlTableStore) -> None:
    kept = await asyncio.gather(*(store.prepare(make_config(seed=bytes([n]) * 32), START) for n in range(8)))
    again = await store.prepare(make_config(seed=b"other"), START + 5)
    assert [*kept, again] == [make_config(seed=again.seed)] * 9


async def test_a_table_is_opened_once(store: SqlTableStore) -> None:
    config = make_config()
    assert not await store.open(config, [entry(1)])
    await store.prepare(config, START)
    assert (await loaded(store)).status == "prepared"
    outcomes = await asyncio.gather(*(store.open(config, [entry(1)]) for _ in range(4)))
    assert sorted(outcomes) == [False, False, False, True]
    assert (await loaded(store)).entries == (entry(1),)


async def test_the_turn_after_the_last_entry_is_stored_with_it_while_a_table_is_open(
    store: SqlTableStore, database: Database
) -> None:
    turns = Turn(0b01, 0b10), Turn(0b10), Turn(0b11, 0b11)
    for number, turn in enumerate(turns):
        config = make_config(table_id=f"t{number}")
        await store.prepare(config, START)
        assert await store.statuses([config.table_id]) == {config.table_id: TableStatus("prepared")}
        await store.open(config, [entry(1, deadline=START + 1)], turn)
    assert await store.statuses(["t0", "t2"]) == {
        "t0": TableStatus("open", START + 1, turns[0]),
        "t2": TableStatus("open", START + 1, turns[2]),
    }
    appends = [
        append_durably(store, "t0", [entry(2), entry(3, deadline=START + 3)], None, Turn(0b100)),
        append_durably(
            store, "t1", [entry(2, deadline=START + 2)], TableChange(1, finished=False), Turn(0b1000, 0b100)
        ),
        append_durably(store, "t2", [entry(2)], TableChange(1, finished=True), Turn()),
    ]
    await asyncio.gather(*appends)
    # As an engine of a version without turns has stored it.
    await execute(database, "UPDATE entries SET to_act = NULL, away = NULL WHERE table_id = 't1'")
    assert await store.statuses(["t0", "t1", "t2"]) == {
        "t0": TableStatus("open", START + 3, Turn(0b100)),
        "t1": TableStatus("open", START + 2),
        "t2": TableStatus("finished"),
    }


async def test_a_table_that_is_claimed_has_the_deadline_of_its_last_entry(store: SqlTableStore) -> None:
    await opened(store)
    await append_durably(store, "t1", [entry(2, deadline=START + 2)], None)
    assert await store.claim_overdue(LATER, LATER + 1, 10) == ["t1"]
    assert (await store.statuses(["t1"]))["t1"].deadline == START + 2


async def test_a_table_is_stored_as_it_is_opened(store: SqlTableStore) -> None:
    await store.prepare(make_config(seed=b"first"), START)
    opened_as = make_config(seat_count=4, seed=b"revised")
    assert await store.open(opened_as, [entry(1)])
    assert (await loaded(store)).config == opened_as


async def outcomes_of(
    store: SqlTableStore, *appends: tuple[str, Sequence[Entry], TableChange | None]
) -> list[BaseException | None]:
    """Return the outcomes of appends that wait when the store begins to commit."""
    waiting = [asyncio.create_task(append_durably(store, *append)) for append in appends]
    await settled()
    async with running(store):
        return await within_timeout(asyncio.gather(*waiting, return_exceptions=True))


@pytest.mark.parametrize(("max_appends", "commits"), [(500, 1), (2, 3)])
async def test_waiting_appends_are_committed_together_up_to_the_maximum(
    idle: SqlTableStore, metrics: EngineMetrics, monkeypatch: pytest.MonkeyPatch, max_appends: int, commits: int
) -> None:
    monkeypatch.setattr("croupier.engine.storage.group_commit.MAX_COMMIT_APPENDS", max_appends)
    names = [f"t{number}" for number in range(5)]
    for name in names:
        await opened(idle, name)
    await outcomes_of(idle, *((name, [entry(2), entry(3)], None) for name in names))
    assert [sequences(await loaded(idle, name)) for name in names] == [[1, 2, 3]] * 5
    assert metrics.registry.get_sample_value("croupier_commit_rows_count") == commits
    assert metrics.registry.get_sample_value("croupier_commit_rows_sum") == 10
    assert metrics.registry.get_sample_value("croupier_append_seconds_count") == 5


async def test_a_lost_race_does_not_affect_others_of_its_commit(idle: SqlTableStore) -> None:
    for number in range(4):
        await opened(idle, f"t{number}")
    outcomes = await outcomes_of(
        idle,
        ("t0", [entry(2)], None),
        ("t1", [entry(1), entry(2)], TableChange(9, finished=True)),
        ("t2", [entry(2)], TableChange(1, finished=True)),
        ("t3", [entry(2, "first"), entry(3)], None),
        ("t3", [entry(2, "second")], None),
        ("nowhere", [entry(1)], None),
    )
    won, lost = type(None), SequenceTaken
    assert [type(outcome) for outcome in outcomes] == [won, lost, won, won, lost, lost]
    assert [len((await loaded(idle, f"t{number}")).entries) for number in range(4)] == [2, 1, 2, 3]
    names = {name: found.status for name, found in (await idle.statuses(["t0", "t1", "t2", "nowhere"])).items()}
    assert names == {"t0": "open", "t1": "open", "t2": "finished"}
    assert (await loaded(idle, "t3")).entries[1].request_id == "first"
    assert await idle.claim_unreported(LATER, LATER, 10) == ["t2"]
    assert await idle.open_counts() == {("thulla", 1): 3}


async def test_an_append_of_a_cancelled_caller_is_stored(idle: SqlTableStore) -> None:
    await opened(idle)
    append = asyncio.create_task(append_durably(idle, "t1", [entry(2)], None))
    await settled()
    append.cancel()
    idle.commits.close()
    await within_timeout(idle.commits.run())
    assert len((await loaded(idle)).entries) == 2


async def test_a_failure_of_the_database_is_raised_without_cards_and_seeds_and_passes(
    store: SqlTableStore, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await opened(store)
    log = whole_log(make_config(), Random(1))
    async with without(database, "entries"):
        with pytest.raises((Unavailable, asyncpg.UndefinedTableError)) as failure:
            await within_timeout(append_durably(store, "t1", log[1:2], None))
    assert "play" not in f"{failure.value} {failure.value.__cause__}"
    await within_timeout(append_durably(store, "t1", log[1:2], None))
    monkeypatch.setattr(store, "find", AsyncMock(return_value=None))
    async with without(database, "tables"):
        with pytest.raises((SQLAlchemyError, Unavailable)) as failure:
            await store.prepare(make_config(table_id="t2", seed=b"SECRETSECRETSECRETSECRETSECRETSE"), START)
    assert "SECRET" not in f"{failure.value} {failure.value.__cause__}"


async def test_a_commit_to_a_file_that_is_locked_is_unavailable_and_passes(sqlite_url: str) -> None:
    clock, database = FakeClock(), open_database(sqlite_url)
    store = store_on(database)
    for table_id in ("t1", "t2"):
        await opened(store, table_id)
    async with running(store):
        with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as holder:
            holder.execute("BEGIN IMMEDIATE")
            clock.drive()
            append = asyncio.create_task(append_durably(store, "t1", [entry(2)], None))
            await settled()
            clock.advance(round(TRANSACTION_SECONDS * 1000))
            with pytest.raises(Unavailable):
                await within_timeout(append)
            holder.rollback()
        await within_timeout(append_durably(store, "t2", [entry(2)], None))
    assert sequences(await loaded(store, "t2")) == [1, 2]
    await database.close()


async def test_an_entry_of_an_unknown_format_is_refused_with_its_table(
    store: SqlTableStore, database: Database
) -> None:
    await opened(store)
    await opened(store, "t2")
    await execute(database, insert(ENTRIES).values(("t2", 2, START, 0, '{"t":"foo","v":2}')))
    expected = "log entry 2 of table t2: unknown type 'foo' version 2: this engine reads act 1"
    for read in (loaded(store, "t2"), entries_of(store, "t2", 1), store.entries_beyond({"t1": 0, "t2": 1}, 9)):
        with pytest.raises(UnreadableLog, match=expected) as refusal:
            await read
        assert refusal.value.table_id == "t2"
    assert sequences(await loaded(store)) == [1]


async def test_commits_to_a_file_survive_a_loss_of_power(sqlite_url: str) -> None:
    database = open_database(sqlite_url)
    for pragma, value in (("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1)):
        assert await execute(database, f"PRAGMA {pragma}") == [(value,)]
    assert await database.is_reachable()
    await database.close()


FILL = (
    """INSERT INTO tables
        (table_id, status, game, rules_version, config, seed, created_at, reports_due, reports_done, reports_at)
        SELECT 't' || n, 'open', 'thulla', 1, '{}', '', 0, 0, 0, 0 FROM generate_series(1, :tables) n""",
    """INSERT INTO entries (table_id, sequence, at, deadline, body, to_act, away)
        SELECT 't' || n, sequence, 0, 0, repeat(' ', 300), 1, 0
        FROM generate_series(1, :tables) n, generate_series(1, :entries) sequence""",
    "ANALYZE",
)


@on_postgresql
async def test_reads_of_many_tables_do_not_read_their_logs(database: Database, idle: SqlTableStore) -> None:
    tables, entries, seen = 300, 200, 100
    for statement in FILL:
        await execute(database, statement, {"tables": tables, "entries": entries} if ":" in statement else None)
    names = [f"t{number}" for number in range(1, seen + 1)]
    read = partial(rows_read, database, ENTRIES.name)
    # The planner too may read some, for the range of a column.
    few = 10
    known = dict.fromkeys(names, entries)
    assert await read(partial(idle.entries_beyond, known, 256)) <= few
    assert await read(partial(idle.log_after, "t1", entries - 1, 64)) <= few
    # The last one of each table is found, and then read.
    assert await read(partial(idle.statuses, names)) <= 2 * seen + few
