"""One engine process for all tests that only talk to it, and one of its own for a test that ends it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from croupier.runtime.schema_versions import migrate_database
from tests.contract.house import Engine, House, visit


@pytest.fixture(scope="session")
def shared_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    engine = Engine.new(tmp_path_factory.mktemp("engine")).start()
    yield engine
    engine.kill()


@pytest.fixture
async def house(shared_engine: Engine) -> AsyncIterator[House]:
    async with visit(shared_engine) as house:
        yield house


@pytest.fixture
def own_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    engine = Engine.new(tmp_path_factory.mktemp("own")).start()
    yield engine
    engine.kill()


@pytest.fixture(scope="session")
def engine_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file with the engine's schema, to be copied."""
    file = tmp_path_factory.mktemp("engine-file") / "migrated.db"
    asyncio.run(migrate_database(f"sqlite:///{file}", ["croupier.engine"]))
    return file
