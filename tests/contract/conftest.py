"""An engine process for all tests, and a new one for a test that ends it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from croupier.runtime.database.schema_versions import migrate_database
from tests.contract.deployment import EngineClient, EngineProcess, connected


@contextmanager
def running_engine(folders: pytest.TempPathFactory, *flags: str) -> Iterator[EngineProcess]:
    engine = EngineProcess.new(folders.mktemp("engine")).start(*flags)
    try:
        yield engine
    finally:
        engine.kill()


@pytest.fixture(scope="session")
def shared_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineProcess]:
    with running_engine(tmp_path_factory) as engine:
        yield engine


@pytest.fixture
async def client(shared_engine: EngineProcess) -> AsyncIterator[EngineClient]:
    async with connected(shared_engine) as client:
        yield client


@pytest.fixture
def own_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineProcess]:
    with running_engine(tmp_path_factory) as engine:
        yield engine


@pytest.fixture(scope="session")
def engine_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database file with the engine's schema, to be copied."""
    file = tmp_path_factory.mktemp("engine-file") / "migrated.db"
    asyncio.run(migrate_database(f"sqlite:///{file}", ["croupier.engine"]))
    return file
