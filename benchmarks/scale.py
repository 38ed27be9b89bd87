"""Writers of several engines on one PostgreSQL: commits a second, with and without a slow disk."""

import asyncio
import statistics
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import chain, product
from typing import TypeAlias

import structlog
from sqlalchemy import insert

from benchmarks.measurement import Row
from croupier.engine.cluster.notifier import PostgresNotifier
from croupier.engine.storage.postgres_writer import PostgresWriter
from croupier.engine.storage.schema import TABLES
from croupier.engine.storage.writer import Append
from croupier.engine.tables.presence import Announcement
from croupier.games.facts import Seat
from croupier.runtime.database.database import Database, open_database
from croupier.runtime.database.schema_versions import migrate_database
from croupier.runtime.server.tasks import end_tasks
from croupier.runtime.server.tuning import tune_process
from croupier_loadtest.postgres import postgres_server

WRITERS = (1, 4, 16)
COMMIT_DELAYS_MILLISECONDS = (0, 3)
"""The time that PostgreSQL adds to each commit, as a synchronous standby or a disk of a cloud does."""
TABLES_OF_WRITER = 5
"""So few that two cores carry 16 writers: the measurement is that of waits, not of CPU."""
ROUNDS, WARM_UP_SECONDS, SECONDS = 3, 0.4, 1.0
BODY = '{"t":"act","v":1,"seat":1,"action":{"type":"play","card":"QH"},"request":"b1946ac92492d234"}'
Variant: TypeAlias = tuple[int, int]
"""The delay of commits in milliseconds, and the number of writers."""


class _Ignoring:
    """A listener that ignores the notifications of some engines."""

    def __init__(self, engines: int) -> None:
        self.engines = engines

    def logs_extended(self, heads: Mapping[str, int]) -> None:
        """Ignore them."""

    def notifications_missed(self) -> None:
        """Ignore them."""

    def connected(self) -> None:
        """Ignore it."""

    def seat_reacted(self, table_id: str, seat: Seat, reaction: int) -> None:
        """Ignore it."""

    def presence_announced(self, engine_id: str, announcements: Mapping[str, Announcement]) -> None:
        """Ignore them."""


class WriterInstance:
    """The writer and the notifier of one engine, with tables of its own."""

    def __init__(self, database: Database, name: str, engines: int) -> None:
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
                rows = [(table_id, sequence, sequence, sequence, BODY, 1, 0) for table_id in self.tables]
                written = asyncio.get_running_loop().create_future()
                self._writer.write(
                    [Append(row[0], [row], sequence, sequence, None) for row in rows], written.set_result
                )
                if outcome := await written:
                    raise RuntimeError(f"a commit failed: {outcome}")
                self._notifier.logs_extended(dict.fromkeys(self.tables, sequence))
                began, now = now, time.perf_counter()
                self.seconds.append(now - began)
        finally:
            await end_tasks([notifying])
            self._writer.close()


async def measure(database: Database, writers: int, name: str) -> list[float]:
    """Return the durations of all commits of some writers, which run at once, after a warm-up; `name` is a new one."""
    instances = [WriterInstance(database, f"{name} {number}", writers) for number in range(writers)]
    table = {"status": "open", "game": "solo", "rules_version": 1, "config": "{}", "seed": b"", "created_at": 0}
    rows = [{**table, "table_id": table_id} for instance in instances for table_id in instance.tables]
    await database.write(lambda connection: connection.execute(insert(TABLES), rows))
    began = time.perf_counter()
    running = asyncio.gather(*(one.run(began + WARM_UP_SECONDS + SECONDS) for one in instances))
    await asyncio.sleep(WARM_UP_SECONDS)
    before = [len(one.seconds) for one in instances]
    await running
    return [seconds for one, start in zip(instances, before, strict=True) for seconds in one.seconds[start:]]


async def compare() -> list[Row]:
    """Measure one writer and several, with each delay of commits, in turn."""
    tune_process(gc_thresholds="10000,20,100", scheduling="batch")
    found: dict[Variant, list[list[float]]] = defaultdict(list)
    async with _databases() as databases:
        for number in range(ROUNDS):
            print(f"  round {number + 1}", flush=True)
            for delay, writers in product(databases, WRITERS):
                found[delay, writers].append(await measure(databases[delay], writers, f"{number} {writers}"))
    return [row(variant, found) for variant in found]


@asynccontextmanager
async def _databases() -> AsyncIterator[dict[int, Database]]:
    """Open a database on one PostgreSQL with fsync for each delay of commits."""
    with postgres_server(settings={"commit_siblings": "0"}) as postgres:
        async with AsyncExitStack() as stack:
            databases = {}
            for delay in COMMIT_DELAYS_MILLISECONDS:
                url = postgres.create_database(f"delay_{delay}")
                postgres.run_sql("postgres", f"ALTER DATABASE delay_{delay} SET commit_delay = {delay * 1000}")
                await migrate_database(url, ["croupier.engine"])
                databases[delay] = open_database(url)
                stack.push_async_callback(databases[delay].close)
            yield databases


def row(variant: Variant, found: Mapping[Variant, Sequence[Sequence[float]]]) -> Row:
    """Return the row of a delay and a number of writers, by the durations of commits in each round."""
    (delay, writers), rounds, alone = variant, found[variant], found[variant[0], WRITERS[0]]
    p50 = statistics.median(chain.from_iterable(rounds)) * 1000
    rate = sum(map(len, rounds)) / len(rounds) / SECONDS
    figures = f"{rate:5.0f} commits/s, p50 {p50:5.2f} ms"
    name = f"commit delay {delay} ms, writers: {writers}"
    if rounds is alone:
        return Row("scale", name, figures)
    ratios = [len(one) / len(base) for one, base in zip(rounds, alone, strict=True)]
    return Row("scale", name, figures, ratios, "commits/s to one writer")
