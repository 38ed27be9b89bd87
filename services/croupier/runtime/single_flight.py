"""Calls that several callers share."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


class SingleFlight(Generic[Result]):
    """Runs one call of a key at a time, whose result all callers get that came meanwhile."""

    def __init__(self) -> None:
        self._running: dict[str, asyncio.Task[Result]] = {}

    @property
    def running(self) -> Mapping[str, asyncio.Task[Result]]:
        """The running calls by their keys."""
        return self._running

    async def run(self, key: str, call: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """Return the result of the running call of a key, or else of this one; raises what that raises.

        A caller that is cancelled does not end the call.
        """
        running = self._running.get(key)
        if running is None:
            running = self._running[key] = asyncio.ensure_future(call())
            running.add_done_callback(partial(self._ended, key))
        return await asyncio.shield(running)

    def _ended(self, key: str, call: asyncio.Task[Result]) -> None:
        self._running.pop(key, None)
        if not call.cancelled():
            # Retrieved, so that a failure without a remaining caller is not logged.
            call.exception()
