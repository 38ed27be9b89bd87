"""WebSockets of an engine on fakes: a client by the library's protocol without I/O, joined to a connection."""

import asyncio
from collections.abc import Sequence
from random import Random
from typing import Any, NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.protobuf import json_format
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.uri import parse_uri

from croupier.engine.api.action_codec import encode_action
from croupier.engine.api.play_session import PLAY_TABLE
from croupier.engine.api.websocket.server import WebSocketServer
from croupier.engine.tables.registry import Tables
from croupier.engine.tables.table import Table
from croupier.runtime.admission.limits import Limits
from croupier.runtime.admission.network import ADDRESS_HEADER
from croupier.runtime.errors import ServiceError, from_status
from croupier.runtime.identity.tokens import PLAYER_AUDIENCE, TokenIssuer, TokenVerifier
from croupier.runtime.server.calls import Calls
from croupier_api.v1 import engine_pb2
from tests.engine.fakes import EngineHarness
from tests.engine.play import choice, parsed
from tests.waiting import settled

KEY = Ed25519PrivateKey.generate()
TOKEN_SECONDS = 3_600
BEFORE_TIME = 1
"""Milliseconds."""


def masked(content: bytes, *, text: bool = False) -> bytes:
    """Return the frame of a whole message of a client."""
    size = bytes((0x80 | len(content),)) if len(content) < 126 else b"\xfe" + len(content).to_bytes(2)
    return (b"\x81" if text else b"\x82") + size + bytes(4) + content


def token(engine: EngineHarness, player_id: str, seconds: int = TOKEN_SECONDS) -> str:
    return TokenIssuer(KEY, PLAYER_AUDIENCE, seconds, engine.clock).issue(player_id, player_id.capitalize())[0]


def websockets_of(engine: EngineHarness, tables: Tables, held: Limits | None = None) -> WebSocketServer:
    verifier = TokenVerifier(KEY.public_key(), PLAYER_AUDIENCE, engine.clock)
    return WebSocketServer(engine.servicer(tables), Calls(verifier, engine.metrics.rpc, engine.logger, held))


class FakeTransport(asyncio.Transport):
    """The server's side of a connection, whose client reads all that is written, or nothing while it is `blocked`."""

    def __init__(self, protocol: asyncio.Protocol) -> None:
        super().__init__()
        self.protocol = protocol
        self.received = b""
        """The bytes that the client has read."""
        self.is_blocked = False
        self.reads = True
        self.is_lost = False
        self._buffer = b""
        self._high = 0
        self._is_paused = False

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._high = high or 0

    def get_write_buffer_size(self) -> int:
        return len(self._buffer)

    def write(self, data: Any) -> None:
        assert not self.is_lost
        self._buffer += data
        if not self.is_blocked:
            self.unblock()
        elif len(self._buffer) > self._high and not self._is_paused:
            self._is_paused = True
            self.protocol.pause_writing()

    def unblock(self) -> None:
        """Let the client read what was written."""
        self.is_blocked = False
        self.received, self._buffer = self.received + self._buffer, b""
        if self._is_paused:
            self._is_paused = False
            self.protocol.resume_writing()

    def can_write_eof(self) -> bool:
        return False

    def pause_reading(self) -> None:
        self.reads = False

    def resume_reading(self) -> None:
        self.reads = True

    def is_closing(self) -> bool:
        return self.is_lost

    def close(self) -> None:
        self.abort()

    def abort(self) -> None:
        if not self.is_lost:
            self.is_lost = True
            asyncio.get_running_loop().call_soon(self.protocol.connection_lost, None)


class Outcome(NamedTuple):
    """The close code of a WebSocket, and the reason and the field of the error in its last message."""

    code: int | None
    reason: str = ""
    field: str = ""


class Client:
    """A client of one connection."""

    def __init__(self, server: WebSocketServer, path: str = "/v1/tables/t1/play", **headers: str) -> None:
        self.transport = FakeTransport(server.connect())
        self.transport.protocol.connection_made(self.transport)
        self.response: Response | None = None
        self.pings = 0
        self.answers_pings = True
        self._protocol = ClientProtocol(parse_uri("ws://127.0.0.1" + path))
        self._messages: list[bytes] = []
        self._texts: list[str] = []
        request = self._protocol.connect()
        for name, value in headers.items():
            request.headers[name.replace("_", "-")] = value
        self._protocol.send_request(request)
        self.flush()
        self.read()

    def flush(self) -> None:
        """Send what the client's protocol has to send, in one piece."""
        for data in self._protocol.data_to_send():
            if data and not self.transport.is_lost:
                self.transport.protocol.data_received(data)

    def write(self, data: bytes) -> None:
        """Send bytes as they are."""
        self.transport.protocol.data_received(data)

    def send(self, *requests: engine_pb2.PlayTableRequest) -> None:
        for request in requests:
            self._protocol.send_binary(request.SerializeToString())
        self.flush()

    def send_json(self, *texts: str | bytes) -> None:
        for text in texts:
            self._protocol.send_text(text if isinstance(text, bytes) else text.encode())
        self.flush()

    def send_parts(self, *parts: bytes) -> None:
        """Send one binary message in several frames."""
        self._protocol.send_binary(parts[0], fin=False)
        for part in parts[1:-1]:
            self._protocol.send_continuation(part, fin=False)
        self._protocol.send_continuation(parts[-1], fin=True)
        self.flush()

    def send_content(self, content: bytes | str) -> None:
        """Send a message that may be malformed."""
        if isinstance(content, str):
            self.send_json(content)
        else:
            self.send_parts(content, b"")

    def ping(self, times: int = 1) -> None:
        for number in range(times):
            self._protocol.send_ping(str(number).encode())
        self.flush()

    def close(self) -> None:
        self._protocol.send_close(1000)
        self.flush()

    def read(self) -> None:
        """Take what the server has written."""
        data, self.transport.received = self.transport.received, b""
        if data:
            self._protocol.receive_data(data)
        for event in self._protocol.events_received():
            if isinstance(event, Response):
                self.response = event
            elif isinstance(event, Frame):
                self._take(event)
        answers = self._protocol.data_to_send()
        if self.answers_pings and not self.transport.is_lost:
            for answer in filter(None, answers):
                self.transport.protocol.data_received(answer)

    def _take(self, frame: Frame) -> None:
        if frame.opcode is Opcode.PING:
            self.pings += 1
        elif frame.opcode is Opcode.TEXT:
            self._texts.append(bytes(frame.data).decode())
        elif frame.opcode is Opcode.BINARY:
            self._messages.append(bytes(frame.data))

    async def messages(self) -> list[bytes]:
        """Return the binary messages that have come since the last call."""
        await settled()
        self.read()
        await settled()
        messages, self._messages = self._messages, []
        return messages

    async def texts(self) -> list[engine_pb2.PlayTableResponse]:
        """Return the text messages that have come since the last call."""
        await self.messages()
        texts, self._texts = self._texts, []
        return [json_format.Parse(text, engine_pb2.PlayTableResponse()) for text in texts]

    @property
    def code(self) -> int | None:
        """The close code of the server, None while it is open."""
        self.read()
        return self._protocol.close_rcvd.code if self._protocol.close_rcvd else None

    async def outcome(self) -> Outcome:
        """Return how it ended."""
        messages: Sequence[engine_pb2.PlayTableResponse] = [parsed(one) for one in await self.messages()]
        error = error_of(messages or await self.texts())
        return Outcome(self.code, error.reason_name if error else "", error.field if error else "")


def error_of(messages: Sequence[engine_pb2.PlayTableResponse]) -> ServiceError | None:
    """Return the error in the last message."""
    return from_status(messages[-1].error) if messages and messages[-1].HasField("error") else None


def play_request(
    engine: EngineHarness, player_id: str = "p0", seconds: int = TOKEN_SECONDS, **watch: Any
) -> engine_pb2.PlayTableRequest:
    """Return the first message of a player."""
    return engine_pb2.PlayTableRequest(
        access_token=token(engine, player_id, seconds), watch=engine_pb2.WatchTableRequest(**watch)
    )


def address(host: str) -> dict[str, str]:
    """Return the header with which the gateway names the address of a client."""
    return {ADDRESS_HEADER.replace("-", "_"): host}


def action_request(table: Table, request_id: str = "r") -> tuple[int, engine_pb2.PlayTableRequest]:
    """Return the seat to act, and a legal action of it."""
    seat, chosen = choice(table.state, Random(1))
    action = engine_pb2.SubmitActionRequest(request_id=request_id, action=encode_action(chosen))
    return seat, engine_pb2.PlayTableRequest(action=action)


async def opened(engine: EngineHarness, tables: Tables, player_id: str = "p0", **watch: Any) -> Client:
    """Return a client whose stream is open, after its first messages."""
    client = Client(websockets_of(engine, tables))
    client.send(play_request(engine, player_id, **watch))
    assert await client.messages()
    assert client.code is None
    return client


def ended_calls(engine: EngineHarness, code: str) -> float:
    return engine.count("croupier_rpc_calls_total", method=PLAY_TABLE, code=code)
