"""A DNS server on loopback that answers every name with the same IPv4 addresses, which a test may change."""

import asyncio
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

_HEADER = struct.Struct("!6H")
_QUESTION = struct.Struct("!2H")
_A, _INTERNET = 1, 1
_ANSWER_FLAGS = 0x8580
_TIME_TO_LIVE_SECONDS = 1


def answer(question: bytes, addresses: Sequence[str]) -> bytes:
    """Return the answer to a DNS message with one question; only a question of type A gets addresses."""
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


class _Resolver(asyncio.DatagramProtocol):
    def __init__(self, addresses: Sequence[str]) -> None:
        self._addresses = addresses

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        self._transport.sendto(answer(data, self._addresses), addr)


@asynccontextmanager
async def resolving(addresses: Sequence[str]) -> AsyncIterator[str]:
    """Answer with these addresses on a free port of 127.0.0.1; yields its host:port."""
    listening = asyncio.get_running_loop().create_datagram_endpoint(partial(_Resolver, addresses), ("127.0.0.1", 0))
    transport, _ = await listening
    host, port = transport.get_extra_info("sockname")
    yield f"{host}:{port}"
    transport.close()
