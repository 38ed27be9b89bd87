"""Calls that several callers share."""

import asyncio
from collections.abc import Callable, Collection, Coroutine
from functools import partial
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


class _Flight(Generic[Result]):
    """A running call, and the number of its callers so far."""

    def __init__(self, call: Coroutine[Any, Any, Result]) -> None:
        self.task = asyncio.ensure_future(call)
        self.callers = 0


class SingleFlight(Generic[Result]):
    """Runs one call of a key at a time, whose result all callers get that came meanwhile."""

    def __init__(self) -> None:
        self._running: dict[str, _Flight[Result]] = {}

    @property
    def running(self) -> Collection[str]:
        """The keys of the running calls."""
        return self._running.keys()

    async def run(self, key: str, call: Callable[[], Coroutine[Any, Any, Result]]) -> tuple[Result, int]:
        """Return the result of the running call of a key, or else of this one, and by how many callers it is shared.

        Raises what the call raises. A caller that is cancelled does not end it.
        """
        flight = self._running.get(key)
        if flight is None:
            flight = self._running[key] = _Flight(call())
            flight.task.add_done_callback(partial(self._ended, key))
        flight.callers += 1
        return await asyncio.shield(flight.task), flight.callers

    async def ended(self) -> None:
        """Wait until the calls that run now have ended, also if they fail."""
        await asyncio.gather(*(flight.task for flight in self._running.values()), return_exceptions=True)

    def _ended(self, key: str, call: asyncio.Task[Result]) -> None:
        self._running.pop(key, None)
        if not call.cancelled():
            # Retrieved, so that a failure without a remaining caller is not logged.
            call.exception()
