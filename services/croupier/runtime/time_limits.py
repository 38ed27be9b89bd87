"""Limits of time, all of the same duration, with one timer for all of them."""

import asyncio
from typing import Protocol


class Limited(Protocol):
    """The port to what has a limit."""

    def expire(self) -> None:
        """End it, which ends its limit too."""


class TimeLimits:
    """Limits the time of whatever runs on one event loop.

    To set and cancel a timer for each of them, as asyncio.timeout() does, costs a thirtieth of an action.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        # When each expires, in the time of the event loop; in the order in which they began, and so expire.
        self._running: dict[Limited, float] = {}
        self._has_timer = False

    def begin(self, limited: Limited) -> None:
        """Expire something after the duration from now on, unless it ends before."""
        self._running[limited] = ends_at = asyncio.get_running_loop().time() + self._seconds
        if not self._has_timer:
            self._set_timer(ends_at)

    def end(self, limited: Limited) -> bool:
        """End a limit; return whether it was running."""
        return self._running.pop(limited, None) is not None

    def _set_timer(self, at: float) -> None:
        self._has_timer = True
        asyncio.get_running_loop().call_at(at, self._timer_fired, at)

    def _timer_fired(self, at: float) -> None:
        try:
            for limited, ends_at in list(self._running.items()):
                if ends_at > at:
                    break
                limited.expire()
        finally:
            self._has_timer = False
            if self._running:
                self._set_timer(next(iter(self._running.values())))
