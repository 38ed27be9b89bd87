"""Writers of several engines on one PostgreSQL: commits a second, with and without a slow disk."""

import asyncio
import os
import statistics
import time
from collections.abc import Mapping, Sequence

import structlog
from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncEngine

from benchmarks.actions import CORES
from croupier.engine.cluster.postgres_notifier import PostgresNotifier
from croupier.engine.storage.postgres_writer import PostgresWriter
from croupier.engine.storage.schema import TABLES
from croupier.engine.storage.writer import Append
from croupier.games.facts import Seat
from croupier.runtime.database import open_database
from croupier.runtime.schema_versions import migrate_database
from croupier.runtime.tasks import end_tasks
from croupier.runtime.tuning import tune_process
from loadtest.postgres import postgres_server

WRITERS = (1, 4, 16)
COMMIT_DELAYS_MILLISECONDS = (0, 3)
"""The time that PostgreSQL adds to each commit, as a synchronous standby or a disk of a cloud does."""
TABLES_OF_WRITER = 5
"""So few that two cores carry 16 writers: the measurement is that of waits, not of CPU."""
WARM_UP_SECONDS, SECONDS = 0.5, 3.0
BODY = '{"t":"act","v":1,"seat":1,"action":{"type":"play","card":"QH"},"request":"b1946ac92492d234"}'


class _Ignoring:
    """A listener that ignores the notifications of some engines."""

    def __init__(self, engines: int) -> None:
        self.engines = engines

    def logs_extended(self, heads: Mapping[str, int]) -> None:
        """Ignore them."""

    def notifications_missed(self) -> None:
        """Ignore them."""

    def seat_reacted(self, table_id: str, seat: Seat, reaction: str) -> None:
        """Ignore it."""


class WriterInstance:
    """The writer and the notifier of one engine, with tables of its own."""

    def __init__(self, database: AsyncEngine, name: str, engines: int) -> None:
        self.tables = [f"{name} {number}" for number in range(TABLES_OF_WRITER)]
        self.seconds: list[float] = []
        """The duration of each commit."""
        self._writer = PostgresWriter(database)
        self._notifier = PostgresNotifier(database, name, structlog.get_logger())
        self._listener = _Ignoring(engines)

    async def run(self, until: float) -> None:
        """Commit an entry of each table, and so on, until a time of perf_counter."""
        notifying = asyncio.create_task(self._notifier.run(self._listener))
        sequence, now = 0, time.perf_counter()
        try:
            while now < until:
                sequence += 1
                await self._writer.write([self._append(table_id, sequence) for table_id in self.tables])
                self._notifier.logs_extended(dict.fromkeys(self.tables, sequence))
                began, now = now, time.perf_counter()
                self.seconds.append(now - began)
        finally:
            await end_tasks([notifying])
            await self._writer.close()

    def _append(self, table_id: str, sequence: int) -> Append:
        return Append(table_id, [(table_id, sequence, sequence, sequence, BODY)], sequence, sequence, None)


async def measure(database: AsyncEngine, writers: int) -> list[float]:
    """Return the durations of all commits of some writers, which run at once, after a warm-up."""
    instances = [WriterInstance(database, f"{writers} {number}", writers) for number in range(writers)]
    rows = [
        {
            "table_id": table_id,
            "status": "open",
            "game": "solo",
            "rules_version": 1,
            "config": "{}",
            "seed": b"",
            "created_at": 0,
        }
        for instance in instances
        for table_id in instance.tables
    ]
    async with database.begin() as connection:
        await connection.execute(insert(TABLES), rows)
    began = time.perf_counter()
    running = asyncio.gather(*(one.run(began + WARM_UP_SECONDS + SECONDS) for one in instances))
    await asyncio.sleep(WARM_UP_SECONDS)
    before = [len(one.seconds) for one in instances]
    await running
    return [seconds for one, start in zip(instances, before, strict=True) for seconds in one.seconds[start:]]


async def compare() -> None:
    """Print the commits a second of one writer and of several, for each delay of commits."""
    os.sched_setaffinity(0, CORES)
    tune_process(gc_thresholds="10000,20,100", scheduling="batch")
    print("\nScale: writers of engines on one PostgreSQL with fsync; each commits an entry of five tables at a time")
    for delay in COMMIT_DELAYS_MILLISECONDS:
        settings = {"commit_delay": str(delay * 1000), "commit_siblings": "0"}
        with postgres_server(settings=settings) as postgres:
            url = postgres.create_database("scale")
            await migrate_database(url, ["croupier.engine"])
            database = open_database(url)
            try:
                await _compare_writers(database, delay)
            finally:
                await database.dispose()


async def _compare_writers(database: AsyncEngine, delay: int) -> None:
    alone: float | None = None
    for writers in WRITERS:
        seconds = await measure(database, writers)
        rate = len(seconds) / SECONDS
        alone = alone or rate
        p50, p99 = _percentiles(seconds)
        print(
            f"  commit delay {delay} ms, {writers:2} writers {rate:6.0f} commits/s, {rate / alone:5.1f} times one"
            f"   p50 {p50:5.2f}  p99 {p99:6.2f} ms",
            flush=True,
        )


def _percentiles(seconds: Sequence[float]) -> tuple[float, float]:
    cuts = statistics.quantiles(seconds, n=100)
    return cuts[49] * 1000, cuts[98] * 1000
