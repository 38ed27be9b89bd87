"""The store on a real SQLite file."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from prometheus_client import CollectorRegistry
from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.engine.log import Entry, TableConfig
from croupier.engine.metrics import EngineMetrics, engine_metrics
from croupier.engine.schema import METADATA
from croupier.engine.sql_store import SqlTableStore
from croupier.engine.store import SequenceTaken, StoredTable, TableMark
from croupier.games.actions import Pass
from croupier.games.interface import SeatActed
from croupier.runtime.database import is_reachable, open_database
from croupier.runtime.schema_versions import migrate
from tests.databases import copy_database
from tests.engine.fakes import START
from tests.engine.play import make_config, soon, whole_log


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("engine") / "migrated.db"

    async def make() -> None:
        database = open_database(f"sqlite+aiosqlite:///{path}")
        await migrate(database, "croupier.engine")
        await database.dispose()

    asyncio.run(make())
    return path


@pytest.fixture
async def database(migrated: Path, tmp_path: Path) -> AsyncIterator[AsyncEngine]:
    database = open_database(f"sqlite+aiosqlite:///{copy_database(migrated, tmp_path / 'engine.db')}")
    yield database
    await database.dispose()


@pytest.fixture
def metrics() -> EngineMetrics:
    return engine_metrics(CollectorRegistry())


@pytest.fixture
def idle(database: AsyncEngine, metrics: EngineMetrics) -> SqlTableStore:
    """A store that commits nothing yet."""
    return SqlTableStore(database, metrics)


@pytest.fixture
async def store(idle: SqlTableStore) -> AsyncIterator[SqlTableStore]:
    committing = asyncio.create_task(idle.run())
    yield idle
    idle.close()
    await soon(committing)


def entry(sequence: int, request: str = "") -> Entry:
    return Entry(sequence, START + sequence, START, SeatActed(0, Pass()), request_id=request)


async def opened(store: SqlTableStore, table_id: str = "t1") -> TableConfig:
    config = make_config(table_id=table_id)
    await store.prepare(config, START)
    assert await store.open(config, [entry(1)])
    return config


async def loaded(store: SqlTableStore, table_id: str = "t1") -> StoredTable:
    stored = await store.load(table_id)
    assert stored
    return stored


async def test_a_whole_log_comes_back_as_it_was_stored(store: SqlTableStore, seed: int) -> None:
    config = make_config("thulla", 4, options={"best_of": 3})
    log = whole_log(config, Random(seed))
    assert await store.prepare(config, START) == config
    assert await store.open(config, log[:1])
    for number in range(1, len(log), 7):
        await store.append("t1", log[number : number + 7], None)
    assert await loaded(store) == StoredTable("open", config, tuple(log))
    assert await store.entries_after("t1", 5) == tuple(log[5:])
    assert await store.entries_after("t1", len(log)) == ()


async def test_preparing_again_gives_what_was_prepared_first(store: SqlTableStore) -> None:
    first = make_config(seed=b"1" * 32)
    assert await store.prepare(first, START) == first
    assert await store.prepare(make_config(seed=b"2" * 32), START + 5) == first


async def test_preparing_at_the_same_time_gives_all_the_same_seed(store: SqlTableStore) -> None:
    kept = await asyncio.gather(*(store.prepare(make_config(seed=bytes([n]) * 32), START) for n in range(8)))
    assert len({config.seed for config in kept}) == 1


async def test_a_table_is_opened_once(store: SqlTableStore) -> None:
    config = make_config()
    assert not await store.open(config, [entry(1)])
    await store.prepare(config, START)
    assert (await loaded(store)).status == "prepared"
    outcomes = await asyncio.gather(*(store.open(config, [entry(1)]) for _ in range(4)))
    assert sorted(outcomes) == [False, False, False, True]
    assert (await loaded(store)).entries == (entry(1),)


async def test_what_waits_is_committed_together(idle: SqlTableStore, metrics: EngineMetrics) -> None:
    for number in range(5):
        await opened(idle, f"t{number}")
    appends = [asyncio.create_task(idle.append(f"t{number}", [entry(2), entry(3)], None)) for number in range(5)]
    await asyncio.sleep(0)
    committing = asyncio.create_task(idle.run())
    await soon(asyncio.gather(*appends))
    assert metrics.registry.get_sample_value("croupier_commit_rows_count") == 1
    assert metrics.registry.get_sample_value("croupier_commit_rows_sum") == 10
    assert metrics.registry.get_sample_value("croupier_append_seconds_count") == 5
    idle.close()
    await soon(committing)


async def test_one_that_lost_a_race_harms_no_other_of_its_commit(idle: SqlTableStore) -> None:
    for number in range(4):
        await opened(idle, f"t{number}")
    appends = [
        idle.append("t0", [entry(2)], None),
        idle.append("t1", [entry(1)], TableMark(9, finished=True)),
        idle.append("t2", [entry(2)], TableMark(1, finished=True)),
        idle.append("t3", [entry(2, "first"), entry(3)], None),
        idle.append("t3", [entry(2, "second")], None),
        idle.append("nowhere", [entry(1)], None),
    ]
    waiting = [asyncio.create_task(append) for append in appends]
    await asyncio.sleep(0)
    committing = asyncio.create_task(idle.run())
    outcomes = await soon(asyncio.gather(*waiting, return_exceptions=True))
    assert [type(outcome) for outcome in outcomes] == [
        *(type(None), SequenceTaken, type(None), type(None)),
        *(SequenceTaken, SequenceTaken),
    ]
    assert [len((await loaded(idle, f"t{number}")).entries) for number in range(4)] == [2, 1, 2, 3]
    assert await idle.statuses(["t0", "t1", "t2", "nowhere"]) == {"t0": "open", "t1": "open", "t2": "finished"}
    assert (await loaded(idle, "t3")).entries[1].request_id == "first"
    idle.close()
    await soon(committing)


async def test_an_append_of_several_entries_is_stored_whole_or_not_at_all(store: SqlTableStore) -> None:
    await opened(store)
    await store.append("t1", [entry(2, "theirs")], None)
    with pytest.raises(SequenceTaken):
        await store.append("t1", [entry(2, "mine"), entry(3, "mine")], TableMark(5, finished=True))
    with pytest.raises(SequenceTaken):
        await store.append("t1", [entry(3), entry(2)], None)
    assert [each.request_id for each in (await loaded(store)).entries] == ["", "theirs"]
    assert await store.unreported_table_ids() == []


async def test_more_than_one_commit_can_carry_is_stored_all_the_same(
    idle: SqlTableStore, metrics: EngineMetrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("croupier.engine.sql_store.LARGEST_COMMIT_APPENDS", 3)
    await opened(idle)
    appends = [asyncio.create_task(idle.append("t1", [entry(number)], None)) for number in range(2, 12)]
    await asyncio.sleep(0)
    idle.close()
    await soon(idle.run())
    await soon(asyncio.gather(*appends))
    assert metrics.registry.get_sample_value("croupier_commit_rows_count") == 4
    assert len((await loaded(idle)).entries) == 11


async def test_an_append_whose_caller_has_gone_is_stored(idle: SqlTableStore) -> None:
    await opened(idle)
    append = asyncio.create_task(idle.append("t1", [entry(2)], None))
    await asyncio.sleep(0)
    append.cancel()
    idle.close()
    await soon(idle.run())
    assert len((await loaded(idle)).entries) == 2


async def test_whoever_waits_hears_that_the_database_is_gone(store: SqlTableStore, database: AsyncEngine) -> None:
    await opened(store)
    async with database.begin() as connection:
        await connection.execute(text("ALTER TABLE entries RENAME TO elsewhere"))
    with pytest.raises(SQLAlchemyError):
        await soon(store.append("t1", [entry(2)], None))
    async with database.begin() as connection:
        await connection.execute(text("ALTER TABLE elsewhere RENAME TO entries"))
    await soon(store.append("t1", [entry(2)], None))


async def test_a_failure_of_the_database_names_no_card_and_no_seed(store: SqlTableStore, database: AsyncEngine) -> None:
    await opened(store)
    async with database.begin() as connection:
        await connection.execute(text("ALTER TABLE entries RENAME TO elsewhere"))
    log = whole_log(make_config(), Random(1))
    with pytest.raises(SQLAlchemyError) as failure:
        await soon(store.append("t1", log[1:2], None))
    assert "play" not in str(failure.value)
    async with database.begin() as connection:
        await connection.execute(text("ALTER TABLE tables RENAME TO gone"))
    with pytest.raises(SQLAlchemyError) as failure:
        await store.prepare(make_config(table_id="t2", seed=b"SECRETSECRETSECRETSECRETSECRETSE"), START)
    assert "SECRET" not in str(failure.value)


async def test_statuses_and_reports_follow_the_marks(store: SqlTableStore) -> None:
    for table_id in ("t1", "t2", "t3"):
        await opened(store, table_id)
    await store.prepare(make_config(table_id="t4"), START)
    await store.append("t1", [entry(2)], TableMark(2, finished=False))
    await store.append("t2", [entry(2)], TableMark(1, finished=True))
    assert await store.open_table_ids() == ["t1", "t3"]
    assert await store.statuses(["t1", "t2", "t3", "t4", "t5"]) == {
        "t1": "open",
        "t2": "finished",
        "t3": "open",
        "t4": "prepared",
    }
    assert await store.statuses([]) == {}
    assert await store.unreported_table_ids() == ["t1", "t2"]
    await store.set_reports_done("t1", 2)
    await store.set_reports_done("t1", 1)
    assert await store.reports_done("t1") == 2
    assert await store.unreported_table_ids() == ["t2"]


async def test_an_unknown_table_is_none(store: SqlTableStore) -> None:
    assert await store.load("nowhere") is None
    assert await store.entries_after("nowhere", 0) == ()


async def test_two_stores_on_one_file_see_each_other(store: SqlTableStore, database: AsyncEngine) -> None:
    await opened(store)
    other = SqlTableStore(open_database(str(database.url)), engine_metrics(CollectorRegistry()))
    committing = asyncio.create_task(other.run())
    outcomes = await asyncio.gather(
        *(each.append("t1", [entry(2)], None) for each in (store, other)), return_exceptions=True
    )
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["NoneType", "SequenceTaken"]
    assert await other.entries_after("t1", 0) == await store.entries_after("t1", 0)
    other.close()
    await soon(committing)
    await other._engine.dispose()


async def test_commits_survive_a_loss_of_power(database: AsyncEngine) -> None:
    async with database.connect() as connection:
        for pragma, value in (("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1)):
            assert (await connection.execute(text(f"PRAGMA {pragma}"))).scalar_one() == value
    assert await is_reachable(database)


async def test_migrations_make_what_the_schema_says_and_nothing_the_second_time(tmp_path: Path) -> None:
    database = open_database(f"sqlite+aiosqlite:///{tmp_path / 'new.db'}")

    def made(connection: Connection) -> tuple[object, object]:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "version_table": "engine_schema_version"}
        )
        tables = {
            name: (
                [str(column) for column in inspect(connection).get_columns(name)],
                inspect(connection).get_indexes(name),
            )
            for name in inspect(connection).get_table_names()
        }
        return compare_metadata(context, METADATA), tables

    seen = []
    for _ in range(2):
        await migrate(database, "croupier.engine")
        async with database.connect() as connection:
            seen.append(await connection.run_sync(made))
    differences, tables = seen[0]
    assert differences == []
    assert seen[1] == seen[0]
    assert isinstance(tables, dict)
    assert set(tables) == {"tables", "entries", "engine_schema_version"}
    await database.dispose()
