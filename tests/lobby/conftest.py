"""A lobby on a real SQLite file, with a fake clock and a fake engine."""

import asyncio
import os
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from croupier.lobby.assembly import Lobby
from croupier.lobby.storage.store import Store
from croupier.runtime.database.database import Database, open_database
from croupier.runtime.database.schema_versions import migrate_database
from tests.databases import copy_database
from tests.lobby.deployment import LobbyDeployment
from tests.lobby.fakes import FakeClock, FakeEngine


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database file with the schema, to be copied: a migration takes longer than most tests."""
    file = tmp_path_factory.mktemp("lobby") / "migrated.db"
    asyncio.run(migrate_database(f"sqlite:///{file}", ["croupier.lobby"]))
    return file


@pytest.fixture
def database_file(migrated_file: Path, tmp_path: Path) -> Path:
    return copy_database(migrated_file, tmp_path / "lobby.db")


@pytest.fixture
def database_url(request: pytest.FixtureRequest) -> str:
    """Return the URL of a new database with the lobby's tables, SQLite unless the test is parametrised."""
    if getattr(request, "param", "sqlite") == "sqlite":
        return f"sqlite:///{request.getfixturevalue('database_file')}"
    url: str = request.getfixturevalue("new_database")("croupier.lobby")
    return url


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    engine = open_database(database_url)
    yield engine
    await engine.close()


@pytest.fixture
def store(database: Database) -> Store:
    return Store(database, structlog.get_logger())


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """Return the seed of all random sources, and print the command that repeats the test."""
    seed = int(os.environ.get("CROUPIER_TEST_SEED", "20260101"))
    print(f"repeat with: CROUPIER_TEST_SEED={seed} .venv/bin/pytest '{request.node.nodeid}'")
    return seed


@pytest.fixture
def deployment(database_url: str, engine: FakeEngine, clock: FakeClock, seed: int) -> LobbyDeployment:
    return LobbyDeployment(database_url, engine, clock, random.Random(seed), Ed25519PrivateKey.generate())


@pytest.fixture
async def lobby(deployment: LobbyDeployment) -> AsyncIterator[Lobby]:
    async with deployment.lobby() as lobby:
        yield lobby
