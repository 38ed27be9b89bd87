"""Control of time and of delayed answers."""

import asyncio
from typing import Any

import pytest

from tests.engine.fakes import FakeClock, MemoryTableStore
from tests.engine.play import within_timeout
from tests.waiting import settled


async def pass_time(clock: FakeClock, milliseconds: int) -> None:
    """Advance the clock, and run everything at its time."""
    for _ in range(0, milliseconds, 50):
        clock.advance(50)
        await settled()


class HeldCall:
    """A method of a store that reads at once, and answers or fails when it is released."""

    def __init__(self, store: MemoryTableStore, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self._read, self._released = asyncio.Event(), asyncio.Event()
        self._method = getattr(store, name)
        monkeypatch.setattr(store, name, self)

    async def __call__(self, *arguments: Any) -> Any:
        try:
            return await self._method(*arguments)
        finally:
            self._read.set()
            await self._released.wait()

    async def until_read(self) -> None:
        await within_timeout(self._read.wait())

    def release(self) -> None:
        self._released.set()
