"""Spans of calls across services, by the OpenTelemetry API.

Nothing is recorded unless `exported_spans` has configured the SDK, for a collector.
"""

import contextvars
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context, attach
from opentelemetry.trace import Link, Span
from opentelemetry.util.types import Attributes

from croupier.runtime.server.program import SettingsError

TRACER = trace.get_tracer("croupier")
TABLE_ID, GAME, SEQUENCE = "croupier.table_id", "croupier.game", "croupier.sequence"
"""Attributes of spans; runtime/observation/span_export.py lists the exported ones."""
_NOT_RECORDED: AbstractContextManager[Span] = nullcontext(trace.INVALID_SPAN)


def start_span(name: str, **options: Any) -> AbstractContextManager[Span]:
    """Make a span of the body, without exceptions, whose texts may name a card."""
    return TRACER.start_as_current_span(name, record_exception=False, set_status_on_exception=False, **options)


def is_traced() -> bool:
    """Return whether the current span is recorded."""
    return trace.get_current_span().is_recording()


def open_span(name: str, attributes: Attributes = None) -> AbstractContextManager[Span]:
    """Make a child span of the body, INVALID_SPAN if the current span is not recorded.

    The check makes an unrecorded span of an action cost half a microsecond; the API alone takes five.
    """
    if not is_traced():
        return _NOT_RECORDED
    return start_span(name, attributes=attributes)


def start_shared_span(name: str, waiting: Sequence[Span]) -> Span:
    """Start a span for all waiting ones: a child of the first, with links to and from each; the caller ends it."""
    recorded = [span for span in waiting if span.is_recording()]
    if not recorded:
        return trace.INVALID_SPAN
    parent = trace.set_span_in_context(recorded[0], Context())
    shared = TRACER.start_span(name, context=parent, links=[Link(span.get_span_context()) for span in recorded])
    for span in recorded:
        span.add_link(shared.get_span_context())
    return shared


def context_without_span() -> contextvars.Context:
    """Return a context without the current span, for a task that outlives the call that started it."""
    context = contextvars.copy_context()
    context.run(attach, Context())
    return context


def add_span_ids(_logger: object, _method: str, fields: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Add trace_id and span_id of the current span to a log line, if it is recorded: a processor of structlog."""
    span = trace.get_current_span()
    if span.is_recording():
        context = span.get_span_context()
        fields["trace_id"] = trace.format_trace_id(context.trace_id)
        fields["span_id"] = trace.format_span_id(context.span_id)
    return fields


@contextmanager
def exported_spans(endpoint: str, ratio: float, service: str) -> Iterator[None]:
    """Export the spans of this process while the body runs, if a collector is named; works once in a process.

    `endpoint` is the collector's host:port or empty, `ratio` the recorded share of traces. Raises SettingsError if the
    SDK is not installed.
    """
    if not endpoint:
        yield
        return
    try:
        from croupier.runtime.observation.span_export import exporting
    except ModuleNotFoundError as missing:
        raise SettingsError(
            f"--traces-endpoint needs {missing.name}: pip install 'croupier[traces]' brings it"
        ) from None
    with exporting(endpoint, ratio, service):
        yield
