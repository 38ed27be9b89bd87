"""Long loops in steps, and the measurement of steps that tests use."""

import asyncio
import time
from functools import partial

from croupier.runtime.steps import in_steps
from tests.loop_steps import MAX_STEP_SECONDS, longest_step, work

PLANTED_SECONDS = 2 * MAX_STEP_SECONDS


async def test_a_planted_step_is_found_in_every_try() -> None:
    async def call() -> None:
        await asyncio.sleep(0)
        work(PLANTED_SECONDS)
        await asyncio.sleep(0)

    assert await longest_step(call) >= MAX_STEP_SECONDS


async def test_the_same_work_in_steps_is_no_long_step() -> None:
    async def call() -> None:
        async for seconds in in_steps([PLANTED_SECONDS / 10] * 10, 1):
            work(seconds)

    assert await longest_step(call) < MAX_STEP_SECONDS


async def test_a_loop_in_steps_yields_all_items_and_lets_others_run() -> None:
    others = 0

    async def count_steps() -> None:
        nonlocal others
        while True:
            others += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count_steps())
    assert [item async for item in in_steps(range(10), 3)] == list(range(10))
    counting.cancel()
    assert others == 3


async def test_waiting_is_no_step() -> None:
    assert await longest_step(partial(asyncio.to_thread, time.sleep, PLANTED_SECONDS)) < MAX_STEP_SECONDS
