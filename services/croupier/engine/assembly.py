"""The assembly of an engine from its parts, for SQLite or PostgreSQL, and its orderly end."""

import asyncio
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from prometheus_client import CollectorRegistry

from croupier.engine.api.control_servicer import engine_games
from croupier.engine.api.outbox import Outbox, ScoringPort
from croupier.engine.api.stream_codec import StreamEncoder
from croupier.engine.bots.worker_pool import BotWorkerPool, BotWorkers
from croupier.engine.cluster.catch_up import CatchUp
from croupier.engine.cluster.database_clock import DatabaseClock, QueryTime, time_query
from croupier.engine.cluster.housekeeping import (
    ARCHIVE_SECONDS,
    STREAM_HEARTBEAT_SECONDS,
    Housekeeper,
    RetentionPolicy,
)
from croupier.engine.cluster.liveness import EngineLiveness, LivenessStore, SqlLivenessStore
from croupier.engine.cluster.notifier import Notifier, NullNotifier, PostgresNotifier
from croupier.engine.core.decide import TableLimits
from croupier.engine.core.folded_table import FoldedTable
from croupier.engine.metrics import EngineMetrics
from croupier.engine.settings import EngineSettings
from croupier.engine.storage.postgres_writer import PostgresWriter
from croupier.engine.storage.sql_store import SqlTableStore
from croupier.engine.storage.sqlite_writer import SqliteWriter
from croupier.engine.storage.writer import EntryWriter
from croupier.engine.tables.call_timeouts import CallTimeouts
from croupier.engine.tables.entry_rate import EntryLimit
from croupier.engine.tables.failing_rules import FailingRules
from croupier.engine.tables.loading import LoadQueue
from croupier.engine.tables.registry import Tables
from croupier.engine.tables.replays import ReplayCache
from croupier.engine.tables.subscribers import SPECTATOR_MESSAGES_PER_TICK, Subscribers
from croupier.engine.tables.subscription import MAX_QUEUE_MESSAGES
from croupier.engine.tables.table import Table
from croupier.engine.tables.turn_scheduler import TurnScheduler
from croupier.engine.tasks import Background
from croupier.games.interface import RandomSource
from croupier.runtime.admission.budget import Budget
from croupier.runtime.database.database import Database
from croupier.runtime.database.sqlite_threads import SqliteThreads
from croupier.runtime.fair_queue import SendingLoop
from croupier.runtime.identity.tokens import Clock
from croupier.runtime.observation.logs import Logger
from croupier.runtime.server.tasks import TaskFactory, end_tasks

HOUR_MILLISECONDS = 3_600_000


@dataclass(frozen=True, slots=True)
class Engine:
    """The parts of an engine."""

    clock: DatabaseClock
    metrics: EngineMetrics
    background: Background
    store: SqlTableStore
    tables: Tables
    outbox: Outbox
    liveness: EngineLiveness
    notifier: Notifier
    bot_workers: BotWorkers
    catch_up_worker: CatchUp
    housekeeper: Housekeeper

    def background_tasks(self) -> Mapping[str, TaskFactory]:
        """Return the tasks that run until the engine stops; the store runs longer, until `finish` closes it."""
        return {
            "clock": self.clock.run,
            "liveness": self.liveness.run,
            "notifications": partial(self.notifier.run, self.catch_up_worker),
            "catch-up": self.catch_up_worker.run,
            "housekeeping": self.housekeeper.run,
            "reports": self.outbox.run,
        }

    def pending(self) -> Mapping[str, int]:
        """Return the amount of each kind of state in memory; all are 0 some time after the last game has ended."""
        return {
            "open tables": len(self.tables.in_memory),
            "loading tables": len(self.tables.loading),
            "tables with streams": self.tables.subscribed,
            "background tasks": self.background.pending,
            "reports": self.outbox.pending,
            "appends": self.store.commits.pending,
            "logs to read": self.catch_up_worker.pending,
        }

    async def hand_over_streams(self, grace_seconds: float) -> None:
        """Load no more tables, and end all streams with a resume notice: other engines continue the tables."""
        leaving = [asyncio.ensure_future(self.tables.drain()), asyncio.ensure_future(self.liveness.leave())]
        await asyncio.wait(leaving, timeout=grace_seconds)
        await end_tasks(leaving)

    async def finish(self, grace_seconds: float) -> None:
        """Store waiting appends and deliver due reports, as far as possible in this time."""
        finishing = asyncio.create_task(self._finish(grace_seconds))
        await asyncio.wait([finishing], timeout=grace_seconds)
        await end_tasks([finishing])

    async def _finish(self, grace_seconds: float) -> None:
        await self.tables.close()
        await self.bot_workers.close()
        await self.background.close(grace_seconds)
        with suppress(Exception):  # If scoring is down, another engine delivers them later.
            await self.outbox.deliver()
        self.store.commits.close()
        await self.store.commits.ended.wait()


@dataclass(frozen=True, slots=True)
class Ports:
    """The ports of an engine beside database and services: randomness, time, other engines, processes, budgets.

    A simulation of few seconds has shorter intervals and queues.
    """

    engine_id: str
    metrics: EngineMetrics
    new_seed: Callable[[int], bytes]
    random: RandomSource
    query_time: QueryTime
    liveness: LivenessStore
    writer: EntryWriter
    notifier: Notifier
    bot_workers: BotWorkers
    networks: Budget
    heartbeat_seconds: float = STREAM_HEARTBEAT_SECONDS
    archive_seconds: float = ARCHIVE_SECONDS
    max_queue_messages: int = MAX_QUEUE_MESSAGES


def assemble(
    settings: EngineSettings,
    database: Database,
    scoring: ScoringPort,
    new_seed: Callable[[int], bytes],
    local_clock: Clock,
    networks: Budget,
    logger: Logger,
) -> Engine:
    """Wire an engine with production ports; nothing runs yet."""
    engine_id, metrics = secrets.token_hex(8), EngineMetrics(CollectorRegistry())
    # An engine on SQLite is the only one of its database.
    threads = database.connections
    is_alone = isinstance(threads, SqliteThreads)
    ports = Ports(
        engine_id=engine_id,
        metrics=metrics,
        new_seed=new_seed,
        random=secrets.SystemRandom().randrange,
        query_time=time_query(database, local_clock),
        liveness=SqlLivenessStore(database, engine_games(settings.offered_games), is_alone=is_alone),
        writer=SqliteWriter(database, threads) if isinstance(threads, SqliteThreads) else PostgresWriter(database),
        notifier=NullNotifier() if is_alone else PostgresNotifier(database, engine_id, logger),
        bot_workers=BotWorkerPool(settings.bot_processes, metrics, logger),
        networks=networks,
    )
    return wire(settings, database, scoring, ports, local_clock, logger)


def wire(
    settings: EngineSettings,
    database: Database,
    scoring: ScoringPort,
    ports: Ports,
    local_clock: Clock,
    logger: Logger,
) -> Engine:
    """Wire an engine to these ports; nothing runs yet."""
    metrics = ports.metrics
    clock = DatabaseClock(local_clock, ports.query_time, logger)
    store = SqlTableStore(database, ports.writer, ports.notifier.logs_extended, metrics)
    failing = FailingRules(clock, metrics, logger)
    outbox = Outbox(store, scoring, failing, clock, metrics, logger)
    liveness = EngineLiveness(ports.liveness, ports.engine_id, store.commits.is_responsive, clock, logger)
    background, load_queue = Background(logger), LoadQueue(settings.max_loads, metrics)
    tables = Tables(
        store,
        _new_table(settings, ports, store, outbox, liveness, background, clock, logger),
        load_queue,
        ReplayCache(store, load_queue, background, StreamEncoder(), failing, metrics),
        clock,
        ports.new_seed,
        logger,
        settings.max_open_tables,
        liveness.living_games,
        failing,
        min_bot_delay_milliseconds=settings.min_bot_delay_milliseconds,
        abandoned_milliseconds=settings.abandoned_seconds * 1000,
    )
    return Engine(
        clock=clock,
        metrics=metrics,
        background=background,
        store=store,
        tables=tables,
        outbox=outbox,
        liveness=liveness,
        notifier=ports.notifier,
        bot_workers=ports.bot_workers,
        catch_up_worker=CatchUp(tables, store, liveness, background, logger),
        housekeeper=Housekeeper(
            tables,
            store,
            liveness,
            RetentionPolicy(
                idle_milliseconds=settings.idle_seconds * 1000,
                prepared_milliseconds=settings.prepared_hours * HOUR_MILLISECONDS,
                log_milliseconds=settings.log_seconds * 1000,
                replay_milliseconds=settings.replay_days * 24 * HOUR_MILLISECONDS,
            ),
            clock,
            metrics,
            logger,
            ports.heartbeat_seconds,
            ports.archive_seconds,
        ),
    )


def _new_table(
    settings: EngineSettings,
    ports: Ports,
    store: SqlTableStore,
    outbox: Outbox,
    liveness: EngineLiveness,
    background: Background,
    clock: Clock,
    logger: Logger,
) -> Callable[[FoldedTable, str], Table]:
    return partial(
        Table,
        # One loop sends to the spectators of all tables, so that those of one table, up to 200, let the actions of
        # other tables through.
        new_subscribers=partial(
            Subscribers,
            encoder=StreamEncoder(),
            sending=SendingLoop(SPECTATOR_MESSAGES_PER_TICK),
            announce=ports.notifier.presence_announced,
            clock=clock,
            metrics=ports.metrics,
            max_queue_messages=ports.max_queue_messages,
        ),
        new_scheduler=partial(
            TurnScheduler,
            bot_workers=ports.bot_workers,
            liveness=liveness,
            background=background,
            networks=ports.networks,
            clock=clock,
            random=ports.random,
            metrics=ports.metrics,
        ),
        limits=TableLimits(settings.max_table_entries, settings.max_table_rounds),
        entry_limit=EntryLimit(settings.table_entries_per_second, settings.table_entries_burst),
        store=store,
        report=outbox.report,
        notify_reaction=ports.notifier.seat_reacted,
        liveness=liveness,
        background=background,
        timeouts=CallTimeouts(),
        clock=clock,
        metrics=ports.metrics,
        logger=logger,
    )
