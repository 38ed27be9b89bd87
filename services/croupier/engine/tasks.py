"""Background tasks: work without a caller that awaits it."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from croupier.engine.core.guarded_rules import RulesUnusable
from croupier.runtime.errors import Unavailable
from croupier.runtime.observation.logs import Logger
from croupier.runtime.observation.tracing import context_without_span
from croupier.runtime.server.tasks import end_tasks


class Background:
    """Runs tasks to their end and logs their errors, unless that was done; after close() it starts no more."""

    def __init__(self, logger: Logger) -> None:
        # A dict keeps the order in which they started, so that runs of the simulation are reproducible.
        self._tasks: dict[asyncio.Task[None], None] = {}
        self._logger = logger
        self._closed = False

    @property
    def pending(self) -> int:
        """The number of running tasks."""
        return len(self._tasks)

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine as a task, outside of the trace of the call that starts it."""
        if self._closed:
            work.close()
            return
        task = asyncio.get_running_loop().create_task(work, context=context_without_span())
        self._tasks[task] = None
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.pop(task, None)
        # An outage is logged once, where the database or the other service was called, and so are failures of rules.
        is_logged = Unavailable, RulesUnusable
        if not task.cancelled() and (error := task.exception()) and not isinstance(error, is_logged):
            self._logger.error("background task failed", exc_info=error)

    async def close(self, grace_seconds: float) -> None:
        """Start no more tasks, wait for the running ones, and cancel them after the grace period."""
        self._closed = True
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=grace_seconds)
            await end_tasks(task for task in self._tasks if not task.done())
