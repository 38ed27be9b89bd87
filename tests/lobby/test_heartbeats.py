"""Streams with heartbeats are never silent, and end as they would without."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from croupier.lobby.feed.heartbeats import with_heartbeats
from tests.lobby.matches import next_message

NEVER = 1e6


class Source:
    """A stream of the items that a test puts into it; None ends it, an exception is raised."""

    def __init__(self) -> None:
        self.items: asyncio.Queue[str | Exception | None] = asyncio.Queue()
        self.headers = asyncio.Event()
        self.is_closed = False

    async def stream(self) -> AsyncGenerator[str, None]:
        try:
            while (item := await self.items.get()) is not None:
                if isinstance(item, Exception):
                    raise item
                yield item
        finally:
            self.is_closed = True

    async def send_headers(self) -> None:
        self.headers.set()

    def heard(
        self, last: str | None = None, *, interval: float = NEVER, headers: float = NEVER
    ) -> AsyncGenerator[str, None]:
        return with_heartbeats(self.stream(), last, lambda item: f"{item} again", self.send_headers, interval, headers)


async def test_a_silent_stream_repeats_its_last_item_until_the_next() -> None:
    source = Source()
    async with aclosing(source.heard(interval=0.001)) as stream:
        source.items.put_nowait("one")
        assert [await next_message(stream) for _ in range(3)] == ["one", "one again", "one again"]
        source.items.put_nowait("two")
        while (item := await next_message(stream)) != "two":
            assert item == "one again"
        assert await next_message(stream) == "two again"
    assert source.is_closed


async def test_a_stream_may_have_a_heartbeat_before_its_first_item() -> None:
    async with aclosing(Source().heard("nothing", interval=0.001, headers=0.001)) as stream:
        assert await next_message(stream) == "nothing again"


async def test_headers_are_sent_soon_without_an_item_and_never_after_one() -> None:
    silent, speaking = Source(), Source()
    waiting = asyncio.ensure_future(anext(silent.heard(headers=0.001)))
    await silent.headers.wait()
    waiting.cancel()
    speaking.items.put_nowait("one")
    async with aclosing(speaking.heard()) as stream:
        assert await next_message(stream) == "one"
    assert not speaking.headers.is_set()


async def test_the_end_and_errors_of_a_stream_are_its_own() -> None:
    ending, failing = Source(), Source()
    ending.items.put_nowait(None)
    with pytest.raises(StopAsyncIteration):
        await next_message(ending.heard())
    failing.items.put_nowait(ValueError("a fault"))
    with pytest.raises(ValueError, match="a fault"):
        await next_message(failing.heard())


async def test_a_cancelled_wait_closes_the_stream() -> None:
    source = Source()
    waiting = asyncio.ensure_future(anext(source.heard(headers=0)))
    await source.headers.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert source.is_closed
