"""What an engine does for all tables at regular times: heartbeats, deadlines that nobody holds, memory, the archive."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from croupier.engine.tables.dependencies import TableDependencies
from croupier.engine.tables.registry import Tables
from croupier.games.facts import SPECTATOR

HEARTBEAT_SECONDS = 15.0
SWEEP_SECONDS = 0.5
OVERDUE_MILLISECONDS = 700
"""Whoever holds a table acts before that; then anybody does."""
CLAIM_MILLISECONDS = 2_000
"""How long other engines leave alone what one of them found."""
SWEEP_LIMIT = 50
ARCHIVE_SECONDS = 30.0
ARCHIVE_LIMIT = 50
PREPARED_MILLISECONDS = 30 * 86_400_000
"""How long a table that was never opened is kept. A lobby closes one that nobody touches after an hour."""


@dataclass(frozen=True, slots=True)
class Retention:
    """How long things are kept: unused tables in memory, finished ones as logs, and replays (0: for good)."""

    idle_milliseconds: int
    log_milliseconds: int
    replay_milliseconds: int


class Housekeeper:
    """Goes round; what fails is tried again next time."""

    def __init__(self, tables: Tables, services: TableDependencies, retention: Retention) -> None:
        self._tables = tables
        self._services = services
        self._retention = retention

    async def run(self) -> None:
        """Do everything at its time; runs until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._again_and_again(self.beat, HEARTBEAT_SECONDS))
            group.create_task(self._again_and_again(self.sweep, SWEEP_SECONDS))
            group.create_task(self._again_and_again(self.archive, ARCHIVE_SECONDS))

    async def _again_and_again(self, work: Callable[[], Awaitable[None]], pause_seconds: float) -> None:
        while True:
            try:
                await work()
            except Exception as error:  # noqa: BLE001 - whatever it was, the next round comes
                self._services.logger.warning("left for later", work=work.__name__, error=type(error).__name__)
            await asyncio.sleep(pause_seconds)

    async def beat(self) -> None:
        """Send heartbeats, put away tables that are not used, and count the others."""
        self._tables.tidy(self._retention.idle_milliseconds)
        phases: Counter[tuple[str, str]] = Counter()
        for table in self._tables.in_memory.values():
            table.audience.beat(table.state.sequence)
            phases[table.config.game, table.state.view(SPECTATOR).phase] += 1
        gauge = self._services.metrics.tables_in_memory
        gauge.clear()
        for (game, phase), count in phases.items():
            gauge.labels(game, phase).set(count)
        stored = await self._services.store.open_counts()
        self._services.metrics.open_tables.clear()
        for game, count in stored.items():
            self._services.metrics.open_tables.labels(game).set(count)

    async def sweep(self) -> None:
        """Take up the tables whose deadlines have passed and that nobody looks after; one that fails stops no other."""
        now = self._services.clock()
        overdue = await self._services.store.claim_overdue(
            now - OVERDUE_MILLISECONDS, now + CLAIM_MILLISECONDS, SWEEP_LIMIT
        )
        for table_id in overdue:
            try:
                (await self._tables.get(table_id)).look()
            except Exception as error:
                # Whatever is wrong with it, the others have to go on.
                self._services.logger.error("table cannot be taken up", table_id=table_id, exc_info=error)

    async def archive(self) -> None:
        """Put tables that ended long ago into the archive, and forget those that are not to be kept longer."""
        now, kept, store = self._services.clock(), self._retention, self._services.store
        await _all(store.compact, now - kept.log_milliseconds)
        await _all(store.forget_prepared, now - PREPARED_MILLISECONDS)
        if kept.replay_milliseconds:
            await _all(store.forget, now - kept.replay_milliseconds)


async def _all(step: Callable[[int, int], Awaitable[int]], before: int) -> None:
    """Do what is due since before a moment, a bounded number of tables at a time."""
    while await step(before, ARCHIVE_LIMIT) == ARCHIVE_LIMIT:
        pass
