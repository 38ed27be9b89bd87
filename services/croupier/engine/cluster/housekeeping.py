"""Periodic work for all tables: stream heartbeats, overdue deadlines, hand-over, memory, the archive."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from croupier.engine.cluster.liveness import EngineLiveness
from croupier.engine.core.guarded_rules import RETRY_SECONDS, RulesUnusable
from croupier.engine.core.history import PackedLog
from croupier.engine.core.log_codec import LogPacker, UnreadableLog, decode_entry
from croupier.engine.metrics import EngineMetrics
from croupier.engine.storage.port import TableStore, log_rows
from croupier.engine.tables.registry import Tables
from croupier.games.facts import SPECTATOR
from croupier.games.registry import registry
from croupier.runtime.errors import ServiceError, Unavailable
from croupier.runtime.identity.tokens import Clock
from croupier.runtime.observation.logs import Logger
from croupier.runtime.server.tasks import repeat
from croupier.runtime.steps import in_steps
from croupier_api.v1 import errors_pb2

STREAM_HEARTBEAT_SECONDS = 15.0
SWEEP_SECONDS = 0.5
HAND_OVER_SECONDS = 1.0
OVERDUE_MILLISECONDS = 700
"""Engines with a table in memory act sooner after its deadline; after this long any engine does."""
CLAIM_MILLISECONDS = 2_000
"""An engine that claimed an overdue table has this long to act before another may claim it."""
MAX_SWEPT_TABLES = 50
MAINTENANCE_STEP = 20
MAX_REPORTED = 10_000
"""With so many faults that are in the log already, all of them may be logged again."""
ARCHIVE_SECONDS = 30.0
ARCHIVE_RETRY_MILLISECONDS = 3_600_000
"""The time after which a table that could not be archived is tried again."""
MAX_CLAIMED_TABLES = 10
"""Tables that an engine claims at a time to archive them."""
MAX_DELETED_TABLES = 50


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """Times for unused tables in memory, prepared tables, finished tables as logs, and replays (0: no limit).

    All are in milliseconds.
    """

    idle_milliseconds: int
    prepared_milliseconds: int
    log_milliseconds: int
    replay_milliseconds: int


@dataclass(frozen=True, slots=True)
class Housekeeper:
    """Runs the periodic work; failed work is repeated at its next time."""

    tables: Tables
    store: TableStore
    liveness: EngineLiveness
    retention: RetentionPolicy
    clock: Clock
    metrics: EngineMetrics
    logger: Logger
    heartbeat_seconds: float = STREAM_HEARTBEAT_SECONDS
    archive_seconds: float = ARCHIVE_SECONDS
    reported: set[tuple[str, int | str]] = field(default_factory=set)
    """The rules by game and version, and the tables, whose faults were logged."""

    async def run(self) -> None:
        """Run all periodic work; runs until cancelled."""
        intervals = (self.heartbeat_seconds, SWEEP_SECONDS, HAND_OVER_SECONDS, self.archive_seconds)
        works = (self.maintain, self.sweep, self.hand_over, self.archive)
        async with asyncio.TaskGroup() as group:
            for work, seconds in zip(works, intervals, strict=True):
                group.create_task(repeat(work, seconds, self.logger, "housekeeping failed", work=work.__name__))

    async def maintain(self) -> None:
        """Evict unused tables, send heartbeats on quiet streams, and set the gauges."""
        await self.tables.evict(self.retention.idle_milliseconds)
        phases: Counter[tuple[str, str]] = Counter()
        async for table in in_steps(list(self.tables.in_memory.values()), MAINTENANCE_STEP):
            table.subscribers.send_heartbeats(table.state.sequence)
            # What the rules of one game raise was logged there, and must not end the work for others.
            with suppress(RulesUnusable):
                phases[table.config.game, table.state.view(SPECTATOR).phase] += 1
        gauge = self.metrics.tables_in_memory
        gauge.clear()
        for (game, phase), count in phases.items():
            gauge.labels(game, phase).set(count)
        await self._count_stored(await self.store.open_counts())

    async def _count_stored(self, stored: Mapping[tuple[str, int], int]) -> None:
        """Set the gauges of open tables, given by game and rules version; rules that no engine has are logged once."""
        self.metrics.open_tables.clear()
        for (game, _), count in stored.items():
            self.metrics.open_tables.labels(game).inc(count)
        self.metrics.tables_without_rules.clear()
        if not (unknown := stored.keys() - registry().rules.keys()):
            return
        living = await self.tables.living_games()
        for game, version in sorted(unknown):
            if not living.may_be_known(game, version):
                tables = stored[game, version]
                self.metrics.tables_without_rules.labels(game).inc(tables)
                self._log_once((game, version), "rules are missing", game=game, rules_version=version, tables=tables)

    def _log_once(self, fault: tuple[str, int | str], event: str, **fields: object) -> None:
        if len(self.reported) >= MAX_REPORTED:
            self.reported.clear()
        if fault not in self.reported:
            self.reported.add(fault)
            self.logger.error(event, **fields)

    async def sweep(self) -> None:
        """Load the overdue tables that no engine has in memory; a failed one does not block the others."""
        if self.tables.is_draining:
            # A claim would keep the others from them.
            return
        now = self.clock()
        overdue = await self.store.claim_overdue(now - OVERDUE_MILLISECONDS, now + CLAIM_MILLISECONDS, MAX_SWEPT_TABLES)
        can_act = await asyncio.gather(*map(self._act_at, overdue))
        unusable = [table_id for table_id, can in zip(overdue, can_act, strict=True) if not can]
        if unusable:
            await self.store.postpone(unusable, now + RETRY_SECONDS * 1000)

    async def _act_at(self, table_id: str) -> bool:
        """Act at a table; return False if its rules are missing or fail, which is logged elsewhere."""
        try:
            (await self.tables.get(table_id)).schedule_turn()
        except RulesUnusable:
            return False
        except Exception as error:
            if isinstance(error, ServiceError) and error.reason == errors_pb2.ERROR_REASON_TABLE_TOO_NEW:
                self._log_once(("table", table_id), "table cannot be loaded", table_id=table_id, why=error.message)
            elif not isinstance(error, Unavailable):
                self.logger.error("table cannot be loaded", table_id=table_id, exc_info=error)
        return True

    async def hand_over(self) -> None:
        """Hand all streams over while this engine is cut off from the database, and catch up once it is not.

        Its players would see no action of those at other engines, and wait for turns that they have.
        """
        is_cut_off = self.liveness.is_cut_off
        async for table in in_steps(list(self.tables.in_memory.values()), MAINTENANCE_STEP):
            if is_cut_off and not (table.is_handed_over or table.state.is_over):
                table.hand_over_streams()
            elif table.is_handed_over and not is_cut_off:
                table.schedule_turn()

    async def archive(self) -> None:
        """Archive old finished tables, and delete those that are past their retention."""
        now, retention, store = self.clock(), self.retention, self.store
        finished_before, retry_at = now - retention.log_milliseconds, now + ARCHIVE_RETRY_MILLISECONDS
        while claimed := await store.claim_finished(finished_before, now, retry_at, MAX_CLAIMED_TABLES):
            for table_id in claimed:
                await self._archive_table(table_id)
        await _in_batches(store.delete_prepared, now - retention.prepared_milliseconds)
        if retention.replay_milliseconds:
            await _in_batches(store.delete_archived, now - retention.replay_milliseconds)

    async def _archive_table(self, table_id: str) -> None:
        try:
            await self.store.archive(table_id, await packed_log(self.store, table_id))
            self.metrics.tables_archived.inc()
        except Unavailable:
            raise
        except Exception as error:
            self.metrics.archive_failures.inc()
            self.logger.error("table cannot be archived", table_id=table_id, exc_info=error)


async def packed_log(store: TableStore, table_id: str) -> PackedLog:
    """Return a whole log for the archive; raises UnreadableLog for one that could not be read later."""
    packer, entries = LogPacker(), 0
    async for row in log_rows(store, table_id):
        entries += 1
        if row[0] != entries:
            raise UnreadableLog(table_id, f"log entry {entries}", "missing")
        decode_entry(table_id, *row)
        packer.add(row)
    return PackedLog(packer.packed(), entries)


async def _in_batches(work: Callable[[int, int], Awaitable[int]], before: int) -> None:
    """Do the work for all tables that were due before a moment, in bounded batches."""
    while await work(before, MAX_DELETED_TABLES) == MAX_DELETED_TABLES:
        pass
