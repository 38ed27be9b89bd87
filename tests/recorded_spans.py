"""Spans of this process, by one provider for all tests: OpenTelemetry allows no second one."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.export import SpanExporter
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from croupier.runtime.observation.span_export import AllowListExporter, new_provider


class _Recorder(SpanProcessor):
    """Exports the ended spans while a test records them."""

    def __init__(self) -> None:
        self.exporter: SpanExporter | None = None

    def on_end(self, span: ReadableSpan) -> None:
        if self.exporter and span.context and span.context.trace_flags.sampled:
            self.exporter.export([span])


@cache
def _recorder() -> _Recorder:
    recorder = _Recorder()
    trace.set_tracer_provider(new_provider(recorder, 1.0, "lobby"))
    return recorder


@contextmanager
def recorded_spans() -> Iterator[InMemorySpanExporter]:
    """Record every span that ends while the body runs, as services export it."""
    recorder, exporter = _recorder(), InMemorySpanExporter()
    recorder.exporter = AllowListExporter(exporter)
    try:
        yield exporter
    finally:
        recorder.exporter = None
