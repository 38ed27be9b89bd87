"""The steps of an event loop: the CPU time of each callback, which other processes do not lengthen."""

import asyncio
import gc
import time
from asyncio.events import Handle
from collections.abc import AsyncIterable, Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

MAX_STEP_SECONDS = 0.005
"""The time for which a single request may keep the event loop."""
TRIES = 5
"""The shortest of so many measurements counts: a page fault or a cold cache may lengthen one of them."""


@contextmanager
def recorded_steps() -> Iterator[list[float]]:
    """Yield the list to which each callback of the running loop adds its CPU time in seconds, within the block."""
    steps: list[float] = []
    run = Handle._run  # noqa: SLF001 - the loop has no public hook around a callback

    def timed(self: Handle) -> Any:
        began = time.thread_time()
        try:
            return run(self)
        finally:
            steps.append(time.thread_time() - began)

    # A pass of the garbage collector is no part of the request that happens to cause it.
    gc.disable()
    try:
        with patch.object(Handle, "_run", timed):
            yield steps
    finally:
        gc.enable()


async def longest_step(call: Callable[[], Awaitable[object]], tries: int = TRIES) -> float:
    """Return the CPU time of the longest callback while a call runs, in seconds: the shortest of several tries."""
    longest = []
    for _ in range(tries):
        with recorded_steps() as steps:
            # In a task of its own, so that its last step has ended.
            await asyncio.ensure_future(call())
        longest.append(max(steps))
        if longest[-1] < MAX_STEP_SECONDS / 2:
            break
    return min(longest)


async def serialized(answer: Awaitable[Any]) -> None:
    """Await the answer of a servicer and serialize it, as the server does in the same step."""
    message = await answer
    if not isinstance(message, bytes):
        message.SerializeToString()


async def read_all(stream: AsyncIterable[Any], count: int = 0) -> None:
    """Read the messages of a stream to its end, or `count` of them, and let the loop run after each as a write does."""
    async for message in stream:
        if not isinstance(message, bytes):
            message.SerializeToString()
        await asyncio.sleep(0)
        count -= 1
        if count == 0:
            return
