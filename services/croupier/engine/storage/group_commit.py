"""Group commit: one task commits all waiting appends, so that at load one fsync carries many tables."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from opentelemetry.trace import Span

from croupier.engine.metrics import EngineMetrics
from croupier.engine.storage.port import SequenceTaken
from croupier.engine.storage.writer import Append, EntryWriter
from croupier.runtime.observation.tracing import SEQUENCE, TABLE_ID, open_shared_span, open_span

MAX_COMMIT_APPENDS = 500
STUCK_SECONDS = 1.0
"""An engine whose commit takes longer counts as dead, since its players wait."""


class _Waiting(NamedTuple):
    append: Append
    stored: asyncio.Future[None]
    span: Span


class GroupCommit:
    """The appends that wait, and the task that commits them together."""

    def __init__(
        self, writer: EntryWriter, on_stored: Callable[[Mapping[str, int]], None], metrics: EngineMetrics
    ) -> None:
        self._writer = writer
        self._on_stored = on_stored
        self._metrics = metrics
        self._waiting: list[_Waiting] = []
        self._wake = asyncio.Event()
        self._closing = False
        self._committing_since: float | None = None
        self.ended = asyncio.Event()
        """Set when run() has ended."""

    @property
    def pending(self) -> int:
        """The number of waiting appends."""
        return len(self._waiting)

    async def append(self, append: Append) -> None:
        """Store an append durably, as a whole or not at all; raises SequenceTaken or Unavailable."""
        started, stored = time.perf_counter(), asyncio.get_running_loop().create_future()
        with open_span("append", {TABLE_ID: append.table_id, SEQUENCE: append.head}) as span:
            self._waiting.append(_Waiting(append, stored, span))
            self._wake.set()
            await stored
        self._metrics.append_seconds.observe(time.perf_counter() - started)

    async def run(self) -> None:
        """Commit waiting appends until close() was called and none waits."""
        try:
            while self._waiting or not self._closing:
                await self._wake.wait()
                batch = self._next_batch()
                if not self._waiting and not self._closing:
                    self._wake.clear()
                if batch:
                    await self._commit(batch)
            await self._writer.close()
        finally:
            self.ended.set()

    def close(self) -> None:
        """Let run() end once all waiting appends are stored."""
        self._closing = True
        self._wake.set()

    def _next_batch(self) -> list[_Waiting]:
        """Return the appends of the next commit: at most one of each table, up to the maximum.

        Two appends of a table have the same sequence, as when a client left while its action waited and sent it again.
        """
        batch: dict[str, _Waiting] = {}
        later = []
        for waiting in self._waiting:
            if waiting.append.table_id in batch or len(batch) == MAX_COMMIT_APPENDS:
                later.append(waiting)
            else:
                batch[waiting.append.table_id] = waiting
        self._waiting = later
        return list(batch.values())

    def is_responsive(self) -> bool:
        """Return whether no commit takes longer than STUCK_SECONDS."""
        since = self._committing_since
        return since is None or asyncio.get_running_loop().time() - since < STUCK_SECONDS

    async def _commit(self, batch: list[_Waiting]) -> None:
        while batch:
            self._committing_since = asyncio.get_running_loop().time()
            try:
                with open_shared_span("commit", [waiting.span for waiting in batch]):
                    losers = set(await self._writer.write([waiting.append for waiting in batch]))
            except Exception as error:  # noqa: BLE001 - the callers of the appends receive it
                _settle(batch, error)
                return
            finally:
                self._committing_since = None
            if not losers:
                self._metrics.commit_rows.observe(sum(len(waiting.append.rows) for waiting in batch))
                _settle(batch, None)
                self._on_stored({waiting.append.table_id: waiting.append.head for waiting in batch})
                return
            # Nothing was stored: appends that lost a race fail, and the others are written without them.
            _settle([batch[index] for index in losers], SequenceTaken())
            batch = [waiting for index, waiting in enumerate(batch) if index not in losers]


def _settle(batch: Sequence[_Waiting], error: Exception | None) -> None:
    for waiting in batch:
        if waiting.stored.done():
            continue
        if error is None:
            waiting.stored.set_result(None)
        else:
            waiting.stored.set_exception(error)
