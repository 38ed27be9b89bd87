"""Tasks that nobody waits for."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from croupier.runtime.logs import Logger
from croupier.runtime.tasks import end_tasks
from croupier.runtime.tracing import context_without_span


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
        """Run a coroutine by itself, as no part of the call that starts it."""
        if self._closed:
            work.close()
            return
        task = asyncio.get_running_loop().create_task(work, context=context_without_span())
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
