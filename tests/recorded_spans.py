"""The spans of this process: one provider for all tests, since OpenTelemetry takes no second one."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.export import SpanExporter
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from croupier.runtime.span_export import AllowListExporter, new_provider


class _Recorder(SpanProcessor):
    """Hands over what may be reported of each span that has ended, while a test wants it."""

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
    """Every span that ends while the body runs, with what services may report of it."""
    recorder, exporter = _recorder(), InMemorySpanExporter()
    recorder.exporter = AllowListExporter(exporter)
    try:
        yield exporter
    finally:
        recorder.exporter = None
