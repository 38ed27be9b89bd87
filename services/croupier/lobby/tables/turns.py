"""The turns of games, of which the engine is asked: for lists at once, and for streams from time to time."""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from croupier.lobby.feed.subscriptions import TableFeed
from croupier.lobby.storage.table_store import TableStore
from croupier.lobby.tables.engine_port import MAX_TABLE_IDS, EnginePort, Turn
from croupier.runtime.errors import ServiceError
from croupier.runtime.single_flight import PacedFlight
from croupier.runtime.steps import in_steps

READ_SECONDS = 2.0
"""A list comes without turns rather than later."""
PAUSE_SECONDS = 0.05
"""The time between two calls, in which callers join the next one."""
PUBLISHING_STEP = 25


@dataclass(slots=True)
class _Batch:
    """The tables of the callers of one read, and those turns of them that the engine knows."""

    wanted: set[str] = field(default_factory=set)
    found: dict[str, Turn] = field(default_factory=dict)


@dataclass(slots=True)
class Turns:
    """Asks the engine for turns, one call for many callers, and sends the changed ones to the streams of own tables."""

    engine: EnginePort
    tables: TableStore
    feed: TableFeed
    _reads: PacedFlight = field(default_factory=lambda: PacedFlight(PAUSE_SECONDS))
    _next: _Batch = field(default_factory=_Batch)

    async def read(self, table_ids: Collection[str]) -> Mapping[str, Turn]:
        """Return those turns of some games that the engine knows, none if it does not answer within 2 s."""
        if not table_ids:
            return {}
        batch = self._next
        batch.wanted.update(table_ids)
        try:
            async with asyncio.timeout(READ_SECONDS):
                await self._reads.run(self._read_next)
        except (ServiceError, TimeoutError):
            # The outage is logged where the engine was called.
            return {}
        return {table_id: batch.found[table_id] for table_id in table_ids if table_id in batch.found}

    async def _read_next(self) -> None:
        batch, self._next = self._next, _Batch()
        wanted = sorted(batch.wanted)
        for start in range(0, len(wanted), MAX_TABLE_IDS):
            batch.found |= await self._ask(wanted[start : start + MAX_TABLE_IDS])

    async def tick(self) -> None:
        """Send the turns of slow games that have changed; raises ServiceError if the engine does not answer."""
        slow = self.feed.own.slow()
        for start in range(0, len(slow), MAX_TABLE_IDS):
            turns = await self._ask(slow[start : start + MAX_TABLE_IDS])
            changed = {table_id: turn for table_id, turn in turns.items() if turn != self.feed.own.turn_of(table_id)}
            tables = await self.tables.list_by_ids(changed) if changed else ()
            async for table in in_steps(tables, PUBLISHING_STEP):
                self.feed.publish_turn(table, changed[table.table_id])

    async def _ask(self, table_ids: list[str]) -> dict[str, Turn]:
        statuses = await self.engine.table_statuses(table_ids)
        return {table_id: status.turn for table_id, status in statuses.items() if status.turn is not None}
