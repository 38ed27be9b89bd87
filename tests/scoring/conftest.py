"""A migrated ledger is made once and copied; each test gets one of its own."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from croupier.runtime.schema_versions import migrate_database
from tests.databases import copy_database
from tests.scoring.house import House, Keys, open_house


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
    """A new database with the ledger's tables: SQLite, or what the test is parametrised with."""
    if getattr(request, "param", "sqlite") == "sqlite":
        return f"sqlite:///{request.getfixturevalue('database_file')}"
    url: str = request.getfixturevalue("new_database")("croupier.scoring")
    return url


@pytest.fixture
async def house(keys: Keys, database_file: Path) -> AsyncIterator[House]:
    """On SQLite: nothing between the calls and the ledger differs by database."""
    async with open_house(keys, f"sqlite:///{database_file}") as house:
        yield house
