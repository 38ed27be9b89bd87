"""The cluster's names: a DNS server on loopback that says which pods stand behind a name and are ready."""

import asyncio
import struct
import time
from collections.abc import Callable, Sequence

PORT = 5353
TIME_TO_LIVE_SECONDS = 1
_HEADER = struct.Struct("!6H")
_QUESTION = struct.Struct("!2H")
_A, _INTERNET = 1, 1
_ANSWER_FLAGS, _RECURSION_ASKED, _UNKNOWN_NAME = 0x8480, 0x0100, 3

Lookup = Callable[[str], Sequence[str] | None]
"""Gives the IPv4 addresses behind a name, None for a name that there is not."""


def answer(question: bytes, lookup: Lookup) -> bytes:
    """The answer to a DNS message with one question; raises ValueError for what is none."""
    try:
        number, flags, questions, *_ = _HEADER.unpack_from(question)
        name, end = _name(question, _HEADER.size)
        kind, family = _QUESTION.unpack_from(question, end)
    except (struct.error, IndexError, UnicodeDecodeError):
        raise ValueError("this is no question of the domain name system") from None
    if questions != 1:
        raise ValueError(f"{questions} questions came at once, one is expected")
    found = lookup(name)
    addresses = found or () if (kind, family) == (_A, _INTERNET) else ()
    head = _ANSWER_FLAGS | (flags & _RECURSION_ASKED) | (_UNKNOWN_NAME if found is None else 0)
    records = b"".join(_record(address) for address in addresses)
    asked = question[_HEADER.size : end + _QUESTION.size]
    return _HEADER.pack(number, head, 1, len(addresses), 0, 0) + asked + records


def _name(message: bytes, at: int) -> tuple[str, int]:
    labels = []
    while length := message[at]:
        labels.append(message[at + 1 : at + 1 + length].decode("ascii").lower())
        at += 1 + length
    return ".".join(labels), at + 1


def _record(address: str) -> bytes:
    return struct.pack("!3HIH4B", 0xC00C, _A, _INTERNET, TIME_TO_LIVE_SECONDS, 4, *map(int, address.split(".")))


class Cached:
    """Answers that may be as old as those of a cluster's DNS; that nobody is there yet is not remembered."""

    def __init__(self, lookup: Lookup, seconds: float, now: Callable[[], float] = time.monotonic) -> None:
        self._lookup, self._seconds, self._now = lookup, seconds, now
        self._known: dict[str, tuple[float, Sequence[str]]] = {}

    def __call__(self, name: str) -> Sequence[str] | None:
        """The addresses behind a name."""
        until, addresses = self._known.get(name, (0.0, ()))
        if self._now() < until:
            return addresses
        found = self._lookup(name)
        if found:
            self._known[name] = (self._now() + self._seconds, found)
        return found


class Resolver(asyncio.DatagramProtocol):
    """The server."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._transport: asyncio.DatagramTransport | None = None

    async def open(self, address: str) -> None:
        """Listen; raises OSError where that cannot be."""
        host, _, port = address.rpartition(":")
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.create_datagram_endpoint(lambda: self, (host, int(port)))

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Answer a question; what is none gets no answer."""
        try:
            said = answer(data, self._lookup)
        except ValueError:
            return
        if self._transport is not None:
            self._transport.sendto(said, addr)

    def close(self) -> None:
        """Answer no more."""
        if self._transport is not None:
            self._transport.close()
