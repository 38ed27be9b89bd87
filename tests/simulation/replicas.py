"""Replicas of the three services, wired as their programs wire them, on the simulated network and databases."""

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from prometheus_client import CollectorRegistry
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.engine.assembly import Engine
from croupier.engine.attendance import Attendance
from croupier.engine.background import Background, end_tasks
from croupier.engine.caretaker import Caretaker, Retention
from croupier.engine.control_servicer import EngineControlServicer
from croupier.engine.fact_codec import StreamEncoder
from croupier.engine.follower import Follower
from croupier.engine.metrics import engine_metrics
from croupier.engine.reports import Reporter
from croupier.engine.scoring_channel import ScoringChannel
from croupier.engine.servicer import EngineServicer
from croupier.engine.services import EngineServices
from croupier.engine.shared_clock import SharedClock
from croupier.engine.sql_attendance import SqlAttendanceStore
from croupier.engine.sql_store import SqlTableStore
from croupier.engine.tables import Tables
from croupier.lobby.assembly import Lobby
from croupier.lobby.assembly import assemble as assemble_lobby
from croupier.lobby.engine_channel import EngineChannel
from croupier.lobby.servicer import OPEN_METHODS
from croupier.lobby.settings import LobbySettings
from croupier.runtime.identity import (
    ENGINE_CONTROL_AUDIENCE,
    PLAYER_AUDIENCE,
    SCORING_CONTROL_AUDIENCE,
    SERVICE_TOKEN_SECONDS,
    TokenIssuer,
    TokenVerifier,
)
from croupier.runtime.interceptor import Authenticator, CallInterceptor
from croupier.runtime.metrics import RpcMetrics
from croupier.scoring.ledger import Ledger
from croupier.scoring.metrics import LedgerMetrics
from croupier.scoring.records import Records
from croupier.scoring.servicer import ScoringControlServicer, ScoringServicer
from croupier_api.v1.scoring_pb2_grpc import (
    add_ScoringControlServiceServicer_to_server,
    add_ScoringServiceServicer_to_server,
)
from tests.simulation.database import SimulatedDatabase
from tests.simulation.loop import PROCESS, Process, VirtualLoop
from tests.simulation.network import Network, SimulatedServer
from tests.simulation.news import NewsHub, SimulatedNews
from tests.simulation.parts import SimulatedLogger, SimulatedThinkers, SimulatedWriter, is_database_fault
from tests.simulation.trace import Trace
from tests.simulation.verdict import Verdict

DRAIN_SECONDS = 10
LAST_SECONDS = 3.0
"""An engine that has not ended this long after its time to drain ends at once."""
LAST_STEPS_SECONDS = 0.01
"""What tasks that were cancelled get for their last steps."""
LONGEST_STOP_SECONDS = 15.0
"""A replica that is told to stop has ended by then."""
ENGINE, ENGINE_CONTROL, LOBBY, SCORING, SCORING_CONTROL = (
    "engine",
    "engine-control",
    "lobby",
    "scoring",
    "scoring-control",
)


def key_of(name: str) -> Ed25519PrivateKey:
    """The signing key of a service, the same in every run."""
    return Ed25519PrivateKey.from_private_bytes(hashlib.sha256(name.encode()).digest())


LOBBY_KEY, ENGINE_KEY = key_of("lobby"), key_of("engine")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What replicas live in. `access` holds SQLAlchemy's way to each service's database."""

    loop: VirtualLoop
    network: Network
    hub: NewsHub
    databases: Mapping[str, SimulatedDatabase]
    access: Mapping[str, AsyncEngine]
    chance: Callable[[str], Random]
    verdict: Verdict
    trace: Trace
    retention: Retention


class Replica:
    """One replica of a service, which is started again after each end."""

    kind = ""

    def __init__(self, name: str, world: Surroundings) -> None:
        self.name = name
        self.world = world
        self.lives = 0
        self.process = Process(name)
        self.process.alive = False
        self.chance = world.chance(name)
        self._stopped = asyncio.Event()
        self._main: asyncio.Task[None] | None = None

    @property
    def database(self) -> SimulatedDatabase:
        """Its database."""
        return self.world.databases[self.kind]

    def start(self) -> None:
        """Begin a new life."""
        if self.process.alive:
            return
        self.lives += 1
        self.world.trace.note("start", self.name, self.lives)
        self.process = Process(f"{self.name}#{self.lives}")
        self.process.killed.append(self._cut_off)
        self._stopped = asyncio.Event()
        self._main = self.process.start(self._live())

    def _cut_off(self) -> None:
        self.world.network.died(self.process)
        self.database.forget(self.process)

    def kill(self) -> None:
        """End at once, as by kill -9."""
        if self.process.alive:
            self.world.trace.note("kill", self.name)
            self.process.kill()

    async def stop(self) -> None:
        """End in order, as by SIGTERM; gives when it has."""
        process, main = self.process, self._main
        if not process.alive or main is None:
            return
        self.world.trace.note("stop", self.name)
        self._stopped.set()
        while process.alive and not main.done():
            _, late = await asyncio.wait([main], timeout=LONGEST_STOP_SECONDS)
            if late and process.alive:
                self.world.verdict.fail("who is told to stop ends in time", self.name)
                return

    async def _live(self) -> None:
        process = PROCESS.get()
        try:
            await self.run()
        except Exception as error:  # noqa: BLE001 - a program that fails at its start ends, and is started again
            if not is_database_fault(error):
                self.world.verdict.fail("nothing fails in itself", f"{self.name}: {error!r}")
        else:
            await asyncio.sleep(LAST_STEPS_SECONDS)
            if left := self._others(process):
                self.world.verdict.fail("no task is left waiting", f"{self.name}: {left}")
        rest = self._others(process)
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)
        self.world.trace.note("ended", self.name)
        process.kill()

    @staticmethod
    def _others(process: Process) -> list[asyncio.Task[Any]]:
        return [task for task in process.tasks if task is not asyncio.current_task() and not task.done()]

    async def run(self) -> None:
        """Serve until told to stop."""
        raise NotImplementedError

    def let_go(self) -> None:
        """The run is over: what is left of all lives may begin nothing more."""

    def interceptor(self, key: Ed25519PrivateKey, audience: str, open_methods: frozenset[str] = frozenset()) -> Any:
        """What is around every call."""
        verifier = TokenVerifier(key.public_key(), audience, self.clock)
        logger = SimulatedLogger(self.process.name, self.world.verdict)
        return CallInterceptor(Authenticator(verifier, open_methods), RpcMetrics(CollectorRegistry()), logger)

    def listen(self, address: str, add_to: Callable[[Any], None], interceptor: CallInterceptor) -> SimulatedServer:
        """Open a port."""
        server = SimulatedServer(self.world.network, self.process, interceptor)
        add_to(server)
        self.world.network.listen(address, server)
        return server

    def clock(self) -> int:
        """This machine's time."""
        return self.world.loop.now_milliseconds()


class EngineReplica(Replica):
    """An engine; its own clock is off, and what it knows of the time comes from the database."""

    kind = "engine"

    def __init__(self, name: str, world: Surroundings) -> None:
        super().__init__(name, world)
        self._skew_milliseconds = self.chance.randrange(-5_000, 5_000)
        self.engine: Engine | None = None
        self.races_lost = 0
        self._engines: list[Engine] = []
        self.players: EngineServicer | None = None

    def clock(self) -> int:
        return self.world.loop.now_milliseconds() + self._skew_milliseconds

    def _lost_races(self, appends: int) -> None:
        self.races_lost += appends

    def let_go(self) -> None:
        for engine in self._engines:
            engine.services.background._closed = True

    async def _ask_time(self) -> int:
        await asyncio.sleep(self.chance.uniform(0.0001, 0.02))
        if self.database.is_down:
            raise ConnectionError("the simulated database is down")
        there = self.world.loop.now_milliseconds()
        await asyncio.sleep(self.chance.uniform(0.0001, 0.02))
        return there

    def _assemble(self) -> Engine:
        world, engine_id = self.world, self.process.name
        database, chance = world.access[self.kind], self.chance
        logger = SimulatedLogger(engine_id, world.verdict)
        metrics = engine_metrics(CollectorRegistry())
        clock = SharedClock(self.clock, self._ask_time, logger)
        store = SqlTableStore(database, SimulatedWriter(database, self.database, engine_id, self._lost_races), metrics)
        issuer = TokenIssuer(
            ENGINE_KEY, SCORING_CONTROL_AUDIENCE, SERVICE_TOKEN_SECONDS, self.world.loop.now_milliseconds
        )
        scoring = ScoringChannel(world.network.channel(self.process, SCORING_CONTROL), issuer)
        services = EngineServices(
            store=store,
            encoder=StreamEncoder(),
            metrics=metrics,
            clock=clock,
            choose=chance.randrange,
            logger=logger,
            background=Background(logger),
            reporter=Reporter(store, scoring, clock, metrics, logger),
            thinkers=SimulatedThinkers(chance),
            attendance=Attendance(SqlAttendanceStore(database), engine_id, store.is_flowing, clock, logger),
            news=SimulatedNews(world.hub, engine_id, chance),
        )
        tables = Tables(services, chance.randbytes, 1_000)
        caretaker = Caretaker(tables, services, world.retention)
        return Engine(clock, services, store, tables, Follower(tables, services), caretaker)

    async def run(self) -> None:
        self.engine = engine = self._assemble()
        self._engines.append(engine)
        await engine.clock.measure()
        committing = asyncio.create_task(engine.store.run())
        reporting = asyncio.create_task(engine.services.reporter.run())
        self.players = EngineServicer(engine.tables, engine.services.metrics, 1_000)
        servers = [
            self.listen(ENGINE, self.players.add_to, self._interceptor(engine, PLAYER_AUDIENCE)),
            self.listen(
                ENGINE_CONTROL,
                EngineControlServicer(engine.tables).add_to,
                self._interceptor(engine, ENGINE_CONTROL_AUDIENCE),
            ),
        ]
        await engine.services.attendance.attend()
        working = [asyncio.create_task(work) for work in engine.work()]
        await self._stopped.wait()
        self.process.later(DRAIN_SECONDS + LAST_SECONDS, self.process.kill)
        draining = [asyncio.create_task(server.stop(DRAIN_SECONDS / 2)) for server in servers]
        await engine.send_streams_elsewhere(DRAIN_SECONDS / 2)
        await end_tasks([reporting, *working])
        await asyncio.wait(draining)
        await engine.finish(committing, DRAIN_SECONDS / 2)

    def _interceptor(self, engine: Engine, audience: str) -> CallInterceptor:
        verifier = TokenVerifier(LOBBY_KEY.public_key(), audience, engine.clock)
        return CallInterceptor(Authenticator(verifier), engine.services.metrics.rpc, engine.services.logger)


class LobbyReplica(Replica):
    """A lobby."""

    kind = "lobby"
    lobby: Lobby | None = None

    async def run(self) -> None:
        world, registry = self.world, CollectorRegistry()
        logger = SimulatedLogger(self.process.name, world.verdict)
        settings = LobbySettings(
            database="",
            signing_key=Path("unused"),
            engine_control=ENGINE_CONTROL,
            action_seconds=5,
            reserve_seconds=3,
            player_streams_limit=50,
        )
        issuer = TokenIssuer(LOBBY_KEY, ENGINE_CONTROL_AUDIENCE, SERVICE_TOKEN_SECONDS, self.clock)
        channel = world.network.channel(self.process, ENGINE_CONTROL)
        engine = EngineChannel(channel, issuer, settings.engine_timeout_seconds, logger)
        self.lobby = lobby = assemble_lobby(
            settings, world.access[self.kind], engine, LOBBY_KEY, self.chance, self.clock, registry, logger
        )
        work = [asyncio.create_task(each) for each in lobby.background()]
        server = self.listen(LOBBY, lobby.add_to, self.interceptor(LOBBY_KEY, PLAYER_AUDIENCE, OPEN_METHODS))
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
        database = self.world.access[self.kind]
        ledger = Ledger(database)
        results = ScoringServicer(ledger, Records(database))
        control = ScoringControlServicer(ledger, LedgerMetrics(CollectorRegistry()))
        servers = [
            self.listen(
                SCORING,
                lambda server: add_ScoringServiceServicer_to_server(results, server),
                self.interceptor(LOBBY_KEY, PLAYER_AUDIENCE),
            ),
            self.listen(
                SCORING_CONTROL,
                lambda server: add_ScoringControlServiceServicer_to_server(control, server),
                self.interceptor(ENGINE_KEY, SCORING_CONTROL_AUDIENCE),
            ),
        ]
        await self._stopped.wait()
        await asyncio.gather(*(server.stop(DRAIN_SECONDS) for server in servers))
