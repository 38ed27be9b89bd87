"""Tasks that nobody waits for."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any

from croupier.runtime.logs import Logger

END_SECONDS = 2.0
"""What a cancelled task gets to give back what it holds, such as a connection in the middle of a statement."""


async def end_tasks(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Cancel tasks, and wait until they have given back what they hold, but not for ever."""
    ending = list(tasks)
    for task in ending:
        task.cancel()
    if ending:
        await asyncio.wait(ending, timeout=END_SECONDS)


class Background:
    """Keeps tasks until they are done and logs what they raise; after close() nothing new starts."""

    def __init__(self, logger: Logger) -> None:
        # In the order in which they began, so that what happens does not depend on where they lie in memory.
        self._tasks: dict[asyncio.Task[None], None] = {}
        self._logger = logger
        self._closed = False

    @property
    def pending(self) -> int:
        """How many tasks run."""
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine by itself."""
        if self._closed:
            work.close()
            return
        task = asyncio.get_running_loop().create_task(work)
        self._tasks[task] = None
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.pop(task, None)
        if not task.cancelled() and (error := task.exception()):
            self._logger.error("background task failed", exc_info=error)

    async def close(self, grace_seconds: float) -> None:
        """Start nothing more, wait for what runs, and cancel what then still does."""
        self._closed = True
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=grace_seconds)
            await end_tasks(task for task in self._tasks if not task.done())
