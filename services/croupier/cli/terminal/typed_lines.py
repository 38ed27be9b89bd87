"""Typed lines, carried out one at a time while the input is read on, so that it can end at any moment."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine

from croupier.cli.terminal.console import MAX_LINES, Screen

LAST_LINES_SECONDS = 2.0
"""The time that typed lines have after the end of the input."""


async def carry_out_lines(
    screen: Screen, carry_out: Callable[[str], Awaitable[bool]], last_lines_seconds: float = LAST_LINES_SECONDS
) -> None:
    """Carry out typed lines until that returns False, or the input ends; raises what it raises."""
    waiting: asyncio.Queue[str] = asyncio.Queue(MAX_LINES)

    async def work() -> None:
        while await carry_out(await waiting.get()):
            waiting.task_done()

    async def read() -> None:
        while (line := await screen.read()) is not None:
            await waiting.put(line)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(last_lines_seconds):
                await waiting.join()

    await until_first(work(), read())


async def until_first(*works: Coroutine[None, None, None]) -> None:
    """Run all until the first of them ends, then cancel the others; raises its error."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
