"""Streams that are never silent: proxies and load balancers cut a response without a byte for a minute."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import TypeVar

Item = TypeVar("Item")
HEARTBEAT_SECONDS = 15.0
HEADERS_SECONDS = 1.0
"""The headers are sent so soon, also without a message. A refusal before them is an HTTP status of its own."""


async def with_heartbeats(
    stream: AsyncGenerator[Item, None],
    last: Item | None,
    repeat: Callable[[Item], Item],
    send_headers: Callable[[], Awaitable[None]],
    interval_seconds: float = HEARTBEAT_SECONDS,
    headers_seconds: float = HEADERS_SECONDS,
) -> AsyncGenerator[Item, None]:
    """Yield the items of a stream, and what `repeat` returns for the last one after each interval without an item.

    `last` is the item before the first one, or None. The headers are sent after `headers_seconds`, unless an item sends
    them before.
    """
    async with aclosing(stream):
        upcoming = asyncio.ensure_future(anext(stream))
        try:
            if not await _is_done(upcoming, headers_seconds):
                await send_headers()
            while True:
                while not await _is_done(upcoming, interval_seconds):
                    if last is not None:
                        yield repeat(last)
                try:
                    last = upcoming.result()
                except StopAsyncIteration:
                    return
                yield last
                upcoming = asyncio.ensure_future(anext(stream))
        finally:
            # A generator that still runs cannot be closed. Its error may come when the caller is gone: it is no fault.
            upcoming.cancel()
            await asyncio.gather(upcoming, return_exceptions=True)


async def _is_done(upcoming: "asyncio.Future[Item]", seconds: float) -> bool:
    done, _ = await asyncio.wait([upcoming], timeout=seconds)
    return bool(done)
