"""People who do a house no good, in a process of their own: `python -m tests.door.strangers PORT AUTHORITY TOKEN`.

A line is printed once the door has refused some for asking too often, and they go on until standard input ends. Then
how often what came of it is printed as JSON, for each kind of them: the statuses that were answered, and how many
connections the door closed on them.
"""

import asyncio
import json
import re
import ssl
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field

STEP_SECONDS = 0.1
REQUESTS_A_STEP = 10
ASKING, SENDING_SLOWLY, SENDING_MUCH, RESETTING = 20, 100, 4, 2
"""How many there are of each kind; the first send 2,000 requests a second together."""
CLOSED = "closed"
TOO_MANY_REQUESTS = "429"
PATH = b"/v1/tables/0/view"
LARGE_BODY = b"a" * 70_000
HTTP2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEADERS, RST_STREAM, SETTINGS = 1, 3, 4
END_STREAM_AND_HEADERS = 5
CANCEL = (8).to_bytes(4, "big")
LAST_STREAM = 20_000

Ways = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(frozen=True, slots=True)
class Strangers:
    """All of them, and what came of it; each kind has an address of its own."""

    port: int
    authority: str
    token: str
    heard: dict[str, Counter[str]] = field(default_factory=dict)

    def tasks(self) -> list["asyncio.Task[None]"]:
        """All that they do, until cancelled."""
        kinds = ((self.ask, ASKING), (self.send_slowly, SENDING_SLOWLY), (self.send_much, SENDING_MUCH))
        return [
            asyncio.create_task(self._again(f"127.0.0.{host}", deed))
            for host, (deed, number) in enumerate((*kinds, (self.reset, RESETTING)), start=2)
            for _ in range(number)
        ]

    async def _again(self, host: str, deed: Callable[[Ways, Counter[str]], Awaitable[None]]) -> None:
        heard = self.heard.setdefault(deed.__name__, Counter())
        context = ssl.create_default_context(cafile=self.authority)
        context.set_alpn_protocols(["h2" if deed == self.reset else "http/1.1"])
        while True:
            with suppress(OSError):
                reader, writer = await asyncio.open_connection(
                    "127.0.0.1", self.port, ssl=context, server_hostname="localhost", local_addr=(host, 0)
                )
                try:
                    await deed((reader, writer), heard)
                finally:
                    writer.transport.abort()
            heard[CLOSED] += 1
            await asyncio.sleep(STEP_SECONDS)

    async def ask(self, ways: Ways, heard: Counter[str]) -> None:
        """Ask far too often."""
        reader, writer = ways
        request = b"GET %b HTTP/1.1\r\nhost: x\r\nauthorization: Bearer %b\r\n\r\n" % (PATH, self.token.encode())
        listening = asyncio.create_task(_count_statuses(reader, heard))
        try:
            while not listening.done():
                writer.write(request * REQUESTS_A_STEP)
                await writer.drain()
                await asyncio.sleep(STEP_SECONDS)
        finally:
            listening.cancel()

    async def send_slowly(self, ways: Ways, heard: Counter[str]) -> None:
        """Never come to the end of the headers."""
        reader, writer = ways
        writer.write(b"POST /v1/sign-in HTTP/1.1\r\nhost: x\r\n")
        listening = asyncio.create_task(_count_statuses(reader, heard))
        while not listening.done():
            writer.write(b"a")
            await asyncio.wait([listening], timeout=STEP_SECONDS)

    async def send_much(self, ways: Ways, heard: Counter[str]) -> None:
        """Send bodies that are far too large."""
        reader, writer = ways
        head = b"POST /v1/sign-in HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
        writer.write(head % len(LARGE_BODY) + LARGE_BODY)
        await _count_statuses(reader, heard)

    async def reset(self, ways: Ways, heard: Counter[str]) -> None:
        """Open calls in HTTP/2 and reset each at once."""
        reader, writer = ways
        writer.write(HTTP2_PREFACE + _frame(SETTINGS, 0, 0, b""))
        for stream in range(1, LAST_STREAM, 2):
            if reader.at_eof() or writer.is_closing():
                return
            opened = _frame(HEADERS, END_STREAM_AND_HEADERS, stream, _header_block(self.token.encode()))
            writer.write(opened + _frame(RST_STREAM, 0, stream, CANCEL))
            if stream % 100 == 99:
                await writer.drain()
                await asyncio.sleep(STEP_SECONDS)


async def _count_statuses(reader: asyncio.StreamReader, heard: Counter[str]) -> None:
    """Count what is answered, until the door closes."""
    with suppress(OSError, EOFError):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            heard[head.split()[1].decode()] += 1
            length = re.search(rb"content-length: ([0-9]+)", head)
            await reader.readexactly(int(length[1]) if length else 0)


def _frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """A frame (RFC 9113, section 4.1)."""
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def _header_block(token: bytes) -> bytes:
    """GET, https, and literals by their indices in the static table (RFC 7541, appendix A)."""
    named = ((4, PATH), (1, b"localhost"))
    literals = b"".join(bytes([index, len(value)]) + value for index, value in named)
    value = b"Bearer " + token
    return b"\x82\x87" + literals + b"\x0f\x08" + _length(len(value)) + value


def _length(number: int) -> bytes:
    """An integer with a prefix of seven bits (RFC 7541, section 5.1)."""
    if number < 127:
        return bytes([number])
    rest, written = number - 127, b"\x7f"
    while rest >= 128:
        rest, written = rest >> 7, written + bytes([rest & 127 | 128])
    return written + bytes([rest])


async def main(port: str, authority: str, token: str) -> None:
    """Say when some were refused, go on until standard input ends, and print what came of it."""
    strangers = Strangers(int(port), authority, token)
    tasks, ends = strangers.tasks(), asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(ends), sys.stdin)
    asking = strangers.heard.setdefault(strangers.ask.__name__, Counter())
    while not asking[TOO_MANY_REQUESTS]:  # noqa: ASYNC110 - a counter has no event
        await asyncio.sleep(STEP_SECONDS)
    print("here", flush=True)
    await ends.read()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    print(json.dumps(strangers.heard))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
