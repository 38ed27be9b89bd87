"""Tests of outcomes that a callback receives."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from croupier.runtime.outcomes import call_back


async def _connection_lost() -> int:
    # A driver cancels the future of a command whose connection is lost: nobody cancels the task.
    lost: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(lost.cancel)
    return await lost


async def _failing() -> int:
    raise ValueError("no")


async def _seven() -> int:
    return 7


@pytest.mark.parametrize(
    ("work", "expected"), [(_seven, "7"), (_failing, "no"), (_connection_lost, "cancelled before its outcome")]
)
async def test_every_task_has_an_outcome(work: Callable[[], Coroutine[Any, Any, int]], expected: str) -> None:
    outcomes: asyncio.Queue[int | Exception] = asyncio.Queue()
    call_back(work(), outcomes.put_nowait)
    async with asyncio.timeout(5):
        assert expected in str(await outcomes.get())
    assert outcomes.empty()
