"""Spans, by the OpenTelemetry API: where the time of a call went, from service to service.

Nothing is recorded unless `exported_spans` has set the SDK up, which it does where a collector is named.
"""

import contextvars
from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, NamedTuple

from opentelemetry import trace
from opentelemetry.context import Context, attach
from opentelemetry.trace import Link, Span
from opentelemetry.util.types import Attributes

from croupier.runtime.program import SettingsError

TRACER = trace.get_tracer("croupier")
TABLE_ID, GAME, SEQUENCE = "croupier.table_id", "croupier.game", "croupier.sequence"
"""Attributes of spans; runtime/span_export.py lists all that are exported."""
_NOT_RECORDED: AbstractContextManager[Span] = nullcontext(trace.INVALID_SPAN)


class TracesSettings(NamedTuple):
    """The collector that gets traces, host:port or empty, and the share of the traces that are recorded."""

    endpoint: str = ""
    ratio: float = 1.0


def start_span(name: str, **how: Any) -> AbstractContextManager[Span]:
    """A span that lasts as long as the body; exceptions leave nothing in it, since their texts may name a card."""
    return TRACER.start_as_current_span(name, record_exception=False, set_status_on_exception=False, **how)


def open_span(name: str, attributes: Attributes = None) -> AbstractContextManager[Span]:
    """A part of the span under way, INVALID_SPAN where none is recorded, as when a computer player acts.

    The check makes a span of a move cost half a microsecond where nobody traces; the API alone takes five.
    """
    if not trace.get_current_span().is_recording():
        return _NOT_RECORDED
    return start_span(name, attributes=attributes)


def open_shared_span(name: str, waiting: Sequence[Span]) -> AbstractContextManager[Span]:
    """Work that all of these wait for: part of the first one's trace, linked with each of them, and they with it."""
    recorded = [span for span in waiting if span.is_recording()]
    return _shared_span(name, recorded) if recorded else _NOT_RECORDED


@contextmanager
def _shared_span(name: str, recorded: Sequence[Span]) -> Iterator[Span]:
    parent = trace.set_span_in_context(recorded[0], Context())
    with start_span(name, context=parent, links=[Link(span.get_span_context()) for span in recorded]) as shared:
        for span in recorded:
            span.add_link(shared.get_span_context())
        yield shared


def context_without_span() -> contextvars.Context:
    """The context of a task that goes on when the call which started it has ended: that call's span is not its own."""
    context = contextvars.copy_context()
    context.run(attach, Context())
    return context


def add_span_ids(_logger: object, _method: str, fields: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """A processor of structlog: gives a log line the trace_id and span_id of the span under way, if it is recorded."""
    span = trace.get_current_span()
    if span.is_recording():
        context = span.get_span_context()
        fields["trace_id"] = trace.format_trace_id(context.trace_id)
        fields["span_id"] = trace.format_span_id(context.span_id)
    return fields


@contextmanager
def exported_spans(settings: TracesSettings, service: str) -> Iterator[None]:
    """Export this process's spans while the body runs, if a collector is named; possible once in a process.

    Raises SettingsError where the SDK is not installed.
    """
    if not settings.endpoint:
        yield
        return
    try:
        from croupier.runtime.span_export import exporting
    except ModuleNotFoundError as missing:
        raise SettingsError(
            f"--traces-endpoint needs {missing.name}, which is not installed: pip install 'croupier[traces]'"
        ) from None
    with exporting(settings.endpoint, settings.ratio, service):
        yield
