"""The baseline: a server on uvloop that only fans each message out to the four streams of a table.

`python -m benchmarks.bare_server MESSAGES grpc|websocket` serves grpc.aio, or WebSocket by `websockets`.
It is tuned for throughput as the engine is by default.
"""

import asyncio
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import cycle
from pathlib import Path
from typing import Any, TypeAlias

import grpc
from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol

from benchmarks.websocket import send_output
from croupier.engine.api.websocket.frames import header
from croupier.runtime.server.grpc_server import run, wait_for_stop
from croupier.runtime.server.tuning import tune_process
from croupier_client.sockets import GRPC, WEBSOCKET

METHOD = "/benchmark.Bare/Play"
HOST = "127.0.0.1"
Context = grpc.aio.ServicerContext[Any, Any]
Send: TypeAlias = Callable[[bytes], None]


class BareTables:
    """The first message of a stream names its table, and is answered by an empty one.

    Each later one sends a message to all streams of the table.
    """

    def __init__(self, messages: Iterable[bytes]) -> None:
        self._messages = cycle(messages)
        self._tables: dict[bytes, list[Send]] = defaultdict(list)

    def join(self, table: bytes, send: Send) -> list[Send]:
        """Answer the first message of a stream, and return the streams of its table."""
        streams = self._tables[table]
        streams.append(send)
        send(b"")
        return streams

    def fan_out(self, streams: Iterable[Send]) -> None:
        """Send the next message to these streams."""
        message = next(self._messages)
        for send in streams:
            send(message)


class BareServicer:
    """The method of gRPC; each stream has a queue, as those of the engine."""

    def __init__(self, tables: BareTables) -> None:
        self._tables = tables

    async def play(self, _requests: Any, context: Context) -> None:
        queue = asyncio.Queue[bytes]()
        send = queue.put_nowait
        streams = self._tables.join(await context.read(), send)
        reading = asyncio.create_task(self._read(streams, context))
        try:
            while True:
                await context.write(await queue.get())
        finally:
            reading.cancel()
            streams.remove(send)

    async def _read(self, streams: list[Send], context: Context) -> None:
        while await context.read() is not grpc.aio.EOF:
            self._tables.fan_out(streams)


class BareWebSocket(asyncio.Protocol):
    """A connection of WebSocket; messages are written at once, with headers by hand."""

    _transport: asyncio.Transport

    def __init__(self, tables: BareTables) -> None:
        self._tables = tables
        self._protocol = ServerProtocol()
        self._streams: list[Send] | None = None

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._protocol.receive_data(data)
        for event in self._protocol.events_received():
            if isinstance(event, Request):
                self._protocol.send_response(self._protocol.accept(event))
            elif isinstance(event, Frame) and event.opcode is Opcode.BINARY:
                self._receive(bytes(event.data))
        send_output(self._protocol, self._transport)

    def connection_lost(self, _error: Exception | None) -> None:
        if self._streams is not None:
            self._streams.remove(self._send)

    def _receive(self, message: bytes) -> None:
        if self._streams is None:
            self._streams = self._tables.join(message, self._send)
        else:
            self._tables.fan_out(self._streams)

    def _send(self, message: bytes) -> None:
        self._transport.write(header(Opcode.BINARY, len(message)) + message)


@asynccontextmanager
async def grpc_port(tables: BareTables) -> AsyncIterator[int]:
    """Serve gRPC; yields the port."""
    # The keepalive of phones pings more often than gRPC allows by default; the services allow it too.
    server = grpc.aio.server(options=[("grpc.http2.max_ping_strikes", 0)])
    _, service, name = METHOD.split("/")
    handler: Any = grpc.stream_stream_rpc_method_handler(BareServicer(tables).play, None, None)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {name: handler}),))
    port = server.add_insecure_port(f"{HOST}:0")
    await server.start()
    yield port
    await server.stop(1)


@asynccontextmanager
async def websocket_port(tables: BareTables) -> AsyncIterator[int]:
    """Serve WebSocket; yields the port."""
    server = await asyncio.get_running_loop().create_server(lambda: BareWebSocket(tables), HOST, 0)
    yield server.sockets[0].getsockname()[1]
    server.close()


SERVERS: Mapping[str, Callable[[BareTables], AbstractAsyncContextManager[int]]] = {
    GRPC: grpc_port,
    WEBSOCKET: websocket_port,
}


async def serve(messages_file: Path, transport: str) -> int:
    """Print the address, and serve until stopped."""
    tables = BareTables([bytes.fromhex(line) for line in messages_file.read_text().split()])
    async with SERVERS[transport](tables) as port:
        print(f"{HOST}:{port}", flush=True)
        await wait_for_stop()
    return 0


if __name__ == "__main__":
    serving = serve(Path(sys.argv[1]), sys.argv[2])
    tune_process(gc_thresholds="10000,20,100", scheduling="batch")
    raise SystemExit(run(serving))
