"""Export of spans by the OpenTelemetry SDK, to a collector by OTLP over gRPC; needs the extra `traces`."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Thread
from typing import Any

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import Link, Status

from croupier.runtime.server.channels import NO_PROXY

# gateway/envoy.yaml.jinja has the same values for Envoy.
MAX_QUEUED_SPANS = 4_096
MAX_BATCH_SPANS = 512
BATCH_DELAY_SECONDS = 1
"""The maximum time that a span waits for its batch."""
EXPORT_SECONDS = 5
"""The timeout of an export, after which its spans are dropped."""
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
"""The attributes of exported spans, beside name, time, kind, status and links."""
MAX_LINKS = 512
"""As many as one commit can have actions."""
FLUSH_SECONDS = 1.0
"""The timeout of the last export: less than CLOSE_SECONDS of a service."""
_LIMITS = SpanLimits(max_span_attributes=8, max_events=0, max_links=MAX_LINKS, max_span_attribute_length=128)


class AllowListExporter(SpanExporter):
    """Exports the allowed parts of spans only, from any origin.

    By default the API records the texts of exceptions, as events and in the status: some name cards.
    """

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Export a batch, on the thread of the processor."""
        return self._exporter.export([_allowed(span) for span in spans])

    def shutdown(self) -> None:
        """Refuse further spans."""
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
    """Return the provider of a service's spans for a processor; it samples this share of the traces that begin here."""
    provider = TracerProvider(
        sampler=ParentBased(TraceIdRatioBased(ratio)),
        resource=Resource.create({SERVICE_NAME: f"croupier-{service}"}),
        span_limits=_LIMITS,
        shutdown_on_exit=False,
    )
    provider.add_span_processor(processor)
    return provider


def batch_processor(exporter: SpanExporter) -> BatchSpanProcessor:
    """Return a processor that exports batches on its own thread, and drops the oldest spans of a full queue."""
    return BatchSpanProcessor(
        AllowListExporter(exporter),
        max_queue_size=MAX_QUEUED_SPANS,
        schedule_delay_millis=BATCH_DELAY_SECONDS * 1000,
        max_export_batch_size=MAX_BATCH_SPANS,
    )


@contextmanager
def exporting(endpoint: str, ratio: float, service: str) -> Iterator[None]:
    """Export all spans of this process to the collector at host:port while the body runs."""
    # The library has a warning for each failed attempt, and for each dropped span.
    logging.getLogger("opentelemetry").setLevel(logging.ERROR)
    options: Any = (NO_PROXY,)
    exporter = OTLPSpanExporter(
        endpoint=f"http://{endpoint}", insecure=True, timeout=EXPORT_SECONDS, channel_options=options
    )
    provider = new_provider(batch_processor(exporter), ratio, service)
    trace.set_tracer_provider(provider)
    try:
        yield
    finally:
        shut_down(provider, exporter)


def shut_down(provider: TracerProvider, exporter: SpanExporter) -> None:
    """Export the queue, and block for FLUSH_SECONDS at most: the library would for half a minute."""
    flushing = Thread(target=provider.shutdown, name="span-flush", daemon=True)
    flushing.start()
    flushing.join(FLUSH_SECONDS)
    # A running export then fails, which ends the thread.
    exporter.shutdown()
