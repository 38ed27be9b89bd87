"""The steps of an event loop: the CPU time of each callback.

Other processes add nothing to a CPU time, but they share cores, caches and frequency, and machines differ. So a fixed
piece of work is measured just before and after each try, and a step has the time that it would take on the machine of
ROUND_SECONDS.
"""

import asyncio
import gc
import json
import time
from asyncio.events import Handle
from collections.abc import AsyncIterable, Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

MAX_STEP_SECONDS = 0.005
"""The time for which a single request may keep the event loop."""
ROUND_SECONDS = 10e-6
"""The time of a round of `work` on the machine for which MAX_STEP_SECONDS is stated, while it is idle."""
YARDSTICK_SECONDS = 0.002
"""The time of the work that is measured with each try, on that machine."""
SEATS = json.dumps([{"seat": seat, "name": f"player {seat}", "cards": ["QH", "2C"]} for seat in range(20)])
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


def work(seconds: float) -> None:
    """Do what takes this long on the machine for which MAX_STEP_SECONDS is stated, in the manner of a service."""
    for _ in range(round(seconds / ROUND_SECONDS)):
        {seat["name"]: (seat["seat"], tuple(seat["cards"])) for seat in json.loads(SEATS)}


def slowness() -> float:
    """Return how many times as long as on that machine work takes here and now."""
    began = time.thread_time()
    work(YARDSTICK_SECONDS)
    return (time.thread_time() - began) / YARDSTICK_SECONDS


async def longest_step(call: Callable[[], Awaitable[object]], tries: int = TRIES) -> float:
    """Return the time of the longest callback while a call runs, in seconds of CPU: the shortest of several tries."""
    longest = []
    for _ in range(tries):
        before = slowness()
        with recorded_steps() as steps:
            # In a task of its own, so that its last step has ended.
            await asyncio.ensure_future(call())
        longest.append(max(steps) * 2 / (before + slowness()))
        if longest[-1] < MAX_STEP_SECONDS / 2:
            break
    return min(longest)


async def serialized(answer: Awaitable[Any]) -> None:
    """Await the answer of a servicer and serialize it, as the server does in the same step."""
    _serialize(await answer)


async def read_all(stream: AsyncIterable[Any], count: int = 0) -> None:
    """Read the messages of a stream to its end, or `count` of them, and let the loop run after each as a write does."""
    async for message in stream:
        _serialize(message)
        await asyncio.sleep(0)
        count -= 1
        if count == 0:
            return


def _serialize(message: Any) -> None:
    if not isinstance(message, bytes):
        message.SerializeToString()
