"""One timer for a table, which is allowed to fire too early but never too late."""

import asyncio
from collections.abc import Callable

from croupier.runtime.identity import Clock


class TurnTimer:
    """Calls back once a deadline may have come; deadlines that only move later cost nothing."""

    def __init__(self, clock: Clock, fired: Callable[[], Callable[[], None] | None]) -> None:
        """`fired` gives what is to be called back, weakly: None if it is there no more."""
        self._clock = clock
        self._fired = fired
        self._handle: asyncio.TimerHandle | None = None
        self._deadline = 0

    def set(self, deadline: int) -> None:
        """Fire no later than at `deadline` (milliseconds since 1970 UTC)."""
        if self._handle is not None and self._deadline <= deadline:
            return  # It fires earlier; whoever is called then looks at the clock and sets it again.
        self.cancel()
        self._deadline = deadline
        wait_seconds = max(0, deadline - self._clock()) / 1000
        self._handle = asyncio.get_running_loop().call_later(wait_seconds, self._fire)

    def cancel(self) -> None:
        """Fire no more."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _fire(self) -> None:
        self._handle = None
        if fired := self._fired():
            fired()
