"""Traces by OpenTelemetry, for a collector that speaks OTLP over gRPC."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import Link, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from croupier.runtime.logs import Logger
from croupier.runtime.span_export import BoundedExport
from croupier.runtime.traces import EXPORT_SECONDS, Span

MOST_LINKS = 512
"""As many as a commit can have actions that wait for it."""
FAULTS = frozenset(("UNKNOWN", "DEADLINE_EXCEEDED", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"))
"""The codes by which a server says that the fault is its own."""
_LIMITS = SpanLimits(max_span_attributes=8, max_events=0, max_links=MOST_LINKS, max_span_attribute_length=128)
_PROPAGATOR = TraceContextTextMapPropagator()
# Of the one action that a task works on. Tasks that it starts inherit this, and find that the action has ended.
_ACTION: ContextVar["OpenTelemetrySpan | None"] = ContextVar("action", default=None)


class OpenTelemetrySpan:
    """A span under way."""

    def __init__(self, span: trace.Span) -> None:
        self.span = span

    @property
    def traceparent(self) -> str:
        """What is sent along so that the trace goes on elsewhere."""
        carrier: dict[str, str] = {}
        _PROPAGATOR.inject(carrier, trace.set_span_in_context(self.span, Context()))
        return carrier.get("traceparent", "")

    def note(self, *, code: str = "", table_id: str = "", game: str = "", sequence: int = 0) -> None:
        """Say what it is about."""
        noted: dict[str, str | int] = {
            "rpc.response.status_code": code,
            "croupier.table_id": table_id,
            "croupier.game": game,
            "croupier.sequence": sequence,
        }
        self.span.set_attributes({name: value for name, value in noted.items() if value})
        if code in FAULTS:
            self.span.set_status(Status(StatusCode.ERROR))


class OpenTelemetryTraces:
    """Traces; `provider` makes the spans and `export` hands them over."""

    def __init__(self, provider: TracerProvider, export: BoundedExport) -> None:
        self._provider = provider
        self._export = export
        self._tracer = provider.get_tracer("croupier")

    def serve(self, method: str, traceparent: str) -> AbstractContextManager[OpenTelemetrySpan]:
        """A call that is served, as part of the caller's trace if he has one."""
        parent = _PROPAGATOR.extract({"traceparent": traceparent}, Context()) if traceparent else Context()
        return self._call(method, SpanKind.SERVER, parent)

    def ask(self, method: str) -> AbstractContextManager[OpenTelemetrySpan]:
        """A call of another service."""
        return self._call(method, SpanKind.CLIENT, None if _is_under_way(trace.get_current_span()) else Context())

    @contextmanager
    def _call(self, method: str, kind: SpanKind, parent: Context | None) -> Iterator[OpenTelemetrySpan]:
        name = method.removeprefix("/")
        about = {"rpc.system.name": "grpc", "rpc.method": name}
        with self._span(name, context=parent, kind=kind, attributes=about) as span:
            yield OpenTelemetrySpan(span)

    def _span(self, name: str, **how: Any) -> AbstractContextManager[trace.Span]:
        # What an exception says may name a card.
        return self._tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False, **how)

    @contextmanager
    def act(self, table_id: str, game: str) -> Iterator[OpenTelemetrySpan]:
        """What a seat asks for, from the call to the answer."""
        with self._span("act") as span:
            action = OpenTelemetrySpan(span)
            action.note(table_id=table_id, game=game)
            before = _ACTION.set(action)
            try:
                yield action
            finally:
                _ACTION.reset(before)

    @contextmanager
    def step(self, name: str) -> Iterator[OpenTelemetrySpan | None]:
        """A part of what a seat asks for; None where nobody asks."""
        action = _ACTION.get()
        if action is None or not action.span.is_recording():
            yield None
            return
        with self._span(name, context=trace.set_span_in_context(action.span, Context())) as span:
            yield OpenTelemetrySpan(span)

    @contextmanager
    def commit(self, waiting: Sequence[Span]) -> Iterator[None]:
        """A commit for which these wait: part of the first one's trace, linked with all of them, and they with it."""
        appends = [each.span for each in waiting if isinstance(each, OpenTelemetrySpan)]
        if not appends:
            yield
            return
        links = [Link(append.get_span_context()) for append in appends]
        with self._span("commit", context=trace.set_span_in_context(appends[0], Context()), links=links) as span:
            for append in appends:
                append.add_link(span.get_span_context())
            yield

    def ids(self) -> Mapping[str, str]:
        """The trace_id and span_id of the span under way, none if it is not recorded."""
        span = trace.get_current_span()
        if not span.is_recording():
            return {}
        context = span.get_span_context()
        return {"trace_id": trace.format_trace_id(context.trace_id), "span_id": trace.format_span_id(context.span_id)}

    def dropped(self) -> Mapping[str, int]:
        """How many spans did not get to the collector, by reason."""
        return self._export.dropped()

    def close(self) -> None:
        """Hand over what waits."""
        self._export.shutdown()


def _is_under_way(span: trace.Span) -> bool:
    """Whether calls belong to it: a task that outlives the span which it was started in is about something else."""
    return span.is_recording() or not span.get_span_context().trace_flags.sampled


def open_traces(endpoint: str, ratio: float, service: str, logger: Logger) -> OpenTelemetryTraces:
    """Traces that go to a collector at host:port; of those that begin here this share is recorded."""
    # Its library tells of a collector that is away with every batch; once is told here.
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
    exporter = OTLPSpanExporter(endpoint=f"http://{endpoint}", insecure=True, timeout=EXPORT_SECONDS)
    export = BoundedExport(exporter, logger)
    provider = TracerProvider(
        sampler=ParentBased(TraceIdRatioBased(ratio)),
        resource=Resource.create({SERVICE_NAME: f"croupier-{service}"}),
        span_limits=_LIMITS,
        shutdown_on_exit=False,
    )
    provider.add_span_processor(export)
    return OpenTelemetryTraces(provider, export)
