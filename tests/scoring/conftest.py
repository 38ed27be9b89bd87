"""A migrated ledger is made once and copied; each test gets one of its own."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from croupier.scoring.__main__ import opened_database
from tests.databases import copy_database
from tests.scoring.house import House, Keys, open_house


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return Keys.new(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ledger") / "migrated.db"

    async def migrate() -> None:
        async with opened_database(f"sqlite+aiosqlite:///{path}"):
            pass

    asyncio.run(migrate())
    return path


@pytest.fixture
def database_file(migrated: Path, tmp_path: Path) -> Path:
    return copy_database(migrated, tmp_path / "scoring.db")


@pytest.fixture
async def house(keys: Keys, database_file: Path) -> AsyncIterator[House]:
    async with open_house(keys, database_file) as house:
        yield house
