"""Fixtures: an engine on fakes with a virtual clock, and real databases."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from croupier.engine.metrics import EngineMetrics
from croupier.engine.storage.sql_store import SqlTableStore
from croupier.engine.tables.registry import Tables
from croupier.engine.tables.table import Table
from croupier.runtime.database.database import Database, open_database
from croupier.runtime.database.schema_versions import migrate_database
from tests.databases import copy_database
from tests.engine.databases import running, store_on
from tests.engine.fakes import EngineHarness, FakeClock, FakeScoring, MemoryTableStore
from tests.engine.play import make_config, open_table


@pytest.fixture
async def engine() -> EngineHarness:
    clock = FakeClock()
    clock.drive()
    return EngineHarness(clock, MemoryTableStore(), FakeScoring())


@pytest.fixture
async def tables(engine: EngineHarness) -> Tables:
    """Return tables with t1 in memory, at which p0, p1 and p2 have seats."""
    await open_table(engine, make_config(seat_count=3))
    tables = engine.tables(3)
    await tables.get("t1")
    return tables


@pytest.fixture
async def table(tables: Tables) -> Table:
    return await tables.get("t1")


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database file with the schema, to be copied: migrating takes longer than most tests."""
    file = tmp_path_factory.mktemp("engine") / "migrated.db"
    asyncio.run(migrate_database(f"sqlite:///{file}", ["croupier.engine"]))
    return file


@pytest.fixture
def sqlite_url(migrated_file: Path, tmp_path: Path) -> str:
    return f"sqlite:///{copy_database(migrated_file, tmp_path / 'engine.db')}"


@pytest.fixture
def postgres_url(new_database: Callable[..., str]) -> str:
    return new_database("croupier.engine")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def database_url(request: pytest.FixtureRequest) -> str:
    url: str = request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url")
    return url


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    database = open_database(database_url)
    yield database
    await database.close()


@pytest.fixture
def metrics() -> EngineMetrics:
    return EngineMetrics(CollectorRegistry())


@pytest.fixture
def idle(database: Database, metrics: EngineMetrics) -> SqlTableStore:
    """Return a store that does not commit yet."""
    return store_on(database, metrics=metrics)


@pytest.fixture
async def store(idle: SqlTableStore) -> AsyncIterator[SqlTableStore]:
    async with running(idle):
        yield idle
