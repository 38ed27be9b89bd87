"""WebSocket for players of benchmarks: headers of frames by hand, so that the players need less CPU than the server."""

import asyncio
from typing import Any

import grpc
from websockets.client import ClientProtocol
from websockets.frames import Opcode
from websockets.protocol import Protocol
from websockets.uri import parse_uri

from croupier.engine.api.websocket.frames import header

OPENING_SECONDS = 60.0
BINARY = 0x80 | Opcode.BINARY
"""The first byte of a message in one frame."""
MASKED = 0x80
NO_MASK = bytes(4)
"""A mask that leaves a message as it is; other clients draw one for each frame."""


def masked_frame(message: bytes) -> bytes:
    """Return the frame in which a client sends a message."""
    head = bytearray(header(Opcode.BINARY, len(message)))
    head[1] |= MASKED
    return bytes(head) + NO_MASK + message


def first_frame(data: bytes) -> tuple[int, int]:
    """Return where the message of the first frame of a server begins, and where it ends: maybe behind the data."""
    length, start = data[1], 2
    if length >= 126:
        start = 4 if length == 126 else 10
        length = int.from_bytes(data[2:start], "big")
    return start, start + length


def send_output(protocol: Protocol, transport: asyncio.Transport) -> None:
    """Send what a protocol has to send: handshakes, pongs, closes."""
    for data in protocol.data_to_send():
        if data:
            transport.write(data)
        else:
            transport.write_eof()


class WebSocketStream(asyncio.Protocol):
    """A player's stream of encoded messages, which is read and written as one of gRPC."""

    _transport: asyncio.Transport

    def __init__(self, address: str, path: str) -> None:
        self.opened = asyncio.get_running_loop().create_future()
        """Has its result after the handshake."""
        self._protocol = ClientProtocol(parse_uri(f"ws://{address}{path}"), max_size=None)
        self._rest = b""
        self._messages: list[bytes] = []
        self._reader: asyncio.Future[None] | None = None
        self._has_ended = False

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._protocol.send_request(self._protocol.connect())
        send_output(self._protocol, transport)

    def data_received(self, data: bytes) -> None:
        if not self.opened.done():
            self._finish_handshake(data)
            return
        data = self._rest + data
        while len(data) > 1 and len(data) >= (bounds := first_frame(data))[1]:
            start, end = bounds
            if data[0] == BINARY:
                self._messages.append(data[start:end])
            else:
                self._protocol.receive_data(data[:end])
                send_output(self._protocol, self._transport)
            data = data[end:]
        self._rest = data
        if self._messages:
            self._wake()

    def connection_lost(self, error: Exception | None) -> None:
        self._protocol.receive_eof()
        self._has_ended = True
        if not self.opened.done():
            self.opened.set_exception(error or ConnectionError("the server closed the connection"))
        self._wake()

    async def write(self, message: bytes) -> None:
        """Send a message."""
        self._transport.write(masked_frame(message))

    async def read(self) -> Any:
        """Return the next message, or the mark of gRPC for the end; raises ConnectionError for an error."""
        while not self._messages:
            if self._has_ended:
                return self._end()
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader
        return self._messages.pop(0)

    def cancel(self) -> None:
        """Close the connection at once."""
        self._transport.abort()

    def _finish_handshake(self, data: bytes) -> None:
        """Read the answer of the server, which sends nothing more before the first message of the player."""
        self._protocol.receive_data(data)
        if self._protocol.handshake_exc:
            self.opened.set_exception(self._protocol.handshake_exc)
        elif self._protocol.events_received():
            self.opened.set_result(None)

    def _end(self) -> Any:
        if self._protocol.close_code in (1000, 1001):
            return grpc.aio.EOF
        raise ConnectionError(f"closed with {self._protocol.close_code} {self._protocol.close_reason}")

    def _wake(self) -> None:
        if self._reader and not self._reader.done():
            self._reader.set_result(None)


async def open_websocket(address: str, path: str) -> WebSocketStream:
    """Open a stream with a connection of its own; raises InvalidHandshake, OSError, TimeoutError."""
    host, port = address.rsplit(":", 1)
    async with asyncio.timeout(OPENING_SECONDS):
        _, stream = await asyncio.get_running_loop().create_connection(
            lambda: WebSocketStream(address, path), host, int(port)
        )
        await stream.opened
    return stream
