"""Fixtures that run a test with both clients and both transports, and the retries of their clients."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any, Self, TypeAlias

import pytest

from croupier_client import BlockingClient, Client, Endpoints, RetryPolicy
from tests.client.fake_croupier import FakeCroupier

DEADLINE_SECONDS = 60.0
SECRET = "a secret of this device"
FAST_RETRIES = RetryPolicy(total_seconds=60, first_delay_seconds=0.01, max_delay_seconds=0.05)
"""Retries for tests whose fake recovers."""
SHORT_RETRIES = RetryPolicy(total_seconds=0.5, stream_seconds=0.5, first_delay_seconds=0.01, max_delay_seconds=0.02)
"""Retries for tests whose fake does not."""
_STARTED_NANOSECONDS = time.monotonic_ns()

CLIENTS: Mapping[str, type[Client] | type[BlockingClient]] = {"asyncio": Client, "blocking": BlockingClient}
Connect: TypeAlias = Callable[..., AbstractAsyncContextManager[Any]]
"""Connects a client, used as `Client` is, to fakes or endpoints, with a time-out for the whole block."""


def since_start() -> int:
    """Return milliseconds since the start of the tests, by a clock that runs, so that retries end."""
    return (time.monotonic_ns() - _STARTED_NANOSECONDS) // 1_000_000


def endpoints_of(*fakes: FakeCroupier) -> Endpoints:
    """Return the endpoints of fakes that are replicas."""
    services, sockets = (",".join(each) for each in zip(*((f.address, f.socket_address) for f in fakes), strict=True))
    return Endpoints(services, services, services, websocket=sockets)


class ThreadedClient:
    """Wraps a blocking client, its tables and iterators: each method runs in a thread and is awaited."""

    def __init__(self, blocking: Any) -> None:
        self._blocking = blocking

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._blocking, name)
        if name in ("play_table", "watch_table", "find_match"):
            return lambda *arguments, **named: ThreadedClient(found(*arguments, **named))
        return partial(asyncio.to_thread, found) if callable(found) else found

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self._blocking.__enter__)
        return self

    async def __aexit__(self, *error: object) -> None:
        await asyncio.to_thread(self._blocking.__exit__, *error)

    def __aiter__(self) -> "ThreadedClient":
        return ThreadedClient(iter(self._blocking))

    async def __anext__(self) -> Any:
        item = await asyncio.to_thread(next, self._blocking, self)
        if item is self:
            raise StopAsyncIteration
        return item


def connecting(make: type[Client] | type[BlockingClient], transport: str) -> Connect:
    """Return a function that connects a client."""

    @asynccontextmanager
    async def connect(
        *where: FakeCroupier | Endpoints,
        policy: RetryPolicy = FAST_RETRIES,
        clock: Callable[[], int] = since_start,
        keepalive_seconds: float | None = None,
    ) -> AsyncIterator[Any]:
        first = where[0]
        fakes = [fake for fake in where if isinstance(fake, FakeCroupier)]
        endpoints = first if isinstance(first, Endpoints) else endpoints_of(*fakes)
        client = make(
            endpoints,
            SECRET,
            "Kari",
            policy=policy,
            clock=clock,
            keepalive_seconds=keepalive_seconds,
            transport=transport,
        )
        async with (
            asyncio.timeout(DEADLINE_SECONDS),
            client if isinstance(client, Client) else ThreadedClient(client) as it,
        ):
            yield it

    return connect


@pytest.fixture(params=CLIENTS)
def client_of(request: pytest.FixtureRequest) -> Connect:
    """Return a function that connects a client, for each of the two channels."""
    return connecting(CLIENTS[request.param], "grpc")


@pytest.fixture(params=[(client, transport) for transport in ("grpc", "websocket") for client in CLIENTS], ids=" ".join)
def player_of(request: pytest.FixtureRequest) -> Connect:
    """Return a function that connects a client, for each of the two channels and for each transport of tables."""
    client, transport = request.param
    return connecting(CLIENTS[client], transport)
