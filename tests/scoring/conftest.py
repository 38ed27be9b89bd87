"""Fixtures of scoring; each test has its own copy of a database that is migrated once."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from croupier.runtime.database.database import Database
from croupier.runtime.server.service import now_milliseconds
from croupier.scoring.ledger import Ledger
from tests.scoring.deployment import Keys, ScoringHarness, open_harness


@pytest.fixture
def package() -> str:
    return "croupier.scoring"


@pytest.fixture
def ledger(database: Database) -> Ledger:
    return Ledger(database, now_milliseconds)


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    return Keys.new(tmp_path_factory.mktemp("keys"))


@pytest.fixture
async def harness(keys: Keys, database_file: Path) -> AsyncIterator[ScoringHarness]:
    """Run the service on SQLite; only tests of the ledger depend on the kind of database."""
    async with open_harness(keys, f"sqlite:///{database_file}") as harness:
        yield harness
