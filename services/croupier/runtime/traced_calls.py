"""Traces that go on from one service to another: the caller's side, and that of him who is called."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import grpc
import structlog

from croupier.runtime.traces import Traces

TRACEPARENT = "traceparent"
"""The header by which a trace goes on, of W3C Trace Context."""
Context = grpc.aio.ServicerContext[Any, Any]
Serve = Callable[[Any, Context], Awaitable[Any]]


def traced(traces: Traces | None) -> Sequence[grpc.aio.ClientInterceptor]:
    """What a channel needs so that its calls are traced, if there are traces."""
    return [TracedCalls(traces)] if traces else []


class TracedCalls(grpc.aio.UnaryUnaryClientInterceptor):
    """A span for each call through a channel."""

    def __init__(self, traces: Traces) -> None:
        self._traces = traces

    async def intercept_unary_unary(
        self, continuation: Callable[..., Any], client_call_details: Any, request: Any
    ) -> Any:
        """Make the call as part of the trace that is under way here."""
        method = client_call_details.method
        with self._traces.ask(method.decode() if isinstance(method, bytes) else method) as span:
            metadata = grpc.aio.Metadata(*(client_call_details.metadata or ()), (TRACEPARENT, span.traceparent))
            call = await continuation(client_call_details._replace(metadata=metadata), request)
            try:
                span.note(code=(await call.code()).name)
            except asyncio.CancelledError:
                call.cancel()
                raise
            return call


def traced_serving(traces: Traces | None, method: str, serve: Serve) -> Serve:
    """What serves a call, within a span of the caller's trace, if there are traces."""
    if traces is None:
        return serve

    async def trace(raw: Any, context: Context) -> Any:
        with traces.serve(method, _traceparent(context)) as span:
            code = "CANCELLED"
            try:
                response = await serve(raw, context)
                code = "OK"
                return response
            except grpc.aio.AbortError:
                code = abort_code(context)
                raise
            finally:
                table_id = structlog.contextvars.get_contextvars().get("table_id", "")
                span.note(code=code, table_id=table_id)

    return trace


def abort_code(context: Context) -> str:
    """The name of the gRPC code with which a call was aborted, CANCELLED if it was not."""
    code = context.code()
    return code.name if isinstance(code, grpc.StatusCode) else "CANCELLED"


def _traceparent(context: Context) -> str:
    sent = (value for key, value in context.invocation_metadata() or () if key == TRACEPARENT)
    given = next(sent, "")
    return given if isinstance(given, str) else ""
