"""HTTP/2 by hand (RFC 9113), for clients that do not read and for ends of streams that libraries hide."""

import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING = 0, 1, 3, 4, 6
END_STREAM = ACK = 1
END_HEADERS = 4
INITIAL_WINDOW_SIZE = 4


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame that was received."""

    kind: int
    flags: int
    stream: int
    payload: bytes


def _frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def _literal(text: str) -> bytes:
    """Return a text in HPACK, without Huffman coding; a text of 127 bytes or more has its length in more bytes."""
    rest, coded = len(text) - 127, bytes([min(len(text), 127)])
    if rest >= 0:
        while rest >= 128:
            coded, rest = coded + bytes([rest % 128 + 128]), rest // 128
        coded += bytes([rest])
    return coded + text.encode()


class RawHttp2:
    """A connection that sends one request, and has room for so many bytes of its answer."""

    def __init__(self, connection: socket.socket, window: int = 65_535) -> None:
        self._connection = connection
        self._connection.sendall(
            PREFACE + _frame(SETTINGS, 0, 0, INITIAL_WINDOW_SIZE.to_bytes(2, "big") + window.to_bytes(4, "big"))
        )

    def get(self, path: str, headers: Mapping[str, str]) -> None:
        """Send a request as stream 1."""
        sent = {":method": "GET", ":scheme": "http", ":authority": "x", ":path": path, **headers}
        block = b"".join(b"\0" + _literal(name) + _literal(value) for name, value in sent.items())
        self._connection.sendall(_frame(HEADERS, END_HEADERS | END_STREAM, 1, block))

    def frames(self) -> Iterator[Frame]:
        """Yield the frames of stream 1, and answer pings and settings, until it or the connection ends."""
        with self._connection.makefile("rb") as received:
            while head := received.read(9):
                length, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
                frame = Frame(kind, flags, int.from_bytes(head[5:], "big"), received.read(length))
                if kind in (PING, SETTINGS) and not flags & ACK:
                    self._connection.sendall(_frame(kind, ACK, 0, frame.payload if kind == PING else b""))
                if frame.stream == 1:
                    yield frame
                    if kind == RST_STREAM or (kind in (DATA, HEADERS) and flags & END_STREAM):
                        return
