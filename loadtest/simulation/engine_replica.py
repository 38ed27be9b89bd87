"""An engine, wired as its program wires it, on the simulated network and database."""

import asyncio
from collections.abc import Mapping

from prometheus_client import CollectorRegistry

from croupier.engine.assembly import Engine
from croupier.engine.attendance import Attendance
from croupier.engine.background import Background, end_tasks
from croupier.engine.caretaker import Caretaker
from croupier.engine.control_servicer import EngineControlServicer
from croupier.engine.fact_codec import StreamEncoder
from croupier.engine.follower import Follower
from croupier.engine.metrics import EngineMetrics
from croupier.engine.reports import Reporter
from croupier.engine.scoring_channel import ScoringChannel
from croupier.engine.servicer import EngineServicer
from croupier.engine.services import EngineServices
from croupier.engine.shared_clock import SharedClock
from croupier.engine.sql_attendance import SqlAttendanceStore
from croupier.engine.sql_store import SqlTableStore
from croupier.engine.tables import Tables
from croupier.runtime.identity import (
    ENGINE_CONTROL_AUDIENCE,
    PLAYER_AUDIENCE,
    SCORING_CONTROL_AUDIENCE,
    SERVICE_TOKEN_SECONDS,
    TokenIssuer,
    TokenVerifier,
)
from croupier.runtime.interceptor import Authenticator, CallInterceptor
from croupier.runtime.stream_places import StreamPlaces
from loadtest.simulation.news import SimulatedNews
from loadtest.simulation.parts import SimulatedLogger, SimulatedThinkers, SimulatedWriter
from loadtest.simulation.replica import (
    ENGINE,
    ENGINE_CONTROL,
    ENGINE_KEY,
    GRACE_SECONDS,
    LOBBY_KEY,
    SCORING_CONTROL,
    Replica,
    Surroundings,
)


class EngineReplica(Replica):
    """An engine; its own clock is off, and what it knows of the time comes from the database."""

    kind = "engine"

    def __init__(self, name: str, world: Surroundings) -> None:
        super().__init__(name, world)
        self._skew_milliseconds = self.chance.randrange(-5_000, 5_000)
        self.engine: Engine | None = None
        self.races_lost = 0
        self._engines: list[Engine] = []
        self._places = StreamPlaces(1_000, 1_000)

    def clock(self) -> int:
        return self.world.loop.now_milliseconds() + self._skew_milliseconds

    def _lost_races(self, appends: int) -> None:
        self.races_lost += appends

    async def close(self) -> None:
        await asyncio.gather(*(engine.services.background.close(0) for engine in self._engines))

    def pending(self) -> Mapping[str, int]:
        return {**self.engine.pending(), "streams": len(self._places)} if self.engine is not None else {}

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
        logger = SimulatedLogger(engine_id, world.findings)
        metrics = EngineMetrics(CollectorRegistry())
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
        self._places = StreamPlaces(1_000, 1_000)
        players = EngineServicer(engine.tables, engine.services.metrics, self._places)
        servers = [
            self.listen(ENGINE, players.add_to, self._interceptor(engine, PLAYER_AUDIENCE)),
            self.listen(
                ENGINE_CONTROL,
                EngineControlServicer(engine.tables).add_to,
                self._interceptor(engine, ENGINE_CONTROL_AUDIENCE),
            ),
        ]
        await engine.services.attendance.attend()
        working = [asyncio.create_task(work) for work in engine.work()]
        await self._stopped.wait()
        draining = [asyncio.create_task(server.stop(GRACE_SECONDS)) for server in servers]
        await engine.send_streams_elsewhere(GRACE_SECONDS)
        await end_tasks([reporting, *working])
        await asyncio.wait(draining)
        await engine.finish(committing, GRACE_SECONDS)

    def _interceptor(self, engine: Engine, audience: str) -> CallInterceptor:
        verifier = TokenVerifier(LOBBY_KEY.public_key(), audience, engine.clock)
        return CallInterceptor(Authenticator(verifier), engine.services.metrics.rpc, engine.services.logger)
