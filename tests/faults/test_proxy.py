"""The proxy passes everything on, and breaks just what a command names."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import NamedTuple

import pytest

from loadtest.faults.proxy import Proxy

PATIENCE_SECONDS = 60.0
SILENCE_SECONDS = 0.3
"""What has not come after so long is taken not to come."""


class Way(NamedTuple):
    """A proxy with one lane to an echo server."""

    proxy: Proxy
    port: int


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(100):
        writer.write(data)
    writer.close()


@pytest.fixture
async def way() -> AsyncIterator[Way]:
    server = await asyncio.start_server(_echo, "127.0.0.1", 0)
    async with asyncio.timeout(PATIENCE_SECONDS), server, Proxy() as proxy:
        target = server.sockets[0].getsockname()[1]
        yield Way(proxy, await proxy.open("one", "127.0.0.1", target))


class Caller(NamedTuple):
    """A connection through the lane."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @classmethod
    async def call(cls, way: Way) -> "Caller":
        return cls(*await asyncio.open_connection("127.0.0.1", way.port))

    def send(self, text: bytes) -> None:
        self.writer.write(text)

    async def receives(self, text: bytes) -> bool:
        """Whether this comes before anything else, on a busy machine too."""
        return await asyncio.wait_for(self.reader.readexactly(len(text)), PATIENCE_SECONDS) == text

    async def receives_nothing(self) -> bool:
        """Whether nothing comes for a while, or the connection is at its end."""
        with suppress(TimeoutError, ConnectionError):
            return await asyncio.wait_for(self.reader.read(1), SILENCE_SECONDS) == b""
        return True


async def test_everything_is_passed_on(way: Way) -> None:
    caller = await Caller.call(way)
    caller.send(b"hello")
    assert await caller.receives(b"hello")


async def test_what_is_held_arrives_when_the_lane_is_healed(way: Way) -> None:
    caller = await Caller.call(way)
    await way.proxy.do("one", "hold")
    caller.send(b"hello")
    assert await caller.receives_nothing()
    await way.proxy.do("one", "heal")
    assert await caller.receives(b"hello")


async def test_a_swallowed_connection_stays_silent_and_a_new_one_is_whole(way: Way) -> None:
    caller = await Caller.call(way)
    caller.send(b"one")
    assert await caller.receives(b"one")
    await way.proxy.do("one", "swallow")
    caller.send(b"two")
    assert await caller.receives_nothing()
    await way.proxy.do("one", "heal")
    assert await caller.receives_nothing()
    other = await Caller.call(way)
    other.send(b"three")
    assert await other.receives(b"three")


async def test_a_reset_ends_connections_by_an_error(way: Way) -> None:
    caller = await Caller.call(way)
    caller.send(b"one")
    assert await caller.receives(b"one")
    await way.proxy.do("one", "reset")
    with pytest.raises(ConnectionResetError):
        await caller.reader.read()


async def test_new_connections_go_to_the_target_that_a_lane_is_aimed_at(way: Way) -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"elsewhere")
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as other:
        await way.proxy.do("one", "aim", "127.0.0.1", other.sockets[0].getsockname()[1])
        caller = await Caller.call(way)
        assert await caller.receives(b"elsewhere")


@pytest.mark.parametrize("name", ["other", "on", "players:"])
async def test_only_the_lanes_that_are_named_are_broken(way: Way, name: str) -> None:
    await way.proxy.do(name, "hold")
    caller = await Caller.call(way)
    caller.send(b"one")
    assert await caller.receives(b"one")


async def test_lanes_are_broken_together_by_what_their_names_begin_with(way: Way) -> None:
    port = await way.proxy.open("group:one", "127.0.0.1", way.port)
    caller = await Caller.call(Way(way.proxy, port))
    await way.proxy.do("group:", "hold")
    caller.send(b"one")
    assert await caller.receives_nothing()
