"""An engine, wired by its own assembly, on the simulated network and database."""

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from prometheus_client import CollectorRegistry
from sqlalchemy import Connection, delete

from croupier.engine.api.control_servicer import EngineControlServicer, engine_games
from croupier.engine.api.scoring_channel import ScoringChannel
from croupier.engine.api.servicer import EngineServicer
from croupier.engine.assembly import Engine, Ports, wire
from croupier.engine.bots.worker import BotRequest
from croupier.engine.cluster.liveness import SqlLivenessStore
from croupier.engine.core.log import TableConfig
from croupier.engine.metrics import EngineMetrics
from croupier.engine.settings import EngineSettings
from croupier.engine.storage.claims import claim_overdue, postpone
from croupier.engine.storage.schema import DEADLINES
from croupier.engine.storage.sqlite_writer import execute_append
from croupier.engine.storage.writer import Append, deadline_rows, lost_races, open_with_deadline
from croupier.games.actions import Action
from croupier.games.bots import random_of
from croupier.runtime.admission.budget import MILLISECOND
from croupier.runtime.admission.limits import Limits, limits_of
from croupier.runtime.database.database import Database
from croupier.runtime.database.upsert import insert_into
from croupier.runtime.identity import tokens
from croupier.runtime.identity.links import links_by
from croupier.runtime.observation.outage_log import OutageLog
from croupier.runtime.outcomes import Callback, call_back
from croupier.runtime.server.tasks import end_tasks
from croupier_loadtest.simulation.database import SimulatedDatabase
from croupier_loadtest.simulation.environment import Environment
from croupier_loadtest.simulation.loop import PROCESS
from croupier_loadtest.simulation.network import SimulatedChannel
from croupier_loadtest.simulation.notifications import SimulatedNotifier
from croupier_loadtest.simulation.replica import (
    ENGINE,
    ENGINE_CONTROL,
    ENGINE_KEY,
    GRACE_SECONDS,
    LOBBY_KEY,
    SCORING_CONTROL,
    Replica,
    SimulatedLogger,
)

IDLE_SECONDS = 20
LINK_DAYS = 90
STREAM_HEARTBEAT_SECONDS = 4.0
"""Shorter than in production, so that housekeeping takes place within the few seconds of a run."""
ARCHIVE_SECONDS = 3.0


class SimulatedWriter:
    """Appends in one transaction and keeps rows of deadlines, as the writer of PostgreSQL does.

    A transaction continues in the database after the death of the engine that sent it.
    """

    def __init__(self, access: Database, database: SimulatedDatabase, lost: Callable[[int], None]) -> None:
        self._access = access
        self._lost = lost
        self._writing: asyncio.Task[Sequence[int]] | None = None
        self._database = database

    async def open(self, append: Append, config: TableConfig) -> bool:
        """Open a prepared table with its first entries."""
        return await self._access.write(open_with_deadline, append, config)

    def write(self, appends: Sequence[Append], done: Callback[Sequence[int]]) -> None:
        """Begin to store all appends, or none."""
        self._writing = call_back(self._write(appends), done)

    async def _write(self, appends: Sequence[Append]) -> Sequence[int]:
        """Store all appends, or none; returns the indexes of those that came too late."""
        # The transaction runs in the process of the database.
        with self._access.available():
            self._database.check_reachable(PROCESS.get())
        transaction = self._database.process.start(self._transaction(appends))
        # Retrieved, so that a failure without a waiter is not logged.
        transaction.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(transaction)

    async def _transaction(self, appends: Sequence[Append]) -> Sequence[int]:
        try:
            await self._access.write(_append, appends)
        except sqlite3.IntegrityError as conflict:
            losers = await self._access.read(lost_races, appends, conflict)
            self._lost(len(losers))
            return losers
        return ()

    async def claim_overdue(self, before: int, until: int, limit: int) -> list[str]:
        """Claim overdue tables by their rows of deadlines."""
        return await self._access.write(claim_overdue, before, until, limit)

    async def postpone(self, table_ids: Sequence[str], until: int) -> None:
        await self._access.write(postpone, table_ids, until)

    def close(self) -> None:
        """Give up the write under way."""
        if self._writing is not None:
            self._writing.cancel()


def _append(connection: Connection, appends: Sequence[Append]) -> None:
    driver: Any = connection.connection.driver_connection
    execute_append(driver, appends)
    deadlines = insert_into(connection.dialect.name, DEADLINES)
    scheduled = deadlines.on_conflict_do_update(index_elements=["table_id"], set_={"at": deadlines.excluded.at})
    for row in deadline_rows(appends):
        connection.execute(scheduled.values(row))
    ended = [append.table_id for append in appends if append.ends_game]
    connection.execute(delete(DEADLINES).where(DEADLINES.c.table_id.in_(ended)))


class SimulatedBotWorkers:
    """Bot workers that decide at random, after a random time, and sometimes not at all."""

    def __init__(self, random: Random) -> None:
        self._random = random

    async def decide(self, bot_request: BotRequest) -> Action | None:
        """Return the action of a bot; None for a fallback."""
        await asyncio.sleep(self._random.uniform(0.01, 1.0))
        if self._random.random() < 0.1:
            return None
        return random_of(bot_request.observation.legal, self._random.randrange)

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""


class EngineReplica(Replica):
    """An engine whose own clock is wrong, so that it depends on the database's."""

    kind = "engine"

    def __init__(self, name: str, environment: Environment) -> None:
        super().__init__(name, environment)
        self._skew_milliseconds = self.random.randrange(-5_000, 5_000)
        self.engine: Engine | None = None
        self.races_lost = 0
        self._engines: list[Engine] = []
        self._limits: Limits | None = None

    def clock(self) -> int:
        return self.environment.loop.now_milliseconds() + self._skew_milliseconds

    def _lost_races(self, appends: int) -> None:
        self.races_lost += appends

    async def close(self) -> None:
        await asyncio.gather(*(engine.background.close(0) for engine in self._engines))

    def pending(self) -> Mapping[str, int]:
        if self.engine is None or self._limits is None:
            return {}
        return {**self.engine.pending(), "streams": len(self._limits.streams)}

    async def _query_time(self) -> int:
        await asyncio.sleep(self.random.uniform(0.0001, 0.02))
        with self.environment.access[self.kind].available():
            self.database.check_reachable(self.process)
        now = self.environment.loop.now_milliseconds()
        await asyncio.sleep(self.random.uniform(0.0001, 0.02))
        return now

    def _assemble(self) -> Engine:
        environment, engine_id, random = self.environment, self.process.name, self.random
        database, logger = environment.access[self.kind], SimulatedLogger(engine_id, environment.findings)
        settings = EngineSettings(
            database="",
            lobby_public_key=Path("unused"),
            signing_key=Path("unused"),
            scoring_control="unused:1",
            max_open_tables=1_000,
            idle_seconds=IDLE_SECONDS,
            log_seconds=environment.plan.log_seconds,
            max_table_entries=environment.plan.max_table_entries,
            abandoned_seconds=environment.plan.abandoned_seconds,
            min_bot_delay_milliseconds=0,
            table_entries_per_second=0,
            player_calls_per_second=0,
            network_units_per_second=0,
        )
        self._limits = limits_of(settings, lambda: environment.loop.now_milliseconds() * MILLISECOND)
        ports = Ports(
            engine_id=engine_id,
            metrics=EngineMetrics(CollectorRegistry()),
            new_seed=random.randbytes,
            random=random.randrange,
            query_time=self._query_time,
            liveness=SqlLivenessStore(database, engine_games()),
            writer=SimulatedWriter(database, self.database, self._lost_races),
            notifier=SimulatedNotifier(environment.hub, engine_id, random),
            bot_workers=SimulatedBotWorkers(random),
            networks=self._limits.network,
            heartbeat_seconds=STREAM_HEARTBEAT_SECONDS,
            archive_seconds=ARCHIVE_SECONDS,
            max_queue_messages=environment.plan.queue_messages,
        )
        issuer = tokens.TokenIssuer(
            ENGINE_KEY, tokens.SCORING_CONTROL_AUDIENCE, tokens.SERVICE_TOKEN_SECONDS, environment.loop.now_milliseconds
        )
        channel: Any = SimulatedChannel(environment.network, self.process, SCORING_CONTROL)
        scoring = ScoringChannel(channel, issuer, OutageLog("scoring", logger, environment.loop.now_milliseconds))
        return wire(settings, database, scoring, ports, self.clock, logger)

    async def run(self) -> None:
        self.engine = engine = self._assemble()
        self._engines.append(engine)
        await engine.clock.measure()
        committing = asyncio.create_task(engine.store.commits.run())
        links = links_by(ENGINE_KEY, LINK_DAYS, engine.clock)
        players = EngineServicer(engine.tables, links, engine.clock, engine.metrics)
        lobbies = EngineControlServicer(engine.tables, engine.store, engine.outbox.scoring)
        servers = [
            self.listen(ENGINE, players.add_to, LOBBY_KEY, tokens.PLAYER_AUDIENCE, engine.clock, limits=self._limits),
            self.listen(ENGINE_CONTROL, lobbies.add_to, LOBBY_KEY, tokens.ENGINE_CONTROL_AUDIENCE, engine.clock),
        ]
        await engine.liveness.send_heartbeat()
        working = [asyncio.create_task(work()) for work in engine.background_tasks().values()]
        await self._stopped.wait()
        draining = [asyncio.create_task(server.stop(GRACE_SECONDS)) for server in servers]
        await engine.hand_over_streams(GRACE_SECONDS)
        await end_tasks(working)
        await asyncio.wait(draining)
        await engine.finish(GRACE_SECONDS)
        await end_tasks([committing])
