"""Catch-up: tables in memory take over the entries that other engines appended."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence

from croupier.engine.cluster.liveness import EngineLiveness
from croupier.engine.cluster.notifier import NotificationListener
from croupier.engine.core.log import Entry
from croupier.engine.core.log_codec import UnreadableLog
from croupier.engine.storage.port import TableStore
from croupier.engine.tables.presence import Announcement
from croupier.engine.tables.registry import Tables
from croupier.engine.tables.table import Table
from croupier.engine.tasks import Background
from croupier.games.facts import Seat
from croupier.runtime.errors import Unavailable
from croupier.runtime.observation.logs import Logger
from croupier.runtime.steps import in_steps

RETRY_SECONDS = 0.5
LOADING_SECONDS = 0.05
MAX_READ_TABLES = 200
MAX_READ_ENTRIES = 256
"""More entries in one result would occupy the event loop for too long."""
GONE_SECONDS = 3.0
"""An engine that is not alive for so long has no streams. After an outage of the database the first engine to return
knows no other for a moment, whose streams were open all the time."""
PRESENCE_STEP = 100
"""The tables of a step; each takes about 5 microseconds."""


class CatchUp(NotificationListener):
    """Receives the notifications of other engines, and reads the logs that have grown, in batches."""

    def __init__(
        self, tables: Tables, store: TableStore, liveness: EngineLiveness, background: Background, logger: Logger
    ) -> None:
        self._tables = tables
        self._store = store
        self._liveness = liveness
        self._background = background
        self._logger = logger
        # A dict keeps the order of the notifications.
        self._behind: dict[str, None] = {}
        self._loading: dict[str, None] = {}
        """Tables to check again soon, because they were being loaded."""
        self._wake = asyncio.Event()
        self._announcing: set[str] = set()
        """The other engines that have announced a presence."""
        self._missing_since: dict[str, float] = {}
        """Those of them that are not alive, with the time since when."""
        self._known = liveness.living
        """The living engines at the last check."""

    @property
    def pending(self) -> int:
        """The number of logs to read."""
        return len(self._behind)

    @property
    def engines(self) -> int:
        return self._liveness.engines

    def logs_extended(self, heads: Mapping[str, int]) -> None:
        for table_id, head in heads.items():
            table = self._tables.in_memory.get(table_id)
            if table_id in self._tables.loading or (table and table.state.sequence < head):
                self._enqueue([table_id])

    def notifications_missed(self) -> None:
        """Any log may have grown, but for those of finished games."""
        playing = [table_id for table_id, table in self._tables.in_memory.items() if not table.state.is_over]
        self._enqueue([*playing, *self._tables.loading])
        if gone := self._gone_engines():
            self._background.start(self._forget(gone))
        known, self._known = self._known, self._liveness.living
        if self._known - known:
            # Nothing is announced to engines that are not known yet.
            self.connected()

    def connected(self) -> None:
        self._background.start(self._announce_again())

    def seat_reacted(self, table_id: str, seat: Seat, reaction: int) -> None:
        if table := self._tables.in_memory.get(table_id):
            table.subscribers.publish_reaction(seat, reaction)

    def presence_announced(self, engine_id: str, announcements: Mapping[str, Announcement]) -> None:
        self._announcing.add(engine_id)
        for table_id, announcement in announcements.items():
            if table := self._tables.in_memory.get(table_id):
                table.subscribers.presence.announced(engine_id, announcement)

    def _gone_engines(self) -> set[str]:
        """Return the engines that have died or left since the last call."""
        now = asyncio.get_running_loop().time()
        missing = self._announcing - self._liveness.living
        self._missing_since = {engine_id: self._missing_since.get(engine_id, now) for engine_id in missing}
        gone = {engine_id for engine_id, since in self._missing_since.items() if now - since >= GONE_SECONDS}
        self._announcing -= gone
        return gone

    async def _forget(self, gone: Collection[str]) -> None:
        async for table in in_steps(list(self._tables.in_memory.values()), PRESENCE_STEP):
            table.subscribers.presence.forget(gone)

    async def _announce_again(self) -> None:
        async for table in in_steps(list(self._tables.in_memory.values()), PRESENCE_STEP):
            table.subscribers.presence.announce(asks=True)

    def _enqueue(self, table_ids: Iterable[str]) -> None:
        self._behind.update(dict.fromkeys(table_ids))
        self._wake.set()

    def _enqueue_loading(self) -> None:
        loading, self._loading = self._loading, {}
        self._enqueue(loading)

    async def run(self) -> None:
        """Read the logs that have grown; runs until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            behind, self._behind = list(self._behind), {}
            try:
                await self._catch_up(behind)
            except Exception as error:
                if not isinstance(error, Unavailable):
                    self._logger.error("logs of other engines cannot be read", exc_info=error)
                await asyncio.sleep(RETRY_SECONDS)
                self._enqueue(behind)

    async def _catch_up(self, table_ids: list[str]) -> None:
        if loading := [table_id for table_id in table_ids if table_id in self._tables.loading]:
            # Their logs may have been read just before the append: check them again once they are in memory.
            if not self._loading:
                # One timer for all, since they may wait long for their turns.
                asyncio.get_running_loop().call_later(LOADING_SECONDS, self._enqueue_loading)
            self._loading.update(dict.fromkeys(loading))
        for start in range(0, len(table_ids), MAX_READ_TABLES):
            part = table_ids[start : start + MAX_READ_TABLES]
            tables = {table_id: table for table_id in part if (table := self._tables.in_memory.get(table_id))}
            await self._catch_up_tables(tables)

    async def _catch_up_tables(self, tables: Mapping[str, Table]) -> None:
        heads = {table_id: table.state.sequence for table_id, table in tables.items()}
        is_behind = True
        while is_behind:
            grown = await self._read(tables, heads)
            is_behind = sum(map(len, grown.values())) >= MAX_READ_ENTRIES
            for table_id, entries in grown.items():
                heads[table_id] = entries[-1].sequence
                # In tasks, since a table whose lock is held must not block the others.
                self._background.start(tables[table_id].apply_entries(entries))

    async def _read(self, tables: Mapping[str, Table], heads: dict[str, int]) -> Mapping[str, Sequence[Entry]]:
        """Return the next entries beyond the heads of tables; drain tables whose logs are unreadable."""
        while True:
            try:
                return await self._store.entries_beyond(heads, MAX_READ_ENTRIES)
            except UnreadableLog as fault:
                # Newer engines, which can read their own entries, continue this table.
                self._logger.error("log cannot be read", table_id=fault.table_id, exc_info=fault)
                self._background.start(tables[fault.table_id].drain())
                del heads[fault.table_id]
