"""Frames of a WebSocket by hand: the library would take as long for each of them as for a whole message.

They are the header of a message of the server, and the usual frame of a client: an action in a binary message.
"""

from struct import Struct

# The compiled function where the library has it.
from websockets.frames import Opcode, apply_mask  # type: ignore[attr-defined]

from croupier.runtime.server.grpc_server import MAX_REQUEST_BYTES

_FIN, _MASKED = 0x80, 0x80
_BINARY = _FIN | Opcode.BINARY
MAX_SHORT = 125
"""The size of a message whose header has it in one byte."""
_HEADER_16, _HEADER_64 = Struct("!BBH"), Struct("!BBQ")


def header(opcode: Opcode, size: int) -> bytes:
    """Return the header of a frame that is a whole message of the server."""
    if size <= MAX_SHORT:
        return bytes((_FIN | opcode, size))
    if size < 1 << 16:
        return _HEADER_16.pack(_FIN | opcode, 126, size)
    return _HEADER_64.pack(_FIN | opcode, 127, size)


SHORT_HEADERS = tuple(header(Opcode.BINARY, size) for size in range(MAX_SHORT + 1))
"""The headers of short binary messages, by size: most messages of a table are short."""


def frame_end(data: bytes, start: int) -> int:
    """Return where the frame of a client that begins at `start` ends, `start` if it is not complete.

    A frame without a mask, or of more than MAX_REQUEST_BYTES, ends with the data: its header is refused.
    """
    if len(data) < start + 2:
        return start
    size, mask = data[start + 1] - _MASKED, start + 2
    if size > MAX_SHORT:
        mask += 2 if size == 126 else 8
        # If bytes of it are missing, this is less than the whole.
        size = int.from_bytes(data[start + 2 : mask])
    if not 0 <= size <= MAX_REQUEST_BYTES:
        return len(data)
    end = mask + 4 + size
    return end if end <= len(data) else start


def short_message(data: bytes) -> bytes | None:
    """Return the content of exactly one frame that is a whole binary message of at most 125 bytes, None otherwise."""
    if len(data) >= 6 and data[0] == _BINARY and len(data) - 6 == data[1] - _MASKED <= MAX_SHORT:
        return apply_mask(data[6:], data[2:6])
    return None
