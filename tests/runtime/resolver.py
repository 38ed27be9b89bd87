"""A DNS server on loopback that answers every name with the same IPv4 addresses, which a test may change."""

import asyncio
import struct
from collections.abc import Sequence

_HEADER = struct.Struct("!6H")
_QUESTION = struct.Struct("!2H")
_A, _INTERNET = 1, 1
_ANSWER_FLAGS = 0x8580
_TIME_TO_LIVE_SECONDS = 1


def answer(question: bytes, addresses: Sequence[str]) -> bytes:
    """The answer to a DNS message with one question; only a question of type A receives addresses."""
    number, *_ = _HEADER.unpack_from(question)
    end = question.index(b"\0", _HEADER.size) + 1
    if _QUESTION.unpack_from(question, end) != (_A, _INTERNET):
        addresses = ()
    records = b"".join(
        struct.pack("!3HIH4B", 0xC00C, _A, _INTERNET, _TIME_TO_LIVE_SECONDS, 4, *map(int, address.split(".")))
        for address in addresses
    )
    asked = question[_HEADER.size : end + _QUESTION.size]
    return _HEADER.pack(number, _ANSWER_FLAGS, 1, len(addresses), 0, 0) + asked + records


class Resolver(asyncio.DatagramProtocol):
    """The server; `addresses` are those of every name."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self._addresses = addresses
        self._transport: asyncio.DatagramTransport | None = None

    async def open(self) -> str:
        """Listen on a free port of 127.0.0.1; returns host:port."""
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.create_datagram_endpoint(lambda: self, ("127.0.0.1", 0))
        host, port = self._transport.get_extra_info("sockname")
        return f"{host}:{port}"

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Answer a question."""
        if self._transport is not None:
            self._transport.sendto(answer(data, self._addresses), addr)

    def close(self) -> None:
        """Stop answering."""
        if self._transport is not None:
            self._transport.close()
