"""Frames that are read and written by hand: the same events as by the library, wherever the network cuts them."""

from collections.abc import Iterator, Mapping
from random import Random
from typing import TypeAlias

import pytest
from websockets.exceptions import PayloadTooBig
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.speedups import apply_mask

from croupier.engine.api.websocket.connection import Session, WebSocketConnection
from croupier.engine.api.websocket.frames import frame_end
from croupier.runtime.errors import ServiceError
from croupier.runtime.server.grpc_server import MAX_REQUEST_BYTES
from tests.engine.sockets import FakeTransport
from tests.waiting import settled

Event: TypeAlias = bytes | str | int
"""A message, or the close code of a refusal; 0 for a frame that is paid without being a message."""
PAID = 0
SIZES = (0, 1, 5, 60, 125, 126, 127, 300, 65_535, MAX_REQUEST_BYTES)
WHOLE, PARTS, CONTROL = (0x82, 0x82, 0x81, 0x02, 0x01), (0x00, 0x00, 0x80), (0x89, 0x8A)
BROKEN = (0x83, 0xC2, 0x92, 0x88, 0x09, 0x00, 0x82)
MASK = b"mask"
HANDSHAKE = (
    b"GET /v1/tables/t1/play HTTP/1.1\r\nHost: engine\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


def frame(first: int, content: bytes, mask: bytes, size_bytes: int = 0, *, is_masked: bool = True) -> bytes:
    """Return a frame of a client, whose size is in more bytes than it needs if `size_bytes` says so."""
    size = len(content)
    bit = 0x80 if is_masked else 0
    if size < 126 and not size_bytes:
        head = bytes((first, bit | size))
    elif size < 1 << 16 and size_bytes < 8:
        head = bytes((first, bit | 126)) + size.to_bytes(2)
    else:
        head = bytes((first, bit | 127)) + size.to_bytes(8)
    return head + (mask + apply_mask(content, mask) if is_masked else content)


def random_frames(random: Random) -> Iterator[bytes]:
    """Yield frames of every kind, and now and then one that ends the connection."""
    is_within_message = False
    for _ in range(random.randrange(1, 60)):
        first = random.choice(random.choices((PARTS if is_within_message else WHOLE, CONTROL, BROKEN), (80, 18, 2))[0])
        is_control = first & 0x08
        if not is_control:
            is_within_message = first < 0x80
        # Sizes near a limit are rare within a message, whose parts have a limit together.
        size = random.choice(SIZES[:5] if is_control or is_within_message else SIZES[:5] * 4 + SIZES)
        content = random.randbytes(size) if random.random() < 0.1 else (b"\x03\xe8" + b"x" * size)[:size]
        size_bytes, is_masked = random.choice((0, 0, 0, 2, 8)), random.random() < 0.995
        yield frame(first, content, random.randbytes(4), size_bytes, is_masked=is_masked)
        if random.random() < 0.002:
            yield b"\x82\xff" + random.choice((MAX_REQUEST_BYTES + 1, 1 << 62)).to_bytes(8)


def cut(data: bytes, random: Random) -> Iterator[bytes]:
    """Yield the data in pieces, some of which are small."""
    while data:
        size = random.choice((1, 2, 7, 100, 5_000, 200_000))
        yield data[:size]
        data = data[size:]


def by_the_library(data: bytes) -> tuple[list[Event], bytes]:
    """Return the events of frames, and what the server sends, if the library gets all at once."""
    protocol = ServerProtocol(state=State.OPEN, max_size=MAX_REQUEST_BYTES)
    protocol.receive_data(data)
    events: list[Event] = []
    is_text, parts = False, b""
    for each in protocol.events_received():
        assert isinstance(each, Frame)
        if each.opcode in (Opcode.TEXT, Opcode.BINARY):
            is_text, parts = each.opcode is Opcode.TEXT, b""
        if each.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            parts += each.data
            events.append(_message(parts, is_text) if each.fin else PAID)
        elif each.opcode is not Opcode.CLOSE:
            events.append(PAID)
    if isinstance(protocol.parser_exc, PayloadTooBig):
        events.append(1009)
    return events, b"".join(protocol.data_to_send())


def _message(content: bytes, is_text: bool) -> Event:
    try:
        return content.decode() if is_text else content
    except UnicodeDecodeError:
        return 1007


class RecordingSession(Session):
    """A session that records what its connection has for it."""

    def __init__(self, connection: WebSocketConnection, _table_id: str, _headers: Mapping[str, str]) -> None:
        self.connection = connection
        self.events: list[Event] = []

    def receive(self, content: bytes | str) -> None:
        self.events.append(content)

    def charge(self) -> None:
        self.events.append(PAID)

    def resume(self) -> None:
        raise NotImplementedError

    def refuse(self, error: ServiceError, close_code: int) -> None:
        if 1009 not in self.events:
            self.events.append(close_code)

    def lost(self) -> None:
        pass


async def connected() -> tuple[RecordingSession, FakeTransport]:
    """Return the session and the transport of a connection after its handshake."""
    sessions = []

    def new_session(*arguments: object) -> Session:
        sessions.append(RecordingSession(*arguments))  # type: ignore[arg-type]
        return sessions[0]

    transport = FakeTransport(connection := WebSocketConnection(new_session, lambda _: None, lambda _: None))
    connection.connection_made(transport)
    connection.data_received(HANDSHAKE)
    transport.received = b""
    return sessions[0], transport


async def test_frames_cut_anywhere_have_the_events_and_the_answers_that_the_library_gives(seed: int) -> None:
    random = Random(seed)
    for _ in range(100):
        data = b"".join(random_frames(random))
        session, transport = await connected()
        for piece in cut(data, random):
            if not transport.is_lost:
                transport.protocol.data_received(piece)
                await settled()
        assert (session.events, transport.received) == by_the_library(data)


@pytest.mark.parametrize(
    "frames",
    [
        [frame(0x82, b"unmasked", b"", is_masked=False)],
        [frame(0x02, b"part", MASK), frame(0x82, b"message", MASK)],
        [frame(0x02, b"", MASK), frame(0x82, b"message", MASK)],
        [frame(0x02, b"part", MASK), frame(0x89, b"ping", MASK), frame(0x80, b"end", MASK), frame(0x82, b"next", MASK)],
        [frame(0x88, b"\x03\xe8", MASK), frame(0x82, b"late", MASK)],
    ],
    ids=["unmasked", "within a message", "within an empty part", "after a message in parts", "after the end"],
)
async def test_a_message_is_taken_by_hand_only_where_the_library_would_take_one(frames: list[bytes]) -> None:
    session, transport = await connected()
    for each in frames:
        if not transport.is_lost:
            transport.protocol.data_received(each)
            await settled()
    assert (session.events, transport.received) == by_the_library(b"".join(frames))


@pytest.mark.parametrize("size", [0, 1, 125, 126, 65_535, 65_536])
async def test_messages_are_sent_in_the_frames_of_the_library(size: int) -> None:
    for opcode in (Opcode.BINARY, Opcode.TEXT):
        session, transport = await connected()
        send = session.connection.send if opcode is Opcode.BINARY else session.connection.send_text
        send(b"x" * size)
        assert transport.received == Frame(opcode, b"x" * size).serialize(mask=False)


@pytest.mark.parametrize("size", SIZES)
def test_the_end_of_a_frame_is_known_once_it_is_complete(size: int) -> None:
    data = b"frame" + frame(0x82, bytes(size), MASK)
    assert frame_end(data, 5) == frame_end(data + b"next", 5) == len(data)
    for known in {*range(5, min(len(data), 25)), len(data) - 1}:
        assert frame_end(data[:known], 5) == 5


@pytest.mark.parametrize("header", [b"\x82\x05", b"\x82\xff" + (MAX_REQUEST_BYTES + 1).to_bytes(8)])
def test_a_frame_that_its_header_refuses_is_not_awaited(header: bytes) -> None:
    assert frame_end(header, 0) == len(header)


async def test_messages_after_an_incomplete_frame_are_still_read_in_small_steps() -> None:
    session, transport = await connected()
    one = frame(0x82, b"", MASK)
    transport.protocol.data_received(one[:5])
    assert (session.events, transport.reads) == ([], True)
    transport.protocol.data_received(one[5:] + one * 1_000)
    assert len(session.events) < 500
    assert not transport.reads
    await settled()
    assert session.events == [b""] * 1_001
    assert transport.reads
