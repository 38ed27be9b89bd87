"""Lobbies on one database, one after the other or side by side, like processes."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from prometheus_client import CollectorRegistry

from croupier.lobby.assembly import Lobby, assemble
from croupier.lobby.engine_port import EnginePort
from croupier.runtime.database import open_database
from croupier.runtime.identity import Clock
from tests.lobby.fakes import FakeClock, SilentLogger, settings


@dataclass(slots=True)
class House:
    """Opens lobbies on one database, one after the other or side by side, like processes."""

    url: str
    engine: EnginePort
    clock: FakeClock
    source: random.Random
    key: Ed25519PrivateKey
    logger: SilentLogger

    @asynccontextmanager
    async def lobby(self, clock: Clock | None = None, **changes: Any) -> AsyncIterator[Lobby]:
        """A lobby, perhaps by a clock of its own; leaving the block is its end, without any farewell."""
        database = open_database(self.url)
        made = assemble(
            settings(**changes),
            database,
            self.engine,
            self.key,
            self.source,
            clock or self.clock,
            CollectorRegistry(),
            self.logger,
        )
        try:
            yield made
        finally:
            await database.dispose()
