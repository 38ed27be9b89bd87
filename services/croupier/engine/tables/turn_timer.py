"""The timer of a table, which may fire too early but never too late."""

import asyncio
from collections.abc import Callable

from croupier.runtime.identity import Clock


class TurnTimer:
    """Calls back once a deadline may have passed; moving the deadline later costs nothing.

    It holds a reference to its callback only while it is set.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._handle: asyncio.TimerHandle | None = None
        self._deadline = 0

    def set(self, deadline: int, fired: Callable[[], None]) -> None:
        """Call `fired` no later than at `deadline` (milliseconds since 1970 UTC)."""
        if self._handle is not None and self._deadline <= deadline:
            return  # It fires earlier; the callback then checks the clock and sets it again.
        self.cancel()
        self._deadline = deadline
        wait_seconds = max(0, deadline - self._clock()) / 1000
        self._handle = asyncio.get_running_loop().call_later(wait_seconds, self._fire, fired)

    def cancel(self) -> None:
        """Cancel the callback."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _fire(self, fired: Callable[[], None]) -> None:
        self._handle = None
        fired()
