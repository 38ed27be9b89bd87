"""The order in which tables are loaded: a few at a time, those of players before those of strangers."""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from croupier.engine.metrics import EngineMetrics
from croupier.runtime.errors import Unavailable
from croupier_api.v1 import errors_pb2

MAX_WAITING_STRANGERS = 64


class LoadQueue:
    """The turns of loads. Strangers get half of them at most, so that a player never waits for many of theirs."""

    def __init__(self, max_loads: int, metrics: EngineMetrics) -> None:
        self._max_loads = max_loads
        self._max_strangers = max(1, max_loads // 2)
        self._running = self._strangers = 0
        self._metrics = metrics
        self._urgent: OrderedDict[str, asyncio.Future[bool]] = OrderedDict()
        self._others: OrderedDict[str, asyncio.Future[bool]] = OrderedDict()
        self._urgent_callers: Counter[str] = Counter()

    @contextmanager
    def awaited(self, table_id: str, is_urgent: bool) -> Iterator[None]:
        """Await the load of a table in the block; other callers may share it.

        `is_urgent`: for a player at the table or for the engine itself. The load then has their precedence, whether it
        waits for its turn or will do so.
        """
        if not is_urgent:
            yield
            return
        self._urgent_callers[table_id] += 1
        if (turn := self._others.pop(table_id, None)) is not None:
            self._urgent[table_id] = turn
            self._start_next()
        try:
            yield
        finally:
            self._urgent_callers[table_id] -= 1
            if not self._urgent_callers[table_id]:
                del self._urgent_callers[table_id]

    @asynccontextmanager
    async def turn(self, table_id: str) -> AsyncIterator[None]:
        """Wait for the turn of a table, and hold it for the block; raises Unavailable if too many strangers wait."""
        is_urgent = table_id in self._urgent_callers
        waiting = self._urgent if is_urgent else self._others
        if not is_urgent and len(waiting) >= MAX_WAITING_STRANGERS:
            raise Unavailable(
                errors_pb2.ERROR_REASON_TABLE_BUSY,
                "too many tables are being loaded: try again",
                retry_after_seconds=1,
                metadata={"limit": "strangers"},
            )
        loop = asyncio.get_running_loop()
        turn, since = loop.create_future(), loop.time()
        waiting[table_id] = turn
        self._start_next()
        try:
            is_stranger = await turn
        except asyncio.CancelledError:
            self._urgent.pop(table_id, None)
            self._others.pop(table_id, None)
            if not turn.cancelled():
                self._end(turn.result())
            raise
        self._metrics.table_loads.labels("stranger" if is_stranger else "player").inc()
        self._metrics.load_wait_seconds.observe(loop.time() - since)
        try:
            yield
        finally:
            self._end(is_stranger)

    def _start_next(self) -> None:
        while self._running < self._max_loads:
            is_stranger = not self._urgent
            if is_stranger and (not self._others or self._strangers >= self._max_strangers):
                return
            _, turn = (self._others if is_stranger else self._urgent).popitem(last=False)
            if not turn.cancelled():
                self._running += 1
                self._strangers += is_stranger
                turn.set_result(is_stranger)

    def _end(self, is_stranger: bool) -> None:
        self._running -= 1
        self._strangers -= is_stranger
        self._start_next()
