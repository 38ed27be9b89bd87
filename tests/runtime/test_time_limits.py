"""Limits of time that share a timer; tests/engine/test_call_timeouts.py has those of calls."""

import asyncio

from croupier.runtime.time_limits import TimeLimits
from tests.waiting import SettlingLoop, settled


class Call:
    """Something that expires, with an error if it has one, and begins another one if it has that."""

    def __init__(self, limits: TimeLimits, error: Exception | None = None, other: "Call | None" = None) -> None:
        self.has_expired = False
        self._limits = limits
        self._error = error
        self._other = other

    def expire(self) -> None:
        self._limits.end(self)
        self.has_expired = True
        if self._other is not None:
            self._limits.begin(self._other)
        if self._error is not None:
            raise self._error


async def test_each_expires_though_another_fails_and_begins_a_third() -> None:
    loop, now, faults = asyncio.get_running_loop(), [0.0], list[object]()
    assert isinstance(loop, SettlingLoop)
    loop.follow(lambda: now[0])
    loop.set_exception_handler(lambda _, context: faults.append(context["exception"]))
    limits, error = TimeLimits(10), ValueError("a defect")
    third = Call(limits)
    failing, second = Call(limits, error, third), Call(limits)
    limits.begin(failing)
    limits.begin(second)
    await settled()
    now[0] = 10
    await settled()
    assert (failing.has_expired, second.has_expired, third.has_expired, faults) == (True, True, False, [error])
    now[0] = 20
    await settled()
    assert third.has_expired
    assert not limits.end(third)
