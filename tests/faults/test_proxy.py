"""The proxy forwards everything, and breaks only the routes that a command names."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import NamedTuple

import pytest

from croupier.runtime.database.notifications import APPLICATION_NAME
from croupier_loadtest.faults.proxy import Proxy

TIMEOUT_SECONDS = 60.0
SILENCE_SECONDS = 0.3
"""Data that has not arrived after this time is assumed not to arrive."""


class EchoRoute(NamedTuple):
    """A proxy with one route to an echo server."""

    proxy: Proxy
    port: int


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(100):
        writer.write(data)
    writer.close()


@pytest.fixture
async def route() -> AsyncIterator[EchoRoute]:
    server = await asyncio.start_server(_echo, "127.0.0.1", 0)
    async with asyncio.timeout(TIMEOUT_SECONDS), server, Proxy() as proxy:
        target = server.sockets[0].getsockname()[1]
        yield EchoRoute(proxy, await proxy.open("one", "127.0.0.1", target))


class ProxyClient(NamedTuple):
    """A connection through the route."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @classmethod
    async def call(cls, route: EchoRoute) -> "ProxyClient":
        return cls(*await asyncio.open_connection("127.0.0.1", route.port))

    def send(self, text: bytes) -> None:
        self.writer.write(text)

    async def receives(self, text: bytes) -> bool:
        """Return whether this text arrives next, also on a busy machine."""
        return await asyncio.wait_for(self.reader.readexactly(len(text)), TIMEOUT_SECONDS) == text

    async def receives_nothing(self) -> bool:
        """Return whether nothing arrives for a while, or the connection has ended."""
        with suppress(TimeoutError, ConnectionError):
            return await asyncio.wait_for(self.reader.read(1), SILENCE_SECONDS) == b""
        return True


async def test_held_data_arrives_when_the_route_is_healed(route: EchoRoute) -> None:
    caller = await ProxyClient.call(route)
    await route.proxy.execute("one", "hold")
    caller.send(b"hello")
    assert await caller.receives_nothing()
    await route.proxy.execute("one", "heal")
    assert await caller.receives(b"hello")


async def test_a_blackholed_connection_stays_silent_and_a_new_one_works(route: EchoRoute) -> None:
    caller = await ProxyClient.call(route)
    caller.send(b"one")
    assert await caller.receives(b"one")
    await route.proxy.execute("one", "blackhole")
    caller.send(b"two")
    assert await caller.receives_nothing()
    await route.proxy.execute("one", "heal")
    assert await caller.receives_nothing()
    other = await ProxyClient.call(route)
    other.send(b"three")
    assert await other.receives(b"three")


async def test_a_reset_ends_connections_by_an_error(route: EchoRoute) -> None:
    caller = await ProxyClient.call(route)
    caller.send(b"one")
    assert await caller.receives(b"one")
    await route.proxy.execute("one", "reset")
    with pytest.raises(ConnectionResetError):
        await caller.reader.read()


async def test_new_connections_go_to_the_new_target(route: EchoRoute) -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"other")
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as other:
        await route.proxy.execute("one", "set", "target", other.sockets[0].getsockname())
        caller = await ProxyClient.call(route)
        assert await caller.receives(b"other")


async def test_only_named_routes_are_broken_and_a_prefix_names_several(route: EchoRoute) -> None:
    port = await route.proxy.open("group:one", "127.0.0.1", route.port)
    for name in ("other", "on", "players:", "group:"):
        await route.proxy.execute(name, "hold")
    caller, of_group = await ProxyClient.call(route), await ProxyClient.call(EchoRoute(route.proxy, port))
    caller.send(b"one")
    assert await caller.receives(b"one")
    of_group.send(b"one")
    assert await of_group.receives_nothing()


def message(kind: bytes, body: bytes) -> bytes:
    """Return a message as PostgreSQL sends it."""
    return kind + (4 + len(body)).to_bytes(4) + body


async def test_notifications_are_lost_or_late_on_their_connections_alone(route: EchoRoute) -> None:
    notification, other = message(b"A", b"channel"), message(b"D", b"row")
    notified, plain = await ProxyClient.call(route), await ProxyClient.call(route)
    name = message(b"S", APPLICATION_NAME.encode())
    notified.send(name)
    assert await notified.receives(name)
    empty = message(b"1", b"")
    notified.send(empty)
    assert await notified.receives(empty)
    await route.proxy.execute("one", "set", "loses_notifications", True)
    # In parts, as they may come.
    for part in (notification[:3], notification[3:] + other[:2], other[2:]):
        notified.send(part)
    assert await notified.receives(other)
    plain.send(notification)
    assert await plain.receives(notification)
    await route.proxy.execute("one", "heal")
    notified.send(notification)
    assert await notified.receives(notification)
    await route.proxy.execute("one", "set", "notification_delay_seconds", 3600)
    notified.send(notification)
    assert await notified.receives_nothing()
    plain.send(other)
    assert await plain.receives(other)
