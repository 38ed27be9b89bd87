"""The simulated network: servers by address, channels to them, and broken connections."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from random import Random
from types import SimpleNamespace
from typing import Any

import grpc

from croupier.runtime.server.interceptor import CallInterceptor
from croupier_loadtest.simulation import calls
from croupier_loadtest.simulation.calls import ClientStream, Metadata, SimulatedCall, SimulatedContext, Status
from croupier_loadtest.simulation.faults import Faults
from croupier_loadtest.simulation.loop import Process
from croupier_loadtest.simulation.observer import Observer
from croupier_loadtest.simulation.trace import Trace

REFUSED = Status(grpc.StatusCode.UNAVAILABLE, "no server listens at this simulated address")
REFUSED_SECONDS = 0.01
CLIENT_KEEPALIVE_SECONDS = 8.0
"""The longest time until a client's keepalive detects a half-open connection."""
SERVER_KEEPALIVE_SECONDS = 20.0
"""The longest time until a server's keepalive detects one, which takes a minute in production."""
IDEMPOTENT = frozenset(("SubmitAction", "CreateProposal", "CastVote", "SetAway", "SetReady", "Rematch")).union(
    ("CreateTable", "JoinTable", "UpdateTable", "PrepareTable", "OpenTable", "RecordRound", "RecordResult")
)
"""Methods whose requests may be duplicated."""
STREAMS = frozenset({"FindMatch", "WatchTables", "WatchTable", "PlayTable"})
MAX_STREAM_SECONDS = 1.5
"""The longest time after which a stream breaks at random."""
MAX_UNARY_SECONDS = 0.1
"""The longest time after which a unary call breaks at random."""
WINDOWS = (2, 8, 64, 64)
"""Numbers of messages that may be in transit to a client, of which one is drawn for each call."""
Encode = Callable[[Any], bytes]
Decode = Callable[[bytes], Any]


class SimulatedServer:
    """A gRPC server of one process, with the methods of grpc.aio.Server that the services use to register."""

    def __init__(self, network: "SimulatedNetwork", process: Process, interceptor: CallInterceptor) -> None:
        self._network = network
        self.process = process
        self.accepts = True
        self.calls: dict[SimulatedCall, None] = {}
        self._interceptor = interceptor
        self._registered: dict[str, Any] = {}
        self._handlers: dict[str, Any] = {}

    def add_generic_rpc_handlers(self, _handlers: tuple[Any, ...]) -> None:
        """Ignore the handlers: generated code registers the same ones by name, which take precedence."""

    def add_registered_method_handlers(self, service: str, handlers: Mapping[str, Any]) -> None:
        self._registered |= {f"/{service}/{method}": handler for method, handler in handlers.items()}

    async def _handler(self, method: str) -> Any:
        async def continuation(_: Any) -> Any:
            return self._registered.get(method)

        if method not in self._handlers:
            details: Any = SimpleNamespace(method=method, invocation_metadata=())
            self._handlers[method] = await self._interceptor.intercept_service(continuation, details)
        return self._handlers[method]

    def serve(self, call: SimulatedCall) -> None:
        """Start a call, unless it has ended."""
        if call.server_has_ended:
            return
        if not self.accepts:
            call.lose_connection(self._network.faults.network_seconds(), 0)
            return
        self.calls[call] = None
        call.on_end.append(lambda: self.calls.pop(call, None))
        context = SimulatedContext(call, self._network.random.choice(WINDOWS), self._network.observer.answered)
        call.handler = self.process.start(self._serve(call, context))

    async def _serve(self, call: SimulatedCall, context: SimulatedContext) -> None:
        status = calls.OK
        try:
            handler = await self._handler(call.method)
            if handler.stream_unary:
                context.send(await handler.stream_unary(None, context))
            else:
                await handler.stream_stream(None, context)
        except grpc.aio.AbortError:
            status = context.aborted or calls.BROKEN
        if status is not calls.OK:
            self._network.trace.write("refused", call.number, status.code.name, status.details)
            self._network.observer.refused(call, status)
        call.to_client.send(status)
        call.mark_ended()

    async def stop(self, grace_seconds: float) -> None:
        """Accept no more calls, wait for the current ones, and end the late ones."""
        self.accepts = False
        self._network.unlisten(self.process)
        left = [call.handler for call in self.calls if call.handler is not None]
        if left:
            await asyncio.wait(left, timeout=grace_seconds)
        for call in list(self.calls):
            call.lose_connection(self._network.faults.network_seconds(), 0)


class SimulatedNetwork:
    """The network between all processes."""

    def __init__(self, observer: Observer, faults: Faults, random: Random, trace: Trace) -> None:
        self.observer = observer
        self.faults = faults
        self.trace = trace
        self.random = random
        self.open_calls: dict[SimulatedCall, None] = {}
        """The calls that are open for at least one end."""
        self._servers: defaultdict[str, list[SimulatedServer]] = defaultdict(list)
        self._calls = 0

    def listen(self, address: str, server: SimulatedServer) -> None:
        """Register a server."""
        self._servers[address].append(server)

    def unlisten(self, process: Process) -> None:
        """Remove the servers of a process; their current calls continue."""
        for servers in self._servers.values():
            servers[:] = [server for server in servers if server.process is not process]

    def disconnect(self, process: Process) -> None:
        """Break the calls of a dead process; the other ends notice at once, or late."""
        self.unlisten(process)
        for call in list(self.open_calls):
            if call.server is process:
                call.lose_connection(self._notice_seconds(CLIENT_KEEPALIVE_SECONDS), 0)
                call.mark_ended()
            elif call.client is process:
                call.lose_connection(0, self._notice_seconds(SERVER_KEEPALIVE_SECONDS))

    def _notice_seconds(self, maximum: float) -> float:
        if self.random.random() < 0.9:
            return self.faults.network_seconds()
        return self.random.uniform(1.0, maximum)

    def break_connection(self, call: SimulatedCall) -> None:
        """Lose a connection."""
        self.faults.count("connection broken", call.number, call.method)
        call.lose_connection(
            self._notice_seconds(CLIENT_KEEPALIVE_SECONDS), self._notice_seconds(SERVER_KEEPALIVE_SECONDS)
        )

    def call(
        self, client: Process, address: str, method: str, timeout: float | None, metadata: Metadata
    ) -> SimulatedCall:
        """Begin a call; it fails soon if no server listens."""
        servers = [server for server in self._servers[address] if server.accepts and server.process.alive]
        server = self.random.choice(servers) if servers else None
        self._calls += 1
        call = SimulatedCall(
            self._calls, method, client, server.process if server else client, tuple(metadata or ()), self.faults
        )
        self.trace.write("call", call.number, client.name, call.name, server and server.process.name)
        call.limit(timeout)
        self._keep(call)
        if server is None:
            client.later(REFUSED_SECONDS, call.end_at_client, REFUSED)
        else:
            self._dispatch(call, server, servers)
        return call

    def _lose_answer(self, call: SimulatedCall, max_seconds: float) -> None:
        """Break a call at random some time after its beginning; the client notices late, or at once."""
        after_seconds = self.random.uniform(0, max_seconds)
        server_seconds = self._notice_seconds(SERVER_KEEPALIVE_SECONDS)
        if self.faults.occurs("silent_call", call.method):
            client_seconds = self.random.uniform(1.0, CLIENT_KEEPALIVE_SECONDS)
            server_seconds = self.random.uniform(1.0, SERVER_KEEPALIVE_SECONDS)
            call.client.later(after_seconds, call.lose_connection, client_seconds, server_seconds)
        elif self.faults.occurs("lost_answer", call.method):
            call.client.later(after_seconds, call.lose_connection, 0, server_seconds)

    def _keep(self, call: SimulatedCall) -> None:
        self.open_calls[call] = None
        call.on_end.append(lambda: self.open_calls.pop(call, None))

    def _dispatch(self, call: SimulatedCall, server: SimulatedServer, servers: list[SimulatedServer]) -> None:
        if self.faults.occurs("lost_request", call.method):
            call.lose_connection(self.faults.network_seconds(), 0)
            return
        server.process.later(self.faults.network_seconds(), server.serve, call)
        self._lose_answer(call, MAX_STREAM_SECONDS if call.name in STREAMS else MAX_UNARY_SECONDS)
        call.has_slow_reader = call.name in STREAMS and self.faults.occurs("slow_reader", call.method)
        if call.name in IDEMPOTENT and self.faults.occurs("duplicated_request", call.method):
            other = self.random.choice(servers)
            call.duplicate = SimulatedCall(
                -call.number, call.method, call.client, other.process, call.metadata, self.faults
            )
            self._keep(call.duplicate)
            other.process.later(self.faults.network_seconds(), other.serve, call.duplicate)


class SimulatedChannel:
    """A channel with the methods of grpc.aio.Channel that stubs and the client use."""

    def __init__(self, network: SimulatedNetwork, client: Process, address: str) -> None:
        self._network = network
        self._client = client
        self._address = address

    async def close(self, _grace: float | None = None) -> None:
        """Do nothing: calls end by themselves."""

    def _call(self, method: str, timeout: float | None, metadata: Any) -> SimulatedCall:
        return self._network.call(self._client, self._address, method, timeout, metadata)

    def _send(self, call: SimulatedCall, raw: bytes) -> None:
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
    ) -> Callable[..., ClientStream]:
        def begin(request: Any, *, timeout: float | None = None, metadata: Any = None) -> ClientStream:
            call = self._call(method, timeout, metadata)
            self._send(call, request_serializer(request))
            return ClientStream(call, response_deserializer)

        return begin

    def stream_stream(
        self, method: str, request_serializer: Encode = bytes, response_deserializer: Decode = bytes, **_: bool
    ) -> Callable[..., ClientStream]:
        def begin(requests: AsyncIterator[Any], *, timeout: float | None = None, metadata: Any = None) -> ClientStream:
            call = self._call(method, timeout, metadata)

            async def send() -> None:
                async for request in requests:
                    self._send(call, request_serializer(request))
                call.to_server.send(calls.HALF_CLOSED)

            return ClientStream(call, response_deserializer, asyncio.ensure_future(send()))

        return begin
