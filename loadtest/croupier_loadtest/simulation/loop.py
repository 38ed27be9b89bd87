"""An event loop with virtual time, which stands still while callbacks are ready and jumps to the next timer otherwise.

It does not wait and has no external events, so the order of callbacks is determined. Every callback belongs to a
simulated process, by its context. A killed process is frozen: its callbacks are kept aside, as after a power failure,
and none of its clean-up runs.
"""

import asyncio
import heapq
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar
from typing import Any, TypeVar

START_MILLISECONDS = 1_790_000_000_000
"""The simulated time at which every run begins, in milliseconds since 1970 UTC."""
Result = TypeVar("Result")


class Process:
    """A simulated process, which runs `kill_callbacks` when it is killed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.alive = True
        self.kill_callbacks: list[Callable[[], None]] = []
        self.tasks: dict[asyncio.Task[Any], None] = {}
        self._context = Context()
        self._context.run(PROCESS.set, self)
        self.frozen: list[asyncio.Handle] = []
        """The callbacks that were kept aside since the process was killed."""

    def start(self, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        """Run a coroutine in this process, in a context of its own."""
        loop = asyncio.get_running_loop()
        if isinstance(loop, VirtualLoop):
            loop.processes[self] = None
        return loop.create_task(work, context=self._context.copy())

    def later(self, seconds: float, action: Callable[..., object], *arguments: Any) -> asyncio.TimerHandle:
        """Schedule a callback in this process."""
        loop = asyncio.get_running_loop()
        return loop.call_later(seconds, action, *arguments, context=self._context)

    def kill(self) -> None:
        """Stop at once, without clean-up."""
        self.alive = False
        for callback in self.kill_callbacks:
            callback()


PROCESS: ContextVar[Process] = ContextVar("simulated process")


class Deadlock(Exception):
    """Nothing is scheduled, and the run has not ended."""


class VirtualLoop(asyncio.BaseEventLoop):
    """The loop; `time()` is virtual seconds from 0."""

    _ready: "deque[asyncio.Handle]"
    _scheduled: list[asyncio.TimerHandle]

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        self.processes: dict[Process, None] = {}
        """All processes of the run."""
        self.set_task_factory(_task_of_process)  # type: ignore[arg-type]

    def time(self) -> float:
        """Return virtual seconds since the run began."""
        return self._now

    def now_milliseconds(self) -> int:
        """Return the true simulated time, in milliseconds since 1970 UTC."""
        return START_MILLISECONDS + int(self._now * 1000 + 1e-6)

    def _run_once(self) -> None:
        self._take_due()
        for _ in range(len(self._ready)):
            handle = self._ready.popleft()
            if handle._cancelled:
                continue
            process = handle._context.get(PROCESS)  # type: ignore[attr-defined]
            if process is not None and not process.alive:
                process.frozen.append(handle)
                continue
            handle._run()
            if self._stopping:  # type: ignore[attr-defined]
                break

    def _take_due(self) -> None:
        scheduled = self._scheduled
        while scheduled and scheduled[0]._cancelled:
            heapq.heappop(scheduled)._scheduled = False  # type: ignore[attr-defined]
        if not self._ready and not self._stopping:  # type: ignore[attr-defined]
            if not scheduled:
                raise Deadlock("nothing is left to run")
            self._now = max(self._now, scheduled[0].when())
        while scheduled and scheduled[0].when() <= self._now:
            handle = heapq.heappop(scheduled)
            handle._scheduled = False  # type: ignore[attr-defined]
            self._ready.append(handle)

    def thaw(self) -> None:
        """Queue the callbacks of killed processes, to run them after the simulation."""
        for process in self.processes:
            process.alive = True
            self._ready.extend(process.frozen)
            process.frozen.clear()

    def _process_events(self, _events: Any) -> None:
        """Do nothing: there are no external events."""

    def _write_to_self(self) -> None:
        """Do nothing: there is no other thread to wake."""

    def run_in_executor(self, *_: Any) -> Any:  # type: ignore[override]
        """Raise RuntimeError: with threads the order would not be determined."""
        raise RuntimeError("the simulation has one thread")


def _task_of_process(
    loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any], **options: Any
) -> asyncio.Task[Any]:
    task = asyncio.Task(work, loop=loop, **options)
    context = options.get("context")
    process = context.get(PROCESS) if context is not None else PROCESS.get(None)
    if process is not None:
        process.tasks[task] = None
        task.add_done_callback(process.tasks.pop)
    return task
