"""Putting the engine together from its parts, for SQLite or PostgreSQL, and taking it apart again in order."""

import asyncio
import secrets
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from prometheus_client import CollectorRegistry
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.engine.attendance import Attendance
from croupier.engine.background import Background, end_tasks
from croupier.engine.caretaker import Caretaker, Retention
from croupier.engine.entry_writer import EntryWriter
from croupier.engine.fact_codec import StreamEncoder
from croupier.engine.follower import Follower
from croupier.engine.metrics import EngineMetrics
from croupier.engine.news import News, NoNews
from croupier.engine.postgres_news import PostgresNews
from croupier.engine.postgres_writer import PostgresWriter
from croupier.engine.reports import Reporter, ScoringPort
from croupier.engine.services import EngineServices
from croupier.engine.settings import EngineSettings
from croupier.engine.shared_clock import AskTime, SharedClock, time_of
from croupier.engine.sql_attendance import SqlAttendanceStore
from croupier.engine.sql_store import SqlTableStore
from croupier.engine.sqlite_writer import SqliteWriter
from croupier.engine.tables import Tables
from croupier.engine.thinkers import ProcessThinkers, Thinkers
from croupier.engine.traced import TracedStore
from croupier.runtime.identity import Clock
from croupier.runtime.logs import Logger
from croupier.runtime.traces import Traces

DAY_MILLISECONDS = 86_400_000


@dataclass(frozen=True, slots=True)
class Engine:
    """The parts that run."""

    clock: SharedClock
    services: EngineServices
    store: SqlTableStore
    tables: Tables
    follower: Follower
    caretaker: Caretaker

    def work(self) -> tuple[Coroutine[Any, Any, None], ...]:
        """What goes on until the engine stops."""
        return (
            self.clock.run(),
            self.services.attendance.run(),
            self.services.news.run(self.follower),
            self.follower.run(),
            self.caretaker.run(),
        )

    def pending(self) -> Mapping[str, int]:
        """How much of each kind is in memory or under way: nothing, some time after the last game has ended."""
        return {
            "open tables": len(self.tables.in_memory),
            "loading tables": len(self.tables.loading),
            "tables with streams": self.tables.followed,
            "background tasks": self.services.background.pending,
            "reports": self.services.reporter.pending,
            "appends": self.store.pending,
            "logs to read": self.follower.pending,
        }

    async def send_streams_elsewhere(self, grace_seconds: float) -> None:
        """Take no more tables on, and end all streams with the notice that other engines go on."""
        leaving = [asyncio.ensure_future(self.tables.drain()), asyncio.ensure_future(self.services.attendance.leave())]
        await asyncio.wait(leaving, timeout=grace_seconds)
        await end_tasks(leaving)

    async def finish(self, committing: asyncio.Task[None], grace_seconds: float) -> None:
        """Store what waits, and hand reports over that are due, as far as that goes in this time."""
        finishing = asyncio.create_task(self._finish(committing, grace_seconds))
        await asyncio.wait([finishing], timeout=grace_seconds)
        await end_tasks([finishing, committing])

    async def _finish(self, committing: asyncio.Task[None], grace_seconds: float) -> None:
        await self.services.thinkers.close()
        await self.services.background.close(grace_seconds)
        with suppress(Exception):  # Scoring may be away: then another engine hands them over.
            await self.services.reporter.hand_over()
        self.store.close()
        await asyncio.wait([committing])


@dataclass(frozen=True, slots=True)
class Ports:
    """How an engine reaches what is neither its database nor a service: chance, time, other engines, processes."""

    engine_id: str
    metrics: EngineMetrics
    new_seed: Callable[[int], bytes]
    choose: Callable[[int], int]
    ask_time: AskTime
    writer: EntryWriter
    news: News
    thinkers: Thinkers


def assemble(
    settings: EngineSettings,
    database: AsyncEngine,
    scoring: ScoringPort,
    new_seed: Callable[[int], bytes],
    local_clock: Clock,
    logger: Logger,
    traces: Traces | None = None,
) -> Engine:
    """Wire an engine by hand; nothing runs yet."""
    engine_id, metrics = secrets.token_hex(8), EngineMetrics(CollectorRegistry())
    writer, news = _writer_and_news(database, engine_id, logger)
    ports = Ports(
        engine_id=engine_id,
        metrics=metrics,
        new_seed=new_seed,
        choose=secrets.SystemRandom().randrange,
        ask_time=time_of(database, local_clock),
        writer=writer,
        news=news,
        thinkers=ProcessThinkers(settings.bot_processes, metrics, logger),
    )
    return wire(settings, database, scoring, ports, local_clock, logger, traces)


def wire(
    settings: EngineSettings,
    database: AsyncEngine,
    scoring: ScoringPort,
    ports: Ports,
    local_clock: Clock,
    logger: Logger,
    traces: Traces | None = None,
) -> Engine:
    """Wire an engine to these ports; nothing runs yet."""
    metrics, writer = ports.metrics, ports.writer
    clock = SharedClock(local_clock, ports.ask_time, logger)
    store = TracedStore(database, writer, metrics, traces) if traces else SqlTableStore(database, writer, metrics)
    services = EngineServices(
        store=store,
        encoder=StreamEncoder(),
        metrics=metrics,
        clock=clock,
        choose=ports.choose,
        logger=logger,
        background=Background(logger),
        reporter=Reporter(store, scoring, clock, metrics, logger),
        thinkers=ports.thinkers,
        attendance=Attendance(SqlAttendanceStore(database), ports.engine_id, store.is_flowing, clock, logger),
        news=ports.news,
        traces=traces,
    )
    tables = Tables(services, ports.new_seed, settings.most_open_tables)
    return Engine(
        clock, services, store, tables, Follower(tables, services), Caretaker(tables, services, _retention(settings))
    )


def _writer_and_news(database: AsyncEngine, engine_id: str, logger: Logger) -> tuple[EntryWriter, News]:
    """Who appends, and who tells; an engine on SQLite is alone."""
    if database.dialect.name == "sqlite":
        return SqliteWriter(database), NoNews()
    return PostgresWriter(database, engine_id), PostgresNews(database, engine_id, logger)


def _retention(settings: EngineSettings) -> Retention:
    return Retention(settings.idle_seconds * 1000, settings.log_seconds * 1000, settings.replay_days * DAY_MILLISECONDS)
