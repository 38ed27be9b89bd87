"""Export of spans by the OpenTelemetry SDK, to a collector that speaks OTLP over gRPC; needs the extra `traces`."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Thread

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import Link, Status

# Envoy hands its spans over alike: gateway/envoy.yaml.jinja.
MAX_WAITING_SPANS = 4_096
MAX_BATCH_SPANS = 512
PAUSE_SECONDS = 1
"""A span waits no longer than this for others to be handed over with."""
EXPORT_SECONDS = 5
"""Spans that the collector has not taken by then are dropped."""
ALLOWED_ATTRIBUTES = frozenset(
    (
        "rpc.system.name",
        "rpc.method",
        "rpc.response.status_code",
        "croupier.table_id",
        "croupier.game",
        "croupier.sequence",
    )
)
"""All that spans may report beside name, time, kind, status and links."""
MAX_LINKS = 512
"""As many as a commit can have actions that wait for it."""
FLUSH_SECONDS = 1.0
"""The time of the last spans to reach the collector: less than services keep for the end of what they hold."""
_LIMITS = SpanLimits(max_span_attributes=8, max_events=0, max_links=MAX_LINKS, max_span_attribute_length=128)


class AllowListExporter(SpanExporter):
    """Hands on what spans may report and nothing else, whoever wrote it into them.

    By default the API records the texts of exceptions, as events and in the status; of ours some name cards.
    """

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Hand over a batch, on the thread of the processor."""
        return self._exporter.export([_allowed(span) for span in spans])

    def shutdown(self) -> None:
        """Take no more spans."""
        self._exporter.shutdown()


def _allowed(span: ReadableSpan) -> ReadableSpan:
    return ReadableSpan(
        name=span.name,
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes={name: value for name, value in (span.attributes or {}).items() if name in ALLOWED_ATTRIBUTES},
        links=[Link(link.context) for link in span.links],
        kind=span.kind,
        status=Status(span.status.status_code),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def new_provider(processor: SpanProcessor, ratio: float, service: str) -> TracerProvider:
    """The provider of a service's spans, which go to a processor; of traces that begin here it records this share."""
    provider = TracerProvider(
        sampler=ParentBased(TraceIdRatioBased(ratio)),
        resource=Resource.create({SERVICE_NAME: f"croupier-{service}"}),
        span_limits=_LIMITS,
        shutdown_on_exit=False,
    )
    provider.add_span_processor(processor)
    return provider


def batching(exporter: SpanExporter) -> BatchSpanProcessor:
    """The processor that hands an exporter batches, on a thread of its own, and drops the oldest if too many wait."""
    return BatchSpanProcessor(
        AllowListExporter(exporter),
        max_queue_size=MAX_WAITING_SPANS,
        schedule_delay_millis=PAUSE_SECONDS * 1000,
        max_export_batch_size=MAX_BATCH_SPANS,
    )


@contextmanager
def exporting(endpoint: str, ratio: float, service: str) -> Iterator[None]:
    """Export all spans of this process to the collector at host:port while the body runs."""
    # Below an error the library has a line for each attempt that failed, and for each span that it drops.
    logging.getLogger("opentelemetry").setLevel(logging.ERROR)
    exporter = OTLPSpanExporter(endpoint=f"http://{endpoint}", insecure=True, timeout=EXPORT_SECONDS)
    provider = new_provider(batching(exporter), ratio, service)
    trace.set_tracer_provider(provider)
    try:
        yield
    finally:
        end(provider, exporter)


def end(provider: TracerProvider, exporter: SpanExporter) -> None:
    """Hand over what waits, within FLUSH_SECONDS; blocks meanwhile. The library would wait for half a minute."""
    flushing = Thread(target=provider.shutdown, name="span-flush", daemon=True)
    flushing.start()
    flushing.join(FLUSH_SECONDS)
    # What is under way then fails, and with it the thread ends.
    exporter.shutdown()
