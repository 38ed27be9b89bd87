"""The simulated network: servers by address, channels that lead to them, and connections that break."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from random import Random
from typing import Any, NamedTuple

import grpc

from croupier.runtime.interceptor import CallInterceptor
from loadtest.simulation.calls import BROKEN, HALF_CLOSED, OK, Call, Metadata, ServerEnd, Status, StreamAtClient
from loadtest.simulation.faults import Faults
from loadtest.simulation.loop import Process
from loadtest.simulation.observer import Observer
from loadtest.simulation.trace import Trace

REFUSED = Status(grpc.StatusCode.UNAVAILABLE, "no server listens at this simulated address")
REFUSED_SECONDS = 0.01
CLIENT_NOTICED_SECONDS = 8.0
SERVER_NOTICED_SECONDS = 20.0
"""A connection that is open at one end only is noticed by keepalive within this time (servers': a minute, in truth)."""
DOUBLED = frozenset(
    {"SubmitAction", "Propose", "Vote", "PrepareTable", "OpenTable", "RecordRound", "RecordResult", "SetReady"}
)
"""What may be sent twice, since it names what it is about."""
STREAMS = frozenset({"QuickMatch", "WatchTables", "WatchTable", "Play"})
LONGEST_ANSWER_SECONDS = 1.5
"""When a stream breaks on its own, counted from its beginning."""
Encode = Callable[[Any], bytes]
Decode = Callable[[bytes], Any]


class _Details(NamedTuple):
    method: str
    invocation_metadata: Metadata


class SimulatedServer:
    """A gRPC server of one process, with the methods of grpc.aio.Server that the services use to register."""

    def __init__(self, network: "Network", process: Process, interceptor: CallInterceptor) -> None:
        self._network = network
        self.process = process
        self.accepts = True
        self.calls: dict[Call, None] = {}
        self._interceptor = interceptor
        self._generic: list[Any] = []
        self._handlers: dict[str, Any] = {}

    def add_generic_rpc_handlers(self, handlers: tuple[Any, ...]) -> None:
        self._generic += handlers

    def add_registered_method_handlers(self, _service: str, _handlers: Any) -> None:
        """The generic handlers hold the same."""

    async def _handler(self, method: str) -> Any:
        if method not in self._handlers:
            details: Any = _Details(method, ())
            found = (generic.service(details) for generic in self._generic)
            handler = next((each for each in found if each is not None), None)

            async def continuation(_: Any) -> Any:
                return handler

            self._handlers[method] = await self._interceptor.intercept_service(continuation, details)
        return self._handlers[method]

    def serve(self, call: Call) -> None:
        """Begin with a call, unless it is over already."""
        if call.server_has_ended:
            return
        if not self.accepts:
            call.break_off(self._network.faults.network_seconds(), 0)
            return
        self.calls[call] = None
        call.over.append(lambda ended: self.calls.pop(ended, None))
        context = ServerEnd(call, self._network.window(), self._network.observer.answered)
        call.handler = self.process.start(self._serve(call, context))

    async def _serve(self, call: Call, context: ServerEnd) -> None:
        status = OK
        try:
            handler = await self._handler(call.method)
            context.serializer = handler.response_serializer
            if handler.unary_unary:
                context.send(await handler.unary_unary(await context.read(), context))
            elif handler.unary_stream:
                await handler.unary_stream(await context.read(), context)
            else:
                await handler.stream_stream(None, context)
        except grpc.aio.AbortError:
            status = context.aborted or BROKEN
        if status is not OK:
            self._network.trace.note("refused", call.number, status.code.name, status.details)
            self._network.observer.refused(call, status)
        call.to_client.send(status)
        call.server_has_ended = True
        call.ended()

    async def stop(self, grace_seconds: float) -> None:
        """Take no more calls, wait for those under way, and end the late ones."""
        self.accepts = False
        self._network.unlisten(self)
        left = [call.handler for call in self.calls if call.handler is not None]
        if left:
            await asyncio.wait(left, timeout=grace_seconds)
        for call in list(self.calls):
            call.break_off(self._network.faults.network_seconds(), 0)


class Network:
    """Everything between the processes."""

    def __init__(self, observer: Observer, faults: Faults, chance: Random, trace: Trace) -> None:
        self.observer = observer
        self.faults = faults
        self.trace = trace
        self._chance = chance
        self._servers: defaultdict[str, list[SimulatedServer]] = defaultdict(list)
        self._calls = 0
        self._open: dict[Call, None] = {}

    def window(self) -> int:
        """How many messages may be on their way to a client."""
        return self._chance.choice((2, 8, 64, 64))

    def listen(self, address: str, server: SimulatedServer) -> None:
        """Let a server be reached."""
        self._servers[address].append(server)

    def unlisten(self, server: SimulatedServer) -> None:
        """Let a server be reached no more; calls under way go on."""
        for servers in self._servers.values():
            if server in servers:
                servers.remove(server)

    def died(self, process: Process) -> None:
        """A process is gone: the other ends of its calls notice at once, or after long."""
        for servers in self._servers.values():
            for server in [each for each in servers if each.process is process]:
                servers.remove(server)
        for call in self.open_calls:
            if call.server is process:
                call.break_off(self._notice_seconds(CLIENT_NOTICED_SECONDS), 0)
                call.server_has_ended = True
                call.ended()
            elif call.client is process:
                call.break_off(0, self._notice_seconds(SERVER_NOTICED_SECONDS))

    def _notice_seconds(self, most: float) -> float:
        if self._chance.random() < 0.9:
            return self.faults.network_seconds()
        return self._chance.uniform(1.0, most)

    @property
    def open_calls(self) -> list[Call]:
        """The calls that at least one end believes to be under way."""
        return list(self._open)

    def break_connection(self, call: Call) -> None:
        """Lose a connection."""
        self.faults.note("connection broken", call.number, call.method)
        call.break_off(self._notice_seconds(CLIENT_NOTICED_SECONDS), self._notice_seconds(SERVER_NOTICED_SECONDS))

    def channel(self, client: Process, address: str) -> Any:
        """A channel of a client to the servers at an address."""
        return SimulatedChannel(self, client, address)

    def call(self, client: Process, address: str, method: str, timeout: float | None, metadata: Metadata) -> Call:
        """Begin a call; it breaks soon if no server listens."""
        servers = [server for server in self._servers[address] if server.accepts and server.process.alive]
        server = self._chance.choice(servers) if servers else None
        self._calls += 1
        call = Call(
            self._calls, method, client, server.process if server else client, tuple(metadata or ()), self.faults
        )
        self.trace.note("call", call.number, client.name, method.rpartition("/")[2], server and server.process.name)
        call.limit(timeout)
        self._keep(call)
        if server is None:
            client.later(REFUSED_SECONDS, call.end_at_client, REFUSED)
        else:
            self._send_off(call, server, servers)
        return call

    def _lose_answer(self, call: Call, longest_seconds: float) -> None:
        """Perhaps break a call some time after its beginning; the client notices late, or at once."""
        after_seconds = self._chance.uniform(0, longest_seconds)
        server_seconds = self._notice_seconds(SERVER_NOTICED_SECONDS)
        if self.faults.occurs("silent_call", call.method):
            client_seconds = self._chance.uniform(1.0, CLIENT_NOTICED_SECONDS)
            server_seconds = self._chance.uniform(1.0, SERVER_NOTICED_SECONDS)
            call.client.later(after_seconds, call.break_off, client_seconds, server_seconds)
        elif self.faults.occurs("lost_answer", call.method):
            call.client.later(after_seconds, call.break_off, 0, server_seconds)

    def _keep(self, call: Call) -> None:
        self._open[call] = None
        call.over.append(lambda ended: self._open.pop(ended, None))

    def _send_off(self, call: Call, server: SimulatedServer, servers: list[SimulatedServer]) -> None:
        name = call.method.rpartition("/")[2]
        if self.faults.occurs("lost_request", call.method):
            call.break_off(self.faults.network_seconds(), 0)
            return
        server.process.later(self.faults.network_seconds(), server.serve, call)
        self._lose_answer(call, LONGEST_ANSWER_SECONDS if name in STREAMS else 0.1)
        call.is_read_slowly = name in STREAMS and self.faults.occurs("slow_reader", call.method)
        if name in DOUBLED and self.faults.occurs("doubled_request", call.method):
            other = self._chance.choice(servers)
            call.twin = Call(-call.number, call.method, call.client, other.process, call.metadata, self.faults)
            self._keep(call.twin)
            other.process.later(self.faults.network_seconds(), other.serve, call.twin)


class SimulatedChannel:
    """A channel with the methods of grpc.aio.Channel that stubs and the client use."""

    def __init__(self, network: Network, client: Process, address: str) -> None:
        self._network = network
        self._client = client
        self._address = address

    async def close(self, _grace: float | None = None) -> None:
        """Calls end by themselves."""

    def _call(self, method: str, timeout: float | None, metadata: Any) -> Call:
        return self._network.call(self._client, self._address, method, timeout, metadata)

    def _send(self, call: Call, raw: bytes) -> None:
        self._network.observer.requested(call, raw)
        call.send(raw)

    def unary_unary(
        self, method: str, request_serializer: Encode = bytes, response_deserializer: Decode = bytes, **_: bool
    ) -> Callable[..., Awaitable[Any]]:
        async def begin(request: Any, *, timeout: float | None = None, metadata: Any = None) -> Any:  # noqa: ASYNC109
            call = self._call(method, timeout, metadata)
            self._send(call, request_serializer(request))
            try:
                raw = await call.receive()
            finally:
                call.end_at_client(None)
            return response_deserializer(raw)

        return begin

    def unary_stream(
        self, method: str, request_serializer: Encode = bytes, response_deserializer: Decode = bytes, **_: bool
    ) -> Callable[..., StreamAtClient]:
        def begin(request: Any, *, timeout: float | None = None, metadata: Any = None) -> StreamAtClient:
            call = self._call(method, timeout, metadata)
            self._send(call, request_serializer(request))
            return StreamAtClient(call, response_deserializer)

        return begin

    def stream_stream(
        self, method: str, request_serializer: Encode = bytes, response_deserializer: Decode = bytes, **_: bool
    ) -> Callable[..., StreamAtClient]:
        def begin(
            requests: AsyncIterator[Any], *, timeout: float | None = None, metadata: Any = None
        ) -> StreamAtClient:
            call = self._call(method, timeout, metadata)

            async def send() -> None:
                async for request in requests:
                    self._send(call, request_serializer(request))
                call.to_server.send(HALF_CLOSED)

            return StreamAtClient(call, response_deserializer, asyncio.ensure_future(send()))

        return begin
