"""Tasks that nobody waits for."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from croupier.runtime.logs import Logger


class Background:
    """Keeps tasks until they are done and logs what they raise; after close() nothing new starts."""

    def __init__(self, logger: Logger) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._logger = logger
        self._closed = False

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine by itself."""
        if self._closed:
            work.close()
            return
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            self._logger.error("background task failed", exc_info=error)

    async def close(self, grace_seconds: float) -> None:
        """Start nothing more, wait for what runs, and cancel what then still does."""
        self._closed = True
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=grace_seconds)
            for task in late:
                task.cancel()
