"""A collector for tests, which receives spans by OTLP and keeps them."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
from opentelemetry.proto.trace.v1.trace_pb2 import Span

ALLOWED = {
    "rpc.system.name",
    "rpc.method",
    "rpc.response.status_code",
    "croupier.table_id",
    "croupier.game",
    "croupier.sequence",
}
"""The attributes that spans of services may have."""
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
SAMPLED = f"00-{TRACE}-{PARENT}-01"
"""A sampled traceparent of a client, with the ids of its trace and span."""
OF_ENVOY = {"grpc.status_code": "0", "http.status_code": "200", "response_flags": "-"}
"""The attributes of Envoy's span of a successful call that the configuration of the collector reads."""


@dataclass(frozen=True)
class ReceivedSpan:
    """A received span with its service."""

    service: str
    span: Span

    @property
    def name(self) -> str:
        return self.span.name

    @property
    def id(self) -> bytes:
        return self.span.span_id

    @property
    def parent(self) -> bytes:
        return self.span.parent_span_id

    @property
    def trace(self) -> bytes:
        return self.span.trace_id

    @property
    def linked(self) -> set[bytes]:
        return {link.span_id for link in self.span.links}

    @property
    def attributes(self) -> dict[str, str | int]:
        return {
            each.key: each.value.int_value if each.value.HasField("int_value") else each.value.string_value
            for each in self.span.attributes
        }


@dataclass
class Collector(trace_service_pb2_grpc.TraceServiceServicer):
    """Received spans, and all requests as bytes."""

    seen: list[ReceivedSpan] = field(default_factory=list)
    raw: bytes = b""
    address: str = ""

    async def Export(self, request: Any, context: Any) -> trace_service_pb2.ExportTraceServiceResponse:
        self.raw += request.SerializeToString()
        self.seen += _spans(request)
        return trace_service_pb2.ExportTraceServiceResponse()


def _spans(request: Any) -> Iterator[ReceivedSpan]:
    for sent in request.resource_spans:
        names = [each.value.string_value for each in sent.resource.attributes if each.key == "service.name"]
        for scope in sent.scope_spans:
            yield from (ReceivedSpan(names[0], span) for span in scope.spans)


@asynccontextmanager
async def collecting(address: str = "127.0.0.1:0") -> AsyncIterator[Collector]:
    """Run a collector."""
    collector, server = Collector(), grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    add: Any = trace_service_pb2_grpc.add_TraceServiceServicer_to_server
    add(collector, server)
    collector.address = f"127.0.0.1:{server.add_insecure_port(address)}"
    await server.start()
    try:
        yield collector
    finally:
        await server.stop(None)
