"""A lobby on a real SQLite file, with a clock and an engine of the tests."""

import asyncio
import os
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.lobby.assembly import Lobby
from croupier.lobby.store import Store
from croupier.runtime.database import open_database
from croupier.runtime.schema_versions import migrate_database
from tests.databases import copy_database
from tests.lobby.fakes import FakeClock, FakeEngine
from tests.lobby.house import House


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file with the schema, to be copied: migrating takes longer than most tests."""
    file = tmp_path_factory.mktemp("lobby") / "migrated.db"
    asyncio.run(migrate_database(f"sqlite:///{file}", ["croupier.lobby"]))
    return file


@pytest.fixture
def database_file(migrated_file: Path, tmp_path: Path) -> Path:
    return copy_database(migrated_file, tmp_path / "lobby.db")


@pytest.fixture
def database_url(request: pytest.FixtureRequest) -> str:
    """A new database with the lobby's tables: SQLite, or what the test is parametrised with (see `fakes`)."""
    if getattr(request, "param", "sqlite") == "sqlite":
        return f"sqlite:///{request.getfixturevalue('database_file')}"
    url: str = request.getfixturevalue("new_database")("croupier.lobby")
    return url


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[AsyncEngine]:
    engine = open_database(database_url)
    yield engine
    await engine.dispose()


@pytest.fixture
def store(database: AsyncEngine) -> Store:
    return Store(database)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """A seed for everything that is random."""
    chosen = int(os.environ.get("CROUPIER_TEST_SEED", "20260101"))
    print(f"repeat with: CROUPIER_TEST_SEED={chosen} .venv/bin/pytest '{request.node.nodeid}'")
    return chosen


@pytest.fixture
def house(database_url: str, engine: FakeEngine, clock: FakeClock, seed: int) -> House:
    return House(database_url, engine, clock, random.Random(seed), Ed25519PrivateKey.generate())


@pytest.fixture
async def lobby(house: House) -> AsyncIterator[Lobby]:
    async with house.lobby() as made:
        yield made
