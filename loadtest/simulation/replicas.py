"""Lobby and scoring services, wired by their own assemblies, on the simulated network and databases."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from prometheus_client import CollectorRegistry

from croupier.lobby.api.engine_channel import EngineChannel
from croupier.lobby.api.servicer import OPEN_METHODS
from croupier.lobby.assembly import Lobby
from croupier.lobby.assembly import assemble as assemble_lobby
from croupier.lobby.settings import LobbySettings
from croupier.runtime.admission.budget import MILLISECOND, Budget
from croupier.runtime.identity.tokens import (
    ENGINE_CONTROL_AUDIENCE,
    PLAYER_AUDIENCE,
    SCORING_CONTROL_AUDIENCE,
    SERVICE_TOKEN_SECONDS,
    TokenIssuer,
)
from croupier.runtime.observation.outage_log import OutageLog
from croupier.scoring.__main__ import servicers
from loadtest.simulation.engine_ports import SimulatedLogger
from loadtest.simulation.replica import (
    DRAIN_SECONDS,
    ENGINE_CONTROL,
    ENGINE_KEY,
    LOBBY,
    LOBBY_KEY,
    SCORING,
    SCORING_CONTROL,
    Replica,
)


class LobbyReplica(Replica):
    """A lobby."""

    kind = "lobby"
    lobby: Lobby | None = None

    def pending(self) -> Mapping[str, int]:
        return self.lobby.pending() if self.lobby is not None else {}

    async def run(self) -> None:
        environment, registry = self.environment, CollectorRegistry()
        logger = SimulatedLogger(self.process.name, environment.findings)
        settings = LobbySettings(
            database="",
            signing_key=Path("unused"),
            engine_control="unused:1",
            action_seconds=5,
            reserve_seconds=3,
            access_token_seconds=35,
        )
        issuer = TokenIssuer(LOBBY_KEY, ENGINE_CONTROL_AUDIENCE, SERVICE_TOKEN_SECONDS, self.clock)
        channel = environment.network.channel(self.process, ENGINE_CONTROL)
        outages = OutageLog("the engine", logger, self.clock)
        engine = EngineChannel(channel, issuer, settings.engine_timeout_seconds, outages)
        self.lobby = lobby = assemble_lobby(
            settings,
            environment.access[self.kind],
            engine,
            LOBBY_KEY,
            self.random,
            self.clock,
            Budget("sign_ins", 0, 1, lambda: self.clock() * MILLISECOND),
            registry,
            logger,
        )
        work = [asyncio.create_task(each()) for each in lobby.background_tasks().values()]
        server = self.listen(
            LOBBY, lobby.add_to, self.interceptor(LOBBY_KEY, PLAYER_AUDIENCE, self.clock, OPEN_METHODS)
        )
        await self._stopped.wait()
        lobby.end_streams()
        await server.stop(DRAIN_SECONDS)
        for task in work:
            task.cancel()
        await asyncio.gather(*work, return_exceptions=True)


class ScoringReplica(Replica):
    """A scoring service."""

    kind = "scoring"

    async def run(self) -> None:
        add_players, add_control = servicers(
            self.environment.access[self.kind], CollectorRegistry(), ENGINE_KEY.public_key(), self.clock
        )
        servers = [
            self.listen(SCORING, add_players, self.interceptor(LOBBY_KEY, PLAYER_AUDIENCE, self.clock)),
            self.listen(
                SCORING_CONTROL, add_control, self.interceptor(ENGINE_KEY, SCORING_CONTROL_AUDIENCE, self.clock)
            ),
        ]
        await self._stopped.wait()
        await asyncio.gather(*(server.stop(DRAIN_SECONDS) for server in servers))
