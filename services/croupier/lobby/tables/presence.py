"""Presence at forming tables: players who neither call nor follow their table for a while are away.

Another player becomes host, and no game begins with somebody who is away.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

from croupier.lobby.feed.subscriptions import TableFeed
from croupier.lobby.storage.presence_store import PresenceStore, Seen
from croupier.lobby.storage.table_store import TableStore
from croupier.lobby.tables.forming_table import Table, TableState, with_presence
from croupier.lobby.tables.table_updater import TableUpdater
from croupier.runtime.errors import NotFound

AWAY_MILLISECONDS = 45_000
"""Streams are recorded every 20 s at most, and the clocks of lobbies may differ by 5 s in both directions."""
MAX_PAUSE_MILLISECONDS = 20_000
"""After a longer pause, such as one of the database, players had no chance to be recorded."""
BATCH_SIZE = 500


@dataclass(slots=True)
class Presence:
    """Records who follows forming tables, and marks players who are away."""

    store: PresenceStore
    tables: TableStore
    updater: TableUpdater
    feed: TableFeed
    clock: Callable[[], int]
    _reliable_from: int = field(init=False)
    """The time from which records of everybody who is there exist."""
    _ticked_milliseconds: int | None = None

    def __post_init__(self) -> None:
        self._reliable_from = self.clock() + AWAY_MILLISECONDS

    @property
    def is_known(self) -> bool:
        """Whether there are records by now of everybody who is there."""
        now, ticked = self.clock(), self._ticked_milliseconds
        return ticked is not None and now - ticked <= MAX_PAUSE_MILLISECONDS and now >= self._reliable_from

    def marked(self, table: Table, seen: Seen, caller_id: str = "") -> Table:
        """Return a table with marks of its players who are away, by their records and a call that runs."""
        now = self.clock()
        since = now - AWAY_MILLISECONDS
        if now < self._reliable_from:
            # Only marked players are certainly away.
            since = 0
            seen = {seat.player_id: 0 for seat in table.seats if seat.player_id and not seat.is_away} | dict(seen)
        calling = {caller_id: now} if caller_id else {}
        return with_presence(table, {**seen, **calling}, since)

    async def tick(self) -> None:
        """Record the players who follow their tables, and mark those who are away."""
        now = self.clock()
        if self._ticked_milliseconds is not None and now - self._ticked_milliseconds > MAX_PAUSE_MILLISECONDS:
            self._reliable_from = now + AWAY_MILLISECONDS
        await self._record_followers(now)
        if now >= self._reliable_from:
            await self._mark_away(now - AWAY_MILLISECONDS)
        self._ticked_milliseconds = now

    async def _record_followers(self, now: int) -> None:
        due = self.store.due(self.feed.followers(), now)
        for start in range(0, len(due), BATCH_SIZE):
            pairs = due[start : start + BATCH_SIZE]
            tables = {table.table_id: table for table in await self._forming({table_id for table_id, _ in pairs})}
            seated = [
                (table_id, player_id)
                for table_id, player_id in pairs
                if table_id in tables and tables[table_id].seat_of(player_id) is not None
            ]
            await self.store.record(seated, now)
            # Those without a seat are looked up no more often.
            self.store.mark_recorded(pairs, now)
            returned = [table for table in tables.values() if any(seat.is_away for seat in table.seats)]
            await self._update_marks(returned)

    async def _mark_away(self, before: int) -> None:
        table_ids = await self.store.list_stale(before, BATCH_SIZE)
        if table_ids:
            await self._update_marks(await self._forming(table_ids))
            await self.store.delete_stale(table_ids, before)

    async def _update_marks(self, tables: Iterable[Table]) -> None:
        seen = await self.store.seen([table.table_id for table in tables])
        for table_id, of_table in seen.items():
            try:
                await self.updater.update(table_id, partial(self.marked, seen=of_table))
            except NotFound:
                continue

    async def _forming(self, table_ids: Iterable[str]) -> list[Table]:
        tables = await self.tables.list_by_ids(list(table_ids))
        return [table for table in tables if table.state is TableState.FORMING]
