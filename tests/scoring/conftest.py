"""Fixtures of scoring; each test has its own copy of a database that is migrated once."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from croupier.runtime.database.schema_versions import migrate_database
from tests.databases import copy_database
from tests.scoring.deployment import Keys, ScoringHarness, open_harness


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return Keys.new(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ledger") / "migrated.db"
    asyncio.run(migrate_database(f"sqlite:///{path}", ["croupier.scoring"]))
    return path


@pytest.fixture
def database_file(migrated: Path, tmp_path: Path) -> Path:
    return copy_database(migrated, tmp_path / "scoring.db")


@pytest.fixture
def database_url(request: pytest.FixtureRequest) -> str:
    """Return the URL of a new database with the ledger's tables, SQLite unless the test is parametrised."""
    if getattr(request, "param", "sqlite") == "sqlite":
        return f"sqlite:///{request.getfixturevalue('database_file')}"
    url: str = request.getfixturevalue("new_database")("croupier.scoring")
    return url


@pytest.fixture
async def harness(keys: Keys, database_file: Path) -> AsyncIterator[ScoringHarness]:
    """Run the service on SQLite; only tests of the ledger depend on the kind of database."""
    async with open_harness(keys, f"sqlite:///{database_file}") as harness:
        yield harness
