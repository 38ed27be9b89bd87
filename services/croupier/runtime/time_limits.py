"""Limits of time, all of the same duration, with one timer for all of them."""

import asyncio
from typing import Protocol


class Limited(Protocol):
    """The port to what has a limit."""

    @property
    def ends_at(self) -> float:
        """When it expires, in the time of the event loop."""

    def expire(self) -> None:
        """End it, and remove it from what is running."""


class TimeLimits:
    """Limits the time of whatever is running.

    To set and cancel a timer for each of them, as asyncio.timeout() does, costs a thirtieth of an action.
    """

    def __init__(self, seconds: float) -> None:
        self.running: dict[Limited, None] = {}
        """In the order in which they began, and so expire; each adds and removes itself."""
        self._seconds = seconds
        self._has_timer = False

    def next_end(self) -> float:
        """Return when that expires which begins now."""
        ends_at = asyncio.get_running_loop().time() + self._seconds
        if not self._has_timer:
            self._set_timer(ends_at)
        return ends_at

    def _set_timer(self, at: float) -> None:
        self._has_timer = True
        asyncio.get_running_loop().call_at(at, self._timer_fired, at)

    def _timer_fired(self, at: float) -> None:
        self._has_timer = False
        for limited in list(self.running):
            if limited.ends_at > at:
                self._set_timer(limited.ends_at)
                break
            limited.expire()
