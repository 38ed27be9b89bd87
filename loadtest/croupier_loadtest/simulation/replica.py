"""A replica of a service, with its starts and ends; lobby and scoring, wired by their own assemblies."""

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from prometheus_client import CollectorRegistry
from sqlalchemy.exc import SQLAlchemyError

from croupier.lobby.api.engine_channel import EngineChannel
from croupier.lobby.api.servicer import OPEN_METHODS
from croupier.lobby.assembly import Lobby
from croupier.lobby.assembly import assemble as assemble_lobby
from croupier.lobby.settings import LobbySettings
from croupier.runtime.admission.budget import MILLISECOND, Budget
from croupier.runtime.admission.limits import Limits
from croupier.runtime.errors import ServiceError
from croupier.runtime.identity import tokens
from croupier.runtime.observation.metrics import RpcMetrics
from croupier.runtime.observation.outage_log import OutageLog
from croupier.runtime.server.calls import Calls
from croupier.runtime.server.grpc_server import CLOSE_SECONDS
from croupier.runtime.server.interceptor import CallInterceptor
from croupier.runtime.server.tasks import end_tasks
from croupier.scoring.__main__ import servicers
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.simulation.database import SimulatedDatabase
from croupier_loadtest.simulation.environment import Environment
from croupier_loadtest.simulation.findings import Findings
from croupier_loadtest.simulation.loop import PROCESS, Process
from croupier_loadtest.simulation.network import SimulatedChannel, SimulatedServer

DRAIN_SECONDS = 10
GRACE_SECONDS = (DRAIN_SECONDS - CLOSE_SECONDS) / 2
LAST_STEPS_SECONDS = 0.01
"""The time for cancelled tasks to end."""
MAX_STOP_SECONDS = 15.0
"""The time limit of a replica to stop."""
ENGINE, ENGINE_CONTROL, LOBBY = "engine", "engine-control", "lobby"
SCORING, SCORING_CONTROL = "scoring", "scoring-control"
_EXPECTED = (SQLAlchemyError, ServiceError, ConnectionError)
"""Exceptions by which a service may end, since its database is unavailable."""


LOBBY_KEY, ENGINE_KEY = (
    Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name).digest()) for name in (b"lobby", b"engine")
)
"""The signing keys of services, the same in every run."""


class SimulatedLogger:
    """A logger that reports errors as violations: no simulated fault is an unexpected one."""

    def __init__(self, name: str, findings: Findings) -> None:
        self._name = name
        self._findings = findings

    def info(self, event: str, **fields: Any) -> None:
        """Ignore a message."""

    warning = debug = info

    def error(self, event: str, exc_info: object = None, **fields: Any) -> None:
        """Report a failure with a traceback."""
        if exc_info is not None:
            self._findings.add(Invariant.INTERNAL_ERROR, f"{self._name}: {event} {fields} {exc_info!r}")


class Replica:
    """One replica of a service, which is restarted after each end."""

    kind = ""

    def __init__(self, name: str, environment: Environment) -> None:
        self.name = name
        self.environment = environment
        self.starts = 0
        self.process = Process(name)
        self.process.alive = False
        self.random = environment.random(name)
        self._stopped = asyncio.Event()
        self._main: asyncio.Task[None] | None = None

    @property
    def database(self) -> SimulatedDatabase:
        """Its database."""
        return self.environment.databases[self.kind]

    def start(self) -> None:
        """Start a new process of the replica."""
        if self.process.alive:
            return
        self.starts += 1
        self.environment.trace.write("start", self.name, self.starts)
        self.process = Process(f"{self.name}#{self.starts}")
        self.process.kill_callbacks.append(self._disconnect)
        self._stopped = asyncio.Event()
        self._main = self.process.start(self._run_process())

    def _disconnect(self) -> None:
        self.environment.network.disconnect(self.process)
        self.database.forget(self.process)

    def kill(self) -> None:
        """End at once, as by SIGKILL."""
        if self.process.alive:
            self.environment.trace.write("kill", self.name)
            self.process.kill()

    async def stop(self) -> None:
        """Stop gracefully, as by SIGTERM; returns at the end."""
        process, main = self.process, self._main
        if not process.alive or main is None:
            return
        self.environment.trace.write("stop", self.name)
        process.later(DRAIN_SECONDS, process.kill)
        self._stopped.set()
        while process.alive and not main.done():
            _, late = await asyncio.wait([main], timeout=MAX_STOP_SECONDS)
            if late and process.alive:
                self.environment.findings.add(Invariant.RESOURCE_LEAKED, f"{self.name} does not stop")
                return

    async def _run_process(self) -> None:
        process = PROCESS.get()
        try:
            await self.run()
        except Exception as error:  # noqa: BLE001 - a process that fails at its start ends, and is restarted
            if not isinstance(error, _EXPECTED):
                self.environment.findings.add(Invariant.INTERNAL_ERROR, f"{self.name}: {error!r}")
        else:
            await asyncio.sleep(LAST_STEPS_SECONDS)
            if left := self._other_tasks(process):
                self.environment.findings.add(Invariant.RESOURCE_LEAKED, f"{self.name}: {left}")
        rest = self._other_tasks(process)
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)
        self.environment.trace.write("ended", self.name)
        process.kill()

    @staticmethod
    def _other_tasks(process: Process) -> list[asyncio.Task[Any]]:
        return [task for task in process.tasks if task is not asyncio.current_task() and not task.done()]

    async def run(self) -> None:
        """Serve until stopped."""
        raise NotImplementedError

    async def close(self) -> None:
        """End what remains of all processes of the replica, after the run."""

    def pending(self) -> Mapping[str, int]:
        """Return the numbers of resources in use by kind."""
        return {}

    def listen(
        self,
        address: str,
        add_to: Callable[[Any], None],
        key: Ed25519PrivateKey,
        audience: str,
        clock: tokens.Clock,
        open_methods: frozenset[str] = frozenset(),
        limits: Limits | None = None,
    ) -> SimulatedServer:
        """Open a port for callers with tokens that this key has signed."""
        verifier = tokens.TokenVerifier(key.public_key(), audience, clock)
        logger = SimulatedLogger(self.process.name, self.environment.findings)
        calls = Calls(verifier, RpcMetrics(CollectorRegistry()), logger, limits)
        server = SimulatedServer(self.environment.network, self.process, CallInterceptor(calls, open_methods))
        add_to(server)
        self.environment.network.listen(address, server)
        return server

    def clock(self) -> int:
        """Return the time by the replica's clock."""
        return self.environment.loop.now_milliseconds()


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
        issuer = tokens.TokenIssuer(LOBBY_KEY, tokens.ENGINE_CONTROL_AUDIENCE, tokens.SERVICE_TOKEN_SECONDS, self.clock)
        channel: Any = SimulatedChannel(environment.network, self.process, ENGINE_CONTROL)
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
        work = [asyncio.create_task(each()) for each in lobby.background_tasks.values()]
        server = self.listen(LOBBY, lobby.servicer.add_to, LOBBY_KEY, tokens.PLAYER_AUDIENCE, self.clock, OPEN_METHODS)
        await self._stopped.wait()
        lobby.end_streams()
        await server.stop(DRAIN_SECONDS)
        await end_tasks(work)


class ScoringReplica(Replica):
    """A scoring service."""

    kind = "scoring"

    async def run(self) -> None:
        add_players, add_control = servicers(
            self.environment.access[self.kind], CollectorRegistry(), ENGINE_KEY.public_key(), self.clock
        )
        servers = [
            self.listen(SCORING, add_players, LOBBY_KEY, tokens.PLAYER_AUDIENCE, self.clock),
            self.listen(SCORING_CONTROL, add_control, ENGINE_KEY, tokens.SCORING_CONTROL_AUDIENCE, self.clock),
        ]
        await self._stopped.wait()
        await asyncio.gather(*(server.stop(DRAIN_SECONDS) for server in servers))
