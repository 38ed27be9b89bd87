"""A replica of a service, with its starts and ends."""

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from prometheus_client import CollectorRegistry
from sqlalchemy.exc import SQLAlchemyError

from croupier.runtime.admission.limits import Limits
from croupier.runtime.errors import ServiceError
from croupier.runtime.identity.tokens import Clock, TokenVerifier
from croupier.runtime.observation.metrics import RpcMetrics
from croupier.runtime.server.grpc_server import CLOSE_SECONDS
from croupier.runtime.server.interceptor import Authenticator, CallInterceptor
from loadtest.judge.violations import Invariant
from loadtest.simulation.database import SimulatedDatabase
from loadtest.simulation.engine_ports import SimulatedLogger
from loadtest.simulation.environment import Environment
from loadtest.simulation.loop import PROCESS, Process
from loadtest.simulation.network import SimulatedServer

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


def key_of(name: str) -> Ed25519PrivateKey:
    """Return the signing key of a service, the same in every run."""
    return Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest())


LOBBY_KEY, ENGINE_KEY = key_of("lobby"), key_of("engine")


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

    def interceptor(
        self,
        key: Ed25519PrivateKey,
        audience: str,
        clock: Clock,
        open_methods: frozenset[str] = frozenset(),
        limits: Limits | None = None,
    ) -> CallInterceptor:
        """Return the interceptor of a server."""
        verifier = TokenVerifier(key.public_key(), audience, clock)
        logger = SimulatedLogger(self.process.name, self.environment.findings)
        return CallInterceptor(Authenticator(verifier, open_methods), RpcMetrics(CollectorRegistry()), logger, limits)

    def listen(self, address: str, add_to: Callable[[Any], None], interceptor: CallInterceptor) -> SimulatedServer:
        """Open a port."""
        server = SimulatedServer(self.environment.network, self.process, interceptor)
        add_to(server)
        self.environment.network.listen(address, server)
        return server

    def clock(self) -> int:
        """Return the time by the replica's clock."""
        return self.environment.loop.now_milliseconds()
