"""A lobby on a real SQLite file, with a fake clock and a fake engine."""

import random
from collections.abc import AsyncIterator

import pytest
import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from croupier.lobby.assembly import Lobby
from croupier.lobby.storage.store import Store
from croupier.runtime.database.database import Database
from tests.lobby.fakes import FakeClock, FakeEngine, LobbyDeployment


@pytest.fixture
def package() -> str:
    return "croupier.lobby"


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
def deployment(database_url: str, engine: FakeEngine, clock: FakeClock, seed: int) -> LobbyDeployment:
    return LobbyDeployment(database_url, engine, clock, random.Random(seed), Ed25519PrivateKey.generate())


@pytest.fixture
async def lobby(deployment: LobbyDeployment) -> AsyncIterator[Lobby]:
    async with deployment.lobby() as lobby:
        yield lobby
