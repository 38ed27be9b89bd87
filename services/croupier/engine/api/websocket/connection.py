"""One connection of a WebSocket: handshake, frames, pings and close, by the protocol without I/O of `websockets`.

The usual frames are written and read by hand, see frames.py; the library gets all others, each one whole.
"""

import asyncio
import re
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Protocol
from urllib.parse import unquote

from websockets.exceptions import PayloadTooBig
from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol

from croupier.engine.api.play_session import malformed
from croupier.engine.api.websocket.frames import MAX_SHORT, SHORT_HEADERS, frame_end, header, short_message
from croupier.engine.tables.direct_writer import MAX_BUFFERED_BYTES
from croupier.engine.tables.subscription import MAX_WRITE_SECONDS
from croupier.runtime.errors import ServiceError
from croupier.runtime.server.grpc_server import MAX_REQUEST_BYTES

HANDSHAKE_SECONDS = 10.0
PING_SECONDS = 30.0
BYTES_PER_STEP = 2048
"""Which may be hundreds of empty frames."""
PLAY_PATH = re.compile(r"/v1/tables/(?P<table_id>[^/?#]+)/play")


class Session(Protocol):
    """The stream that a connection carries after its handshake."""

    def receive(self, content: bytes | str) -> None:
        """Take the content of a binary or text frame."""

    def charge(self) -> None:
        """Let the client pay for a frame that is no message: a part of one, a ping or a pong."""

    def resume(self) -> None:
        """Send again, since the buffer of the connection has been sent."""

    def refuse(self, error: ServiceError, close_code: int) -> None:
        """End with an error, which is sent."""

    def lost(self) -> None:
        """End without a message: the connection is closed."""


NewSession = Callable[["WebSocketConnection", str, Mapping[str, str]], Session]
"""Returns the session of a connection by its table and its headers."""


class WebSocketConnection(asyncio.Protocol):
    """A connection, with the three calls that a stream needs: `send`, `close` and `buffered`."""

    __slots__ = (
        "_began",
        "_ended",
        "_is_alive",
        "_is_open",
        "_is_paused",
        "_is_reading",
        "_is_text",
        "_late_bytes",
        "_new_session",
        "_next_read",
        "_parts",
        "_protocol",
        "_session",
        "_timer",
        "_transport",
        "_unread",
        "buffered",
    )

    def __init__(
        self,
        new_session: NewSession,
        began: Callable[["WebSocketConnection"], None],
        ended: Callable[["WebSocketConnection"], None],
    ) -> None:
        """Make a connection that is not open yet; `began` is called after a TLS handshake, `ended` at its end."""
        self._new_session = new_session
        self._began = began
        self._ended = ended
        self._protocol = ServerProtocol(max_size=MAX_REQUEST_BYTES)
        self._transport: Any = None
        self.buffered: Callable[[], int]
        """Returns the bytes that were written and not sent."""
        self._session: Session | None = None
        self._is_open = False
        """Whether data frames can be sent."""
        self._is_alive = True
        """Whether the last ping was answered."""
        self._is_reading = True
        """Whether the session takes messages."""
        self._is_paused = False
        """Whether the transport reads nothing."""
        self._is_text = False
        self._parts: list[bytes] = []
        """The frames of a message that is not complete."""
        self._unread = b""
        """Received bytes that were not taken in."""
        self._next_read: asyncio.Handle | None = None
        self._late_bytes = 0
        """The number of bytes that the client has sent since this end closed the connection."""
        self._timer: asyncio.TimerHandle | None = None

    # The three calls of a stream, and the flow of what the client sends

    def send(self, message: bytes) -> None:
        """Write a binary message, unless the connection is closed."""
        if self._is_open:
            size = len(message)
            head = SHORT_HEADERS[size] if size <= MAX_SHORT else header(Opcode.BINARY, size)
            self._transport.write(head + message)

    def send_text(self, message: bytes) -> None:
        """Write a text message, unless the connection is closed."""
        if self._is_open:
            self._transport.write(header(Opcode.TEXT, len(message)) + message)

    def close(self, code: int) -> None:
        """Close with a code, and abort the connection if the client does not close it too in MAX_WRITE_SECONDS."""
        if self._is_open:
            self._is_open = False
            if self._protocol.state is State.OPEN:
                self._protocol.send_close(code)
            self._end_soon()

    def abort(self) -> None:
        """Close the connection without a close frame."""
        self._is_open, self._unread = False, b""
        self._transport.abort()

    def pause_reading(self) -> None:
        """Read nothing from the client until `resume_reading`."""
        self._is_reading = False
        self._control_transport()

    def resume_reading(self) -> None:
        """Read again."""
        if not self._is_reading:
            self._is_reading = True
            self._read_soon()

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self.buffered = self._transport.get_write_buffer_size
        self._transport.set_write_buffer_limits(high=MAX_BUFFERED_BYTES)
        self._set_timer(HANDSHAKE_SECONDS, self.abort)
        self._began(self)

    def data_received(self, data: bytes) -> None:
        if not self._is_open and self._session is not None and self._protocol.parser_exc is None:
            # It may have sent messages before it received the end; more of them are not worth the time.
            self._late_bytes += len(data)
            if self._late_bytes > MAX_REQUEST_BYTES:
                self.abort()
                return
        if not self._unread and self._is_reading and self._next_read is None and self._take_message(data):
            return
        self._unread += data
        if self._next_read is None:
            self._read()

    def _take_message(self, data: bytes) -> bool:
        """Pass the usual message to the session, a short one in one frame; return whether the data was one."""
        session = self._session
        if session is None or not self._is_open or self._parts or (message := short_message(data)) is None:
            return False
        session.receive(message)
        return True

    def _read(self) -> None:
        """Take in a part of what was received; before the next one others get their turn, and the session may stop."""
        self._next_read = None
        start, end = 0, self._end_of_part(0)
        while start < end and start < BYTES_PER_STEP and self._is_reading:
            self._receive(self._unread[start:end])
            start, end = end, self._end_of_part(end)
        self._unread = self._unread[start:]
        if start < end and self._is_reading:
            self._read_soon()
        self._control_transport()

    def _end_of_part(self, start: int) -> int:
        """Return the end of the next frame, so that the library is never within one while messages are taken in."""
        return frame_end(self._unread, start) if self._is_open else min(len(self._unread), start + BYTES_PER_STEP)

    def _read_soon(self) -> None:
        if self._next_read is None:
            self._next_read = asyncio.get_running_loop().call_soon(self._read)

    def _control_transport(self) -> None:
        """Let the transport read while nothing waits here."""
        pauses = self._next_read is not None or not self._is_reading
        if pauses != self._is_paused and not self._transport.is_closing():
            self._is_paused = pauses
            if pauses:
                self._transport.pause_reading()
            else:
                self._transport.resume_reading()

    def _receive(self, data: bytes) -> None:
        if self._take_message(data):
            return
        self._protocol.receive_data(data)
        for event in self._protocol.events_received():
            if isinstance(event, Frame):
                self._receive_frame(event)
            elif isinstance(event, Request):
                self._shake_hands(event)
        protocol = self._protocol
        if self._session is not None and isinstance(protocol.parser_exc, PayloadTooBig):
            error = malformed(f"invalid message: expected at most {MAX_REQUEST_BYTES} bytes")
            self._session.refuse(error, CloseCode.MESSAGE_TOO_BIG)
        if self._is_open and protocol.state is not State.OPEN:
            self._is_open = False
            self._end_soon()
        else:
            self._flush()

    def resume_writing(self) -> None:
        if self._session is not None:
            self._session.resume()

    def connection_lost(self, _error: Exception | None) -> None:
        self._is_open = False
        if self._timer is not None:
            self._timer.cancel()
        if self._session is not None:
            self._session.lost()
        self._ended(self)

    # Frames

    def _shake_hands(self, request: Request) -> None:
        path = PLAY_PATH.fullmatch(request.path)
        if path is None:
            expected = "Unknown path: expected /v1/tables/{table_id}/play.\n"
            self._protocol.send_response(self._protocol.reject(HTTPStatus.NOT_FOUND, expected))
            return
        response = self._protocol.accept(request)
        self._protocol.send_response(response)
        if response.status_code == HTTPStatus.SWITCHING_PROTOCOLS:
            headers = {name.lower(): value for name, value in request.headers.raw_items()}
            self._flush()
            # The first one would keep the request, 2 KB. No client sends a frame before it has the answer.
            self._protocol = ServerProtocol(state=State.OPEN, max_size=MAX_REQUEST_BYTES)
            self._is_open = True
            self._session = self._new_session(self, unquote(path["table_id"]), headers)
            self._set_timer(PING_SECONDS, self._ping)

    def _receive_frame(self, frame: Frame) -> None:
        if self._session is None or frame.opcode is Opcode.CLOSE:
            return
        if frame.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            if frame.opcode is not Opcode.CONT:
                self._is_text = frame.opcode is Opcode.TEXT
            if frame.data or not self._parts:
                self._parts.append(bytes(frame.data))
            if frame.fin:
                message, self._parts = b"".join(self._parts), []
                self._receive_message(self._session, message)
                return
        elif frame.opcode is Opcode.PONG:
            self._is_alive = True
        self._session.charge()

    def _receive_message(self, session: Session, message: bytes) -> None:
        try:
            content = message.decode() if self._is_text else message
        except UnicodeDecodeError:
            session.refuse(malformed("invalid message: expected text in UTF-8"), CloseCode.INVALID_DATA)
        else:
            session.receive(content)

    def _flush(self) -> None:
        """Send what the library has to send: answers to handshake, ping and close."""
        for data in self._protocol.data_to_send():
            if self._transport.is_closing():
                return
            if data:
                self._transport.write(data)
            elif self._transport.can_write_eof():
                # With unread data in the socket, closing it could discard the last frame on its way.
                self._transport.write_eof()
            else:
                self._transport.close()

    def _end_soon(self) -> None:
        self._flush()
        # The client closes the connection too.
        self.resume_reading()
        self._set_timer(MAX_WRITE_SECONDS, self.abort)

    def _ping(self) -> None:
        """Ping the client, or end the connection if the last ping was not answered, although answers are read."""
        if not self._is_alive and self._is_reading:
            self.abort()
            return
        self._is_alive = False
        self._protocol.send_ping(b"")
        self._flush()
        self._set_timer(PING_SECONDS, self._ping)

    def _set_timer(self, seconds: float, callback: Callable[[], None]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, callback)
