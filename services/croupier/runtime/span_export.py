"""Handing spans over to a collector: bounded, and at nobody's cost when the collector is away."""

from collections import deque
from collections.abc import Mapping
from threading import Event, Thread

from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from croupier.runtime.logs import Logger
from croupier.runtime.traces import LARGEST_BATCH_SPANS, MOST_WAITING_SPANS, PAUSE_SECONDS

FLUSH_SECONDS = 1.0
"""What the last spans get to reach the collector: less than services keep for the end of what they hold."""


class BoundedExport(SpanProcessor):
    """Hands spans over in batches, on a thread of its own; it counts those that are dropped, and logs when that begins.

    The library's own processor neither counts them nor ends in time.
    """

    def __init__(self, exporter: SpanExporter, logger: Logger) -> None:
        self._exporter = exporter
        self._logger = logger
        self._waiting: deque[ReadableSpan] = deque()
        self._too_many = self._not_taken = 0
        self._is_away = self._is_closing = False
        self._wake = Event()
        self._thread = Thread(target=self._run, name="span-export", daemon=True)
        self._thread.start()

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """Nothing happens before the end."""

    def on_end(self, span: ReadableSpan) -> None:
        """Let a span wait, or drop it where too many do; called on the event loop."""
        if not (span.context and span.context.trace_flags.sampled):
            return
        if self._is_closing or len(self._waiting) >= MOST_WAITING_SPANS:
            self._too_many += 1
            return
        self._waiting.append(span)
        if len(self._waiting) >= LARGEST_BATCH_SPANS:
            self._wake.set()

    def dropped(self) -> Mapping[str, int]:
        """How many spans were dropped, by reason."""
        return {"too_many": self._too_many, "not_taken": self._not_taken}

    def _run(self) -> None:
        while not self._is_closing:
            self._wake.wait(PAUSE_SECONDS)
            self._wake.clear()
            self._hand_over()
        self._hand_over()

    def _hand_over(self) -> None:
        while self._waiting:
            batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), LARGEST_BATCH_SPANS))]
            try:
                is_away = self._exporter.export(batch) is not SpanExportResult.SUCCESS
            except Exception:  # noqa: BLE001 - whatever it was, these spans are lost and nothing else is
                is_away = True
            self._not_taken += len(batch) if is_away else 0
            if is_away and not self._is_away:
                self._logger.warning("the collector takes no spans: they are dropped")
            elif self._is_away and not is_away:
                self._logger.info("the collector takes spans again")
            self._is_away = is_away

    def shutdown(self) -> None:
        """Hand over what waits, within FLUSH_SECONDS; blocks meanwhile."""
        self._is_closing = True
        self._wake.set()
        self._thread.join(FLUSH_SECONDS)
        # What is under way then fails, and with it the thread ends.
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 0) -> bool:  # noqa: ARG002 - the library's signature
        """Nobody needs it: the end hands everything over."""
        return not self._waiting
