"""Takes the door's spans to the collector, without what Envoy tells beyond which call it was and how it ended.

Envoy cannot be kept from telling the words of a refusal, which may name a card, nor who called from where.

python -m croupier.door.relay LISTEN COLLECTOR, host:port each: beside an Envoy that nobody supervises.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from croupier.runtime.server import until_stopped
from croupier.runtime.traces import EXPORT_SECONDS

MOST_BATCHES = 16
"""On their way at a time; Envoy drops what is refused."""
END_SECONDS = 1.0
KEPT: Mapping[str, str] = {
    "grpc.status_code": "rpc.response.status_code",
    "http.status_code": "http.response.status_code",
    "response_flags": "envoy.response_flags",
}
"""What Envoy tells and the collector hears, and what it is called there."""
_CODES = {str(code.value[0]): code.name for code in grpc.StatusCode}


class Relay(trace_service_pb2_grpc.TraceServiceServicer):
    """Hands over to a collector what it is given; says so when that begins to fail, and when it works again."""

    def __init__(self, collector: Any) -> None:
        self._collector = collector
        self._is_away = False

    async def Export(self, request: Any, context: Any) -> trace_service_pb2.ExportTraceServiceResponse:  # noqa: N802, ARG002
        """One batch of spans; those that the collector does not take are dropped."""
        for scope in (scope for sent in request.resource_spans for scope in sent.scope_spans):
            kept = [_bare(span) for span in scope.spans if _is_call(span)]
            del scope.spans[:]
            scope.spans.extend(kept)
        try:
            await self._collector.Export(request, timeout=EXPORT_SECONDS)
        except grpc.RpcError:
            self._note(is_away=True)
        else:
            self._note(is_away=False)
        return trace_service_pb2.ExportTraceServiceResponse()

    def _note(self, *, is_away: bool) -> None:
        if is_away is not self._is_away:
            self._is_away = is_away
            said = "the collector takes no spans: they are dropped" if is_away else "the collector takes spans again"
            sys.stderr.write(f"{said}\n")


def _is_call(span: Span) -> bool:
    """Whether it is a call of the contract, which its name has a slash of; probes and unknown paths are nobody's."""
    return "/" in span.name


def _bare(span: Span) -> Span:
    """What the collector is to hear of a span."""
    return Span(
        trace_id=span.trace_id,
        span_id=span.span_id,
        parent_span_id=span.parent_span_id,
        flags=span.flags,
        name=span.name,
        kind=span.kind,
        start_time_unix_nano=span.start_time_unix_nano,
        end_time_unix_nano=span.end_time_unix_nano,
        status=Status(code=span.status.code),
        attributes=_attributes(span),
    )


def _attributes(span: Span) -> Iterator[KeyValue]:
    for told in span.attributes:
        if told.key in KEPT:
            text = told.value.string_value
            value = _CODES.get(text, text) if told.key == "grpc.status_code" else text
            yield KeyValue(key=KEPT[told.key], value=AnyValue(string_value=value))


@asynccontextmanager
async def relaying(listen: str, collector: str) -> AsyncIterator[None]:
    """A relay that listens without TLS, for as long as the body takes; raises ValueError if it cannot."""
    # What is generated of OpenTelemetry has no types.
    new_stub: Any = trace_service_pb2_grpc.TraceServiceStub
    add_to_server: Any = trace_service_pb2_grpc.add_TraceServiceServicer_to_server
    server = grpc.aio.server(maximum_concurrent_rpcs=MOST_BATCHES, options=[("grpc.so_reuseport", 0)])
    async with grpc.aio.insecure_channel(collector) as channel:
        add_to_server(Relay(new_stub(channel)), server)
        try:
            server.add_insecure_port(listen)
        except RuntimeError:
            raise ValueError(f"{listen} cannot be listened on for traces") from None
        await server.start()
        try:
            yield
        finally:
            await server.stop(END_SECONDS)


async def _run(listen: str, collector: str) -> None:
    async with relaying(listen, collector):
        await until_stopped()


def main(arguments: Sequence[str]) -> int:
    """Relay until SIGINT or SIGTERM; gives the exit code, which is 2 if it cannot listen."""
    try:
        if len(arguments) != 2:
            raise ValueError("two addresses are expected, host:port each: where to listen, and the collector's")
        asyncio.run(_run(*arguments))
    except ValueError as fault:
        sys.stderr.write(f"{fault}\n")
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
