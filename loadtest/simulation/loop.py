"""An event loop whose clock stands still while there is something to do, and jumps to the next timer when there is not.

Nothing in it waits and nothing comes from outside, so the order of everything follows from what was scheduled. Every
callback belongs to a simulated process, by its context. A process that was killed is frozen: what it would have run is
put aside, as after a loss of power, and no clean-up of its own takes place.
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
    """What runs and dies together; `killed` holds what is called at its death."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.alive = True
        self.killed: list[Callable[[], None]] = []
        self.tasks: dict[asyncio.Task[Any], None] = {}
        self._context = Context()
        self._context.run(PROCESS.set, self)
        self._frozen: list[asyncio.Handle] = []

    def start(self, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        """Run a coroutine in this process, in a context of its own."""
        loop = asyncio.get_running_loop()
        if isinstance(loop, VirtualLoop):
            loop.processes[self] = None
        return loop.create_task(work, context=self._context.copy())

    def later(self, seconds: float, action: Callable[..., object], *arguments: Any) -> asyncio.TimerHandle:
        """Call something in this process after a while."""
        loop = asyncio.get_running_loop()
        return loop.call_later(seconds, action, *arguments, context=self._context)

    def freeze(self, handle: asyncio.Handle) -> None:
        """Put aside what this process would have run."""
        self._frozen.append(handle)

    def kill(self) -> None:
        """Stop at once, without any clean-up."""
        self.alive = False
        for react in self.killed:
            react()

    def thaw(self) -> list[asyncio.Handle]:
        """What was put aside, to be run after all, for the run is over."""
        self.alive = True
        frozen, self._frozen = self._frozen, []
        return frozen


PROCESS: ContextVar[Process] = ContextVar("simulated process")


class Stuck(Exception):
    """Nothing is scheduled any more and the run has not ended."""


class VirtualLoop(asyncio.BaseEventLoop):
    """The loop; `time()` is virtual seconds from 0."""

    _ready: "deque[asyncio.Handle]"
    _scheduled: list[asyncio.TimerHandle]

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        self.processes: dict[Process, None] = {}
        """Everything that ever ran here."""
        self.set_task_factory(_task_of_process)  # type: ignore[arg-type]

    def time(self) -> float:
        """Virtual seconds since the run began."""
        return self._now

    def now_milliseconds(self) -> int:
        """The true time of the simulated world, in milliseconds since 1970 UTC."""
        return START_MILLISECONDS + int(self._now * 1000 + 1e-6)

    def _run_once(self) -> None:
        self._take_due()
        for _ in range(len(self._ready)):
            handle = self._ready.popleft()
            if handle._cancelled:
                continue
            process = handle._context.get(PROCESS)  # type: ignore[attr-defined]
            if process is not None and not process.alive:
                process.freeze(handle)
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
                raise Stuck("nothing is left to run")
            self._now = max(self._now, scheduled[0].when())
        while scheduled and scheduled[0].when() <= self._now:
            handle = heapq.heappop(scheduled)
            handle._scheduled = False  # type: ignore[attr-defined]
            self._ready.append(handle)

    def run_again(self, handles: list[asyncio.Handle]) -> None:
        """Queue what was put aside."""
        self._ready.extend(handles)

    def _process_events(self, _events: Any) -> None:
        """Nothing comes from outside."""

    def _write_to_self(self) -> None:
        """There is no other thread that would have to be woken."""

    def run_in_executor(self, *_: Any) -> Any:  # type: ignore[override]
        """Raises RuntimeError: threads would take the order of things out of the seed's hands."""
        raise RuntimeError("nothing may leave the simulation's one thread")


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
