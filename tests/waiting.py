"""Waiting in tests: until something is so, and until an event loop has nothing left to do."""

import asyncio
import selectors
import time
from collections.abc import Callable
from inspect import isawaitable

PATIENCE_SECONDS = 60.0
"""Far more than anything takes, on a busy machine too."""
POLL_SECONDS = 0.01
DUE_SECONDS = 1e-6
"""A timer that is left less than this is due, for the loop rounds."""


async def until(is_so: Callable[[], object], what: str = "", seconds: float = PATIENCE_SECONDS) -> None:
    """Wait until a function, or what it makes to be awaited, is true; raises AssertionError if it never is.

    For what has no event, such as files and counters of other processes.
    """
    deadline = time.monotonic() + seconds
    while True:
        outcome = is_so()
        if await outcome if isawaitable(outcome) else outcome:
            return
        assert time.monotonic() < deadline, f"{what or is_so} was not so within {seconds} s"
        # On a thread, since the time of the loop may stand still.
        await asyncio.to_thread(time.sleep, POLL_SECONDS)


class _IdleSelector(selectors.DefaultSelector):
    """Where the loop asks for input when it has nothing else to do."""

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
        events = super().select(PATIENCE_SECONDS)
        assert events, f"everything waits, and nothing has come from outside for {PATIENCE_SECONDS} s"
        return events


class SettlingLoop(asyncio.SelectorEventLoop):
    """The event loop of tests: it can tell when it has nothing to do, and its time may be that of a test's clock."""

    def __init__(self) -> None:
        self._idle = _IdleSelector()
        super().__init__(self._idle)
        self._clock: Callable[[], float] = super().time

    def time(self) -> float:
        return self._clock()

    def follow(self, seconds: Callable[[], float]) -> None:
        """From now on time passes by another clock alone; timers fire when it gets there."""
        self._clock, self._idle.is_virtual = seconds, True

    async def settled(self) -> None:
        """Wait until everything waits: for a timer, for input, or for a thread."""
        idle = self.create_future()
        self._idle.waiting.append(idle)
        await idle


async def settled() -> None:
    """Let everything happen that can without time passing; what threads and other processes do is not waited for."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SettlingLoop)
    await loop.settled()
