"""The replays of finished tables, as files and as events: each is built once, in short steps, and kept compressed."""

from collections import OrderedDict
from collections.abc import AsyncIterator
from functools import partial
from typing import NamedTuple, Protocol

from croupier.engine.core.log import TableConfig
from croupier.engine.core.log_codec import Row
from croupier.engine.core.replay import ReplayFold
from croupier.engine.metrics import EngineMetrics
from croupier.engine.storage.port import STEP_ROWS, StoredTable, TableStore, log_rows
from croupier.engine.tables.failing_rules import FailingRules
from croupier.engine.tables.loading import LoadQueue
from croupier.engine.tables.replay_events import ReplayEventsFold
from croupier.engine.tables.subscription import Encoder
from croupier.engine.tables.table import Table
from croupier.engine.tasks import Background
from croupier.games.facts import Viewer
from croupier.runtime.single_flight import SingleFlight
from croupier.runtime.steps import in_steps

MAX_REPLAY_CACHE_BYTES = 64 * 1024 * 1024


class Replay(NamedTuple):
    """A replay as its fold compressed it, the bytes that had to be written, and the callers that shared that."""

    compressed: bytes
    written: int = 0
    callers: int = 1


class _Fold(Protocol):
    """The fold of a log into a replay."""

    def add(self, row: Row) -> None:
        """Add the row of the next entry; raises UnreadableLog."""

    def result(self) -> bytes:
        """Return the whole replay, compressed; no bytes without any entry."""


class ReplayCache:
    """Builds replays in turn with the loads of tables, and keeps those that were read last."""

    def __init__(
        self,
        store: TableStore,
        load_queue: LoadQueue,
        background: Background,
        encoder: Encoder,
        failing: FailingRules,
        metrics: EngineMetrics,
        max_bytes: int = MAX_REPLAY_CACHE_BYTES,
    ) -> None:
        self._store = store
        self._load_queue = load_queue
        self._background = background
        self._encoder = encoder
        self._failing = failing
        self._built_count = metrics.replays_built
        self._max_bytes = max_bytes
        self._replays: OrderedDict[str, bytes] = OrderedDict()
        self._bytes = 0
        self._building: SingleFlight[Replay] = SingleFlight()
        metrics.replay_cache_bytes.set_function(lambda: self._bytes)

    async def get(self, table: Table | StoredTable, is_urgent: bool, viewer: Viewer | None = None) -> Replay:
        """Return the file of a finished table, or its events for a viewer; concurrent callers share its building.

        No bytes if the table has been deleted. Raises UnreadableLog, RulesUnusable; Unavailable if too many wait.
        """
        key = _key(table, viewer)
        if (known := self._replays.get(key)) is not None:
            self._replays.move_to_end(key)
            return Replay(known)
        with self._load_queue.awaited(key, is_urgent):
            replay, callers = await self._building.run(key, partial(self._added, table, viewer))
        return replay._replace(callers=callers)

    async def close(self) -> None:
        """Build no more replays."""
        await self._building.close()

    async def _added(self, table: Table | StoredTable, viewer: Viewer | None) -> Replay:
        replay = await (self._file(table) if viewer is None else self._built(table, viewer))
        if replay.compressed:
            self._replays[_key(table, viewer)] = replay.compressed
            self._bytes += len(replay.compressed)
        while self._bytes > self._max_bytes:
            _, oldest = self._replays.popitem(last=False)
            self._bytes -= len(oldest)
        return replay

    async def _file(self, table: Table | StoredTable) -> Replay:
        store, table_id = self._store, table.config.table_id
        if isinstance(table, Table):
            return await self._built(table, None)
        if (stored := await store.find_replay(table_id)) is not None:
            return Replay(stored)
        replay = await self._built(table, None)
        if replay.compressed:
            self._background.start(store.store_replay(table_id, replay.compressed))
        return replay

    async def _built(self, table: Table | StoredTable, viewer: Viewer | None) -> Replay:
        async with self._load_queue.turn(_key(table, viewer)):
            fold = self._new_fold(table.config, viewer)
            async for row in self._rows(table):
                fold.add(row)
            replay = fold.result()
        self._built_count.inc()
        return Replay(replay, len(replay))

    def _rows(self, table: Table | StoredTable) -> AsyncIterator[Row]:
        if isinstance(table, Table):
            return in_steps(table.entries.rows(), STEP_ROWS)
        return log_rows(self._store, table.config.table_id)

    def _new_fold(self, config: TableConfig, viewer: Viewer | None) -> _Fold:
        watch = self._failing.watch(config)
        return ReplayFold(config, watch) if viewer is None else ReplayEventsFold(self._encoder, config, viewer, watch)


def _key(table: Table | StoredTable, viewer: Viewer | None) -> str:
    # The table itself may wait for a turn at the same time.
    return f"replay for {viewer} of {table.config.table_id}"
