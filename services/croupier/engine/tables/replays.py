"""The replays of finished tables: each is built once, in short steps, and kept compressed."""

from collections import OrderedDict
from functools import partial
from typing import NamedTuple

from croupier.engine.core.replay import ReplayFold
from croupier.engine.metrics import EngineMetrics
from croupier.engine.storage.port import STEP_ROWS, StoredTable, TableStore, log_rows
from croupier.engine.tables.loading import LoadQueue
from croupier.engine.tables.table import Table
from croupier.engine.tasks import Background
from croupier.runtime.single_flight import SingleFlight
from croupier.runtime.steps import in_steps

MAX_REPLAY_CACHE_BYTES = 64 * 1024 * 1024


class Replay(NamedTuple):
    """A replay, compressed for replay_parts, the bytes that had to be written, and the callers that shared that."""

    compressed: bytes
    written: int = 0
    callers: int = 1


class ReplayCache:
    """Builds replays in turn with the loads of tables, and keeps those that were read last."""

    def __init__(
        self,
        store: TableStore,
        load_queue: LoadQueue,
        background: Background,
        metrics: EngineMetrics,
        max_bytes: int = MAX_REPLAY_CACHE_BYTES,
    ) -> None:
        self._store = store
        self._load_queue = load_queue
        self._background = background
        self._built_count = metrics.replays_built
        self._max_bytes = max_bytes
        self._replays: OrderedDict[str, bytes] = OrderedDict()
        self._bytes = 0
        self._building: SingleFlight[Replay] = SingleFlight()
        metrics.replay_cache_bytes.set_function(lambda: self._bytes)

    async def get(self, table: Table | StoredTable, is_urgent: bool) -> Replay:
        """Return the replay of a finished table; concurrent callers share its building.

        No bytes if the table has been deleted. Raises UnreadableLog, Unavailable if too many strangers wait for logs.
        """
        table_id = table.config.table_id
        if (known := self._replays.get(table_id)) is not None:
            self._replays.move_to_end(table_id)
            return Replay(known)
        with self._load_queue.awaited(_turn_of(table_id), is_urgent):
            replay, callers = await self._building.run(table_id, partial(self._added, table))
        return replay._replace(callers=callers)

    async def close(self) -> None:
        """Build no more replays."""
        await self._building.close()

    async def _added(self, table: Table | StoredTable) -> Replay:
        replay = await self._built(table)
        if replay.compressed:
            self._replays[table.config.table_id] = replay.compressed
            self._bytes += len(replay.compressed)
        while self._bytes > self._max_bytes:
            _, oldest = self._replays.popitem(last=False)
            self._bytes -= len(oldest)
        return replay

    async def _built(self, table: Table | StoredTable) -> Replay:
        store, table_id = self._store, table.config.table_id
        is_in_memory = isinstance(table, Table)
        if not is_in_memory and (stored := await store.find_replay(table_id)) is not None:
            return Replay(stored)
        async with self._load_queue.turn(_turn_of(table_id)):
            fold = ReplayFold(table.config)
            rows = in_steps(table.entries.rows(), STEP_ROWS) if isinstance(table, Table) else log_rows(store, table_id)
            async for row in rows:
                fold.add(row)
            replay = fold.result()
        self._built_count.inc()
        if replay and not is_in_memory:
            self._background.start(store.store_replay(table_id, replay))
        return Replay(replay, len(replay))


def _turn_of(table_id: str) -> str:
    # The table itself may wait for a turn at the same time.
    return f"replay of {table_id}"
