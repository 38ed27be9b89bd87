"""Group commit: all waiting appends are committed together, so that at load one fsync carries many tables."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from opentelemetry import trace
from opentelemetry.trace import Span

from croupier.engine.metrics import EngineMetrics
from croupier.engine.storage.port import SequenceTaken
from croupier.engine.storage.writer import Append, EntryWriter
from croupier.runtime.observation.tracing import start_shared_span
from croupier.runtime.outcomes import Callback

MAX_COMMIT_APPENDS = 500
STUCK_SECONDS = 1.0
"""An engine whose commit takes longer counts as dead, since its players wait."""


class _Waiting(NamedTuple):
    """An append, the time at which it began by time.perf_counter(), and the span that waits for it."""

    append: Append
    done: Callback[None]
    began: float
    span: Span


class GroupCommit:
    """The appends that wait, and the commits, one after the other. No task waits: callbacks receive the outcomes."""

    def __init__(
        self, writer: EntryWriter, on_stored: Callable[[Mapping[str, int]], None], metrics: EngineMetrics
    ) -> None:
        self._writer = writer
        self._on_stored = on_stored
        self._metrics = metrics
        self._waiting: list[_Waiting] = []
        self._is_running = False
        self._is_committing = False
        """Whether a commit is under way, or begins in the next step of the event loop."""
        self._is_closing = False
        self._committing_since: float | None = None
        self._drained = asyncio.Event()
        self.ended = asyncio.Event()
        """Set when run() has ended."""

    @property
    def pending(self) -> int:
        """The number of waiting appends."""
        return len(self._waiting)

    def append(self, append: Append, done: Callback[None]) -> None:
        """Begin to store an append as a whole, within the current span; call `done` as TableStore.append() does."""
        self._waiting.append(_Waiting(append, done, time.perf_counter(), trace.get_current_span()))
        self._begin()

    async def run(self) -> None:
        """Commit waiting appends until close() was called and none waits; no outcome is reported afterwards."""
        self._is_running = True
        self._begin()
        try:
            await self._drained.wait()
        finally:
            self._is_running = False
            self._writer.close()
            self.ended.set()

    def close(self) -> None:
        """Let run() end once all waiting appends are stored."""
        self._is_closing = True
        self._begin()

    def is_responsive(self) -> bool:
        """Return whether no commit takes longer than STUCK_SECONDS."""
        since = self._committing_since
        return since is None or asyncio.get_running_loop().time() - since < STUCK_SECONDS

    def _begin(self) -> None:
        """Commit with the other appends of this step of the event loop, unless a commit is under way."""
        if self._is_running and not self._is_committing:
            self._is_committing = True
            asyncio.get_running_loop().call_soon(self._commit_next)

    def _commit_next(self) -> None:
        if self._waiting:
            self._commit(self._next_batch())
        else:
            self._is_committing = False
            if self._is_closing:
                self._drained.set()

    def _next_batch(self) -> list[_Waiting]:
        """Return the appends of the next commit: at most one of each table, up to the maximum.

        Two appends of a table have the same sequence, as when a client left while its action waited and sent it again.
        """
        if len(self._waiting) == 1:
            lone, self._waiting = self._waiting, []
            return lone
        batch: dict[str, _Waiting] = {}
        later = []
        for waiting in self._waiting:
            if waiting.append.table_id in batch or len(batch) == MAX_COMMIT_APPENDS:
                later.append(waiting)
            else:
                batch[waiting.append.table_id] = waiting
        self._waiting = later
        return list(batch.values())

    def _commit(self, batch: list[_Waiting]) -> None:
        self._committing_since = asyncio.get_running_loop().time()
        span = start_shared_span("commit", [waiting.span for waiting in batch])
        written = partial(self._written, batch, span)
        try:
            self._writer.write([waiting.append for waiting in batch], written)
        except Exception as fault:  # noqa: BLE001 - the appends receive it, and the next commit begins
            asyncio.get_running_loop().call_soon(written, fault)

    def _written(self, batch: list[_Waiting], span: Span, outcome: Sequence[int] | Exception) -> None:
        span.end()
        self._committing_since = None
        if not self._is_running:
            return
        # The next commit begins first, so that the disk is busy while the outcomes of this one are processed.
        if isinstance(outcome, Exception):
            self._commit_next()
            _settle(batch, outcome)
        elif outcome:
            self._commit_without(batch, set(outcome))
        else:
            self._commit_next()
            self._stored(batch)

    def _commit_without(self, batch: list[_Waiting], losers: set[int]) -> None:
        """Write a batch, of which nothing was stored, without the appends that have lost a race, which fail."""
        others = [waiting for index, waiting in enumerate(batch) if index not in losers]
        if others:
            self._commit(others)
        else:
            self._commit_next()
        _settle([batch[index] for index in losers], SequenceTaken())

    def _stored(self, batch: list[_Waiting]) -> None:
        rows, heads, now = 0, {}, time.perf_counter()
        for waiting in batch:
            append = waiting.append
            rows += len(append.rows)
            heads[append.table_id] = append.head
            self._metrics.append_seconds.observe(now - waiting.began)
        self._metrics.commit_rows.observe(rows)
        try:
            # Before the outcomes, whose tables publish to all their viewers: other engines wait for it.
            self._on_stored(heads)
        finally:
            _settle(batch, None)


def _settle(batch: Sequence[_Waiting], error: Exception | None) -> None:
    for waiting in batch:
        try:
            waiting.done(error)
        except Exception as fault:  # noqa: BLE001 - the others of the commit must get their outcomes
            context = {"message": "the outcome of an append was not processed", "exception": fault}
            asyncio.get_running_loop().call_exception_handler(context)
