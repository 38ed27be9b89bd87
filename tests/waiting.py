"""Waiting in tests: for a condition, and until the event loop is idle."""

import asyncio
import selectors
import time
from collections.abc import Callable
from inspect import isawaitable

TIMEOUT_SECONDS = 60.0
"""A time limit that only a defect exceeds, also on a busy machine."""
POLL_SECONDS = 0.01
DUE_SECONDS = 1e-6
"""A timer with less time left is due, since the loop rounds."""


async def until(condition: Callable[[], object], what: str = "", seconds: float = TIMEOUT_SECONDS) -> None:
    """Wait until a function, or its awaitable, returns true; raises AssertionError after a time limit.

    For what has no event, such as files and counters of other processes.
    """
    deadline = time.monotonic() + seconds
    while True:
        outcome = condition()
        if await outcome if isawaitable(outcome) else outcome:
            return
        assert time.monotonic() < deadline, f"timeout after {seconds} s: {what or condition}"
        # In a thread, since the time of the loop may stand still.
        await asyncio.to_thread(time.sleep, POLL_SECONDS)


class _IdleSelector(selectors.DefaultSelector):
    """A selector that notices when the loop is idle."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[asyncio.Future[None]] = []
        self.is_virtual = False

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is not None and timeout < DUE_SECONDS:
            return super().select(0)
        if self.waiting:
            waiting, self.waiting = self.waiting, []
            for each in waiting:
                if not each.done():
                    each.set_result(None)
            return super().select(0)
        if not self.is_virtual:
            return super().select(timeout)
        events = super().select(TIMEOUT_SECONDS)
        assert events, f"all tasks wait, and no input has come for {TIMEOUT_SECONDS} s"
        return events


class SettlingLoop(asyncio.SelectorEventLoop):
    """The event loop of tests, which can wait until it is idle, and whose time may be that of a test's clock."""

    def __init__(self) -> None:
        self._idle = _IdleSelector()
        super().__init__(self._idle)
        self._clock: Callable[[], float] = super().time

    def time(self) -> float:
        return self._clock()

    def follow(self, seconds: Callable[[], float]) -> None:
        """Follow another clock, by which timers fire from now on."""
        self._clock, self._idle.is_virtual = seconds, True

    async def settled(self) -> None:
        """Wait until all tasks wait for a timer, for input, or for a thread."""
        idle = self.create_future()
        self._idle.waiting.append(idle)
        await idle


async def settled() -> None:
    """Run all callbacks that are due now; threads and other processes are not awaited."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SettlingLoop)
    await loop.settled()
