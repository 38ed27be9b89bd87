"""Spans of calls, of the client and of the server (docs/decisions/0017)."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

import grpc
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from croupier.runtime.observation.tracing import TRACER, start_span

TRACEPARENT = "traceparent"
"""The only header of W3C Trace Context in use; tracestate and baggage could have any content."""
SERVER_FAULTS = frozenset(("UNKNOWN", "DEADLINE_EXCEEDED", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS"))
"""The codes for faults of the server."""
ServicerContext = grpc.aio.ServicerContext[Any, Any]
Serve = Callable[[Any, ServicerContext], Awaitable[Any]]
_TRACE_CONTEXT = TraceContextTextMapPropagator()


def tracing_interceptors(endpoint: str) -> Sequence[grpc.aio.ClientInterceptor]:
    """Return the interceptors that trace the calls of a channel, none without a collector."""
    return [TracingInterceptor()] if endpoint else []


class TracingInterceptor(grpc.aio.UnaryUnaryClientInterceptor):
    """Makes a span for each unary call of a channel."""

    async def intercept_unary_unary(
        self, continuation: Callable[..., Any], client_call_details: Any, request: Any
    ) -> Any:
        """Make the call in a child span of the current one."""
        method = client_call_details.method
        name = (method.decode() if isinstance(method, bytes) else method).removeprefix("/")
        with start_span(name, kind=SpanKind.CLIENT, attributes=_attributes(name)) as span:
            sent: dict[str, str] = {}
            _TRACE_CONTEXT.inject(sent)
            metadata = grpc.aio.Metadata(*(client_call_details.metadata or ()), *sent.items())
            call = await continuation(client_call_details._replace(metadata=metadata), request)
            try:
                set_code(span, (await call.code()).name)
            except asyncio.CancelledError:
                call.cancel()
                raise
            return call


def traced_handler(method: str, serve: Serve) -> Serve:
    """Return the handler in a span of the caller's trace."""

    async def trace_call(raw: Any, context: ServicerContext) -> Any:
        span = call_span(method, context.invocation_metadata() or ())
        if not span.get_span_context().is_valid:
            return await serve(raw, context)
        with trace.use_span(span, end_on_exit=True, record_exception=False, set_status_on_exception=False):
            return await serve(raw, context)

    return trace_call


def call_span(method: str, headers: Iterable[tuple[str, str | bytes]]) -> Span:
    """Start the span of a call in the trace of its caller."""
    name = method.removeprefix("/")
    return TRACER.start_span(name, _caller_context(headers), SpanKind.SERVER, _attributes(name))


def set_code(span: Span, code: str) -> None:
    """Set the gRPC code of a call by its name, without the message."""
    span.set_attribute("rpc.response.status_code", code)
    if code in SERVER_FAULTS:
        span.set_status(StatusCode.ERROR)


def _caller_context(headers: Iterable[tuple[str, str | bytes]]) -> Context:
    for key, value in headers:
        if key == TRACEPARENT and isinstance(value, str):
            return _TRACE_CONTEXT.extract({TRACEPARENT: value}, Context())
    return Context()


def _attributes(name: str) -> dict[str, str]:
    return {"rpc.system.name": "grpc", "rpc.method": name}
