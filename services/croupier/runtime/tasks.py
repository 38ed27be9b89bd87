"""Tasks of a service: supervised until it stops, and ended in time."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

from croupier.runtime.logs import Logger
from croupier.runtime.program import SettingsError

END_SECONDS = 2.0
"""What a cancelled task gets to give back what it holds, such as a connection in the middle of a statement."""

Work: TypeAlias = Callable[[], Coroutine[Any, Any, None]]
"""Starts what runs in the background."""


async def end_tasks(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Cancel tasks, and wait until they have given back what they hold, but not for ever."""
    ending = list(tasks)
    for task in ending:
        task.cancel()
    if ending:
        await asyncio.wait(ending, timeout=END_SECONDS)


class SupervisedTasks:
    """Tasks of which none may fail, or end while the service runs: then the service stops."""

    def __init__(self, group: asyncio.TaskGroup, logger: Logger) -> None:
        self._group = group
        self._logger = logger
        self.stopping = asyncio.Event()
        """Set when the service has to drain."""
        self.fault: BaseException | None = None
        """What the first task raised that failed."""

    def start(self, works: Mapping[str, Work], *, may_end: bool = False) -> list[asyncio.Task[None]]:
        """Start work; the names are for logs."""
        return [self._group.create_task(self._supervise(name, work, may_end)) for name, work in works.items()]

    async def _supervise(self, name: str, work: Work, may_end: bool) -> None:
        try:
            await work()
            if not (may_end or self.stopping.is_set()):
                raise RuntimeError("it ended while the service runs")
        except (Exception, asyncio.CancelledError) as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                return
            # The program reports a fault of the settings at its end.
            if not isinstance(error, SettingsError):
                self._logger.error("background task failed", task=name, exc_info=error)
            self.fault = self.fault or error
            self.stopping.set()


@asynccontextmanager
async def supervised_tasks(logger: Logger) -> AsyncIterator[SupervisedTasks]:
    """Tasks that the body ends, and that are cancelled if it raises something, which is raised as it is."""
    try:
        async with asyncio.TaskGroup() as group:
            yield SupervisedTasks(group, logger)
    except BaseExceptionGroup as faults:
        raise faults.exceptions[0] from None
