"""Background tasks of a service, supervised until it stops, and ended in time."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

from croupier.runtime.observation.logs import Logger, failures_logged
from croupier.runtime.server.program import SettingsError

END_SECONDS = 2.0
"""The time of a cancelled task to release its resources, such as a connection within a statement."""

TaskFactory: TypeAlias = Callable[[], Coroutine[Any, Any, None]]
"""Returns the coroutine of a background task."""


async def repeat(step: TaskFactory, pause_seconds: float, logger: Logger, failure: str, **fields: str) -> None:
    """Run a step again and again, also after one that failed, with a pause between; runs until cancelled."""
    while True:
        with failures_logged(logger, failure, **fields):
            await step()
        await asyncio.sleep(pause_seconds)


async def end_tasks(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel tasks, and wait for END_SECONDS at most until they have released their resources."""
    ending = list(tasks)
    for task in ending:
        task.cancel()
    if ending:
        await asyncio.wait(ending, timeout=END_SECONDS)


class SupervisedTasks:
    """Tasks of a service, which stops when one fails, or ends too early."""

    def __init__(self, group: asyncio.TaskGroup, logger: Logger) -> None:
        self._group = group
        self._logger = logger
        self.stopping = asyncio.Event()
        """Set when the service has to drain."""
        self.fault: BaseException | None = None
        """The exception of the first task that failed."""

    def start(self, factories: Mapping[str, TaskFactory], *, may_end: bool = False) -> list[asyncio.Task[None]]:
        """Start tasks by their names in logs; with `may_end` they may end while the service runs."""
        return [self._group.create_task(self._supervise(name, factory, may_end)) for name, factory in factories.items()]

    async def _supervise(self, name: str, factory: TaskFactory, may_end: bool) -> None:
        try:
            await factory()
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
    """Supervise tasks, which the body ends; they are cancelled if it raises an exception, which is raised again."""
    try:
        async with asyncio.TaskGroup() as group:
            yield SupervisedTasks(group, logger)
    except BaseExceptionGroup as faults:
        raise faults.exceptions[0] from None
