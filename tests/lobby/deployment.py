"""Lobbies on one database, consecutive or concurrent, like processes."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from prometheus_client import CollectorRegistry

from croupier.lobby.assembly import Lobby, assemble
from croupier.lobby.settings import LobbySettings
from croupier.lobby.tables.engine_port import EnginePort
from croupier.runtime.admission.budget import MILLISECOND, Budget
from croupier.runtime.database.database import open_database
from croupier.runtime.identity.tokens import Clock
from tests.lobby.fakes import FakeClock


@dataclass(slots=True)
class LobbyDeployment:
    """The database, engine, clock and key that several lobbies share."""

    url: str
    engine: EnginePort
    clock: FakeClock
    source: random.Random
    key: Ed25519PrivateKey

    @asynccontextmanager
    async def lobby(self, clock: Clock | None = None, **changes: Any) -> AsyncIterator[Lobby]:
        """Run a lobby, by default with the shared clock; leaving the block ends it without a drain."""
        settings = LobbySettings(database="", signing_key=Path("unused"), engine_control="127.0.0.1:1", **changes)
        own_clock, registry, logger = clock or self.clock, CollectorRegistry(), structlog.get_logger()
        budget = Budget(
            "sign_ins", settings.sign_ins_per_second, settings.sign_in_burst, lambda: own_clock() * MILLISECOND
        )
        database = open_database(self.url)
        try:
            yield assemble(settings, database, self.engine, self.key, self.source, own_clock, budget, registry, logger)
        finally:
            await database.close()
