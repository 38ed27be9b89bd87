"""Long loops in steps, between which the event loop serves other calls."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

Item = TypeVar("Item")


async def in_steps(items: Iterable[Item], size: int) -> AsyncIterator[Item]:
    """Yield items, and let other callbacks run after each `size` of them.

    Items are counted and not timed, so that a simulation is the same on every machine; a step should take about a
    millisecond.
    """
    for number, item in enumerate(items, start=1):
        yield item
        if number % size == 0:
            await asyncio.sleep(0)
