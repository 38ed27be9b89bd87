"""The blocking client used like the other one, so that both take the same tests."""

import asyncio
from functools import partial
from typing import Any, Self

_END = object()


class InThreads:
    """A blocking client, one of its tables, or an iterator: whatever blocks does so in a thread, and is awaited."""

    def __init__(self, blocking: Any) -> None:
        self._blocking = blocking

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._blocking, name)
        if name in ("play", "watch", "quick_match"):
            return lambda *arguments, **named: InThreads(found(*arguments, **named))
        return partial(asyncio.to_thread, found) if callable(found) else found

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self._blocking.__enter__)
        return self

    async def __aexit__(self, *error: object) -> None:
        await asyncio.to_thread(self._blocking.__exit__, *error)

    def __aiter__(self) -> "InThreads":
        return InThreads(iter(self._blocking))

    async def __anext__(self) -> Any:
        item = await asyncio.to_thread(next, self._blocking, _END)
        if item is _END:
            raise StopAsyncIteration
        return item
