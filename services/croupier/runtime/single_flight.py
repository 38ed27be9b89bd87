"""Calls that several callers share."""

import asyncio
import math
from collections.abc import Callable, Collection, Coroutine
from functools import partial
from typing import Any, Generic, TypeVar

from croupier.runtime.server.tasks import end_tasks

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

    async def close(self) -> None:
        """Cancel the calls that run now, which may have no caller any more."""
        await end_tasks([flight.task for flight in self._running.values()])

    def _ended(self, key: str, call: asyncio.Task[Result]) -> None:
        self._running.pop(key, None)
        _retrieve(call)


class PacedFlight:
    """Runs one call at a time for all callers that came before it began, at most one in `pause_seconds`."""

    def __init__(self, pause_seconds: float) -> None:
        self._pause_seconds = pause_seconds
        self._lock = asyncio.Lock()
        self._began = -math.inf
        self._next: asyncio.Task[None] | None = None
        """The call that has not begun."""
        self._running: set[asyncio.Task[None]] = set()

    async def run(self, call: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Return after a call that began after this one; raises what that raises.

        A caller that is cancelled does not end the call.
        """
        if self._next is None:
            self._next = asyncio.ensure_future(self._run(call))
            self._running.add(self._next)
            self._next.add_done_callback(self._ended)
        await asyncio.shield(self._next)

    async def close(self) -> None:
        """Cancel the calls that run now, which may have no caller any more."""
        await end_tasks(self._running)

    def _ended(self, call: asyncio.Task[None]) -> None:
        self._running.discard(call)
        _retrieve(call)

    async def _run(self, call: Callable[[], Coroutine[Any, Any, None]]) -> None:
        loop = asyncio.get_running_loop()
        async with self._lock:
            await asyncio.sleep(self._began + self._pause_seconds - loop.time())
            self._next, self._began = None, loop.time()
            await call()


def _retrieve(call: asyncio.Task[Any]) -> None:
    if not call.cancelled():
        # So that a failure without a remaining caller is not logged.
        call.exception()
