"""Traces that go on from one service to another: the caller's side."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import grpc

from croupier.runtime.traces import Traces

TRACEPARENT = "traceparent"
"""The header by which a trace goes on, of W3C Trace Context."""


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
