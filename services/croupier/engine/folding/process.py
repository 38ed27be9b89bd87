"""Folds in processes beside the engine."""

import asyncio
import math
import pickle
from collections.abc import AsyncIterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

from croupier.engine.core.log_codec import LogPart
from croupier.engine.folding.inline import MAX_INLINE_ROWS, add_inline
from croupier.engine.folding.port import FoldInSteps, LogFold, Result
from croupier.engine.folding.worker import fold_step, is_ready, start
from croupier.runtime.logs import Logger

MAX_INLINE_BYTES = 32 * 1024
"""A larger archived log, of about 2,000 entries, waits for a process that is being started."""
START_SECONDS = 60.0
STEP_SECONDS = 5.0
"""A process that takes longer for a step, with those before it, is replaced."""
RESTART_SECONDS = 5.0
"""The time from one start of the processes to the next at least."""


class StepFailed(Exception):
    """A step of a fold that has to be repeated on the event loop."""


class ProcessFolder:
    """Folds in processes, which start when they are first needed.

    Short logs, steps that fail there, and everything while no process runs are folded on the event loop.
    """

    def __init__(self, processes: int, logger: Logger) -> None:
        self._processes = processes
        self._logger = logger
        self._pool: ProcessPoolExecutor | None = None
        self._starting: asyncio.Task[None] | None = None
        self._not_before = -math.inf

    @property
    def is_running(self) -> bool:
        """Whether the processes have started."""
        return self._pool is not None

    async def fold(self, fold: LogFold[Result], parts: AsyncIterator[LogPart]) -> Result:
        """Return the result of a fold over the parts of a log; raises what `parts` and the fold raise."""
        steps: FoldInSteps[Result] | None = FoldInSteps(fold)
        carried = b""
        async for part, is_last in _with_end(parts):
            if steps is not None and await self._takes(part):
                carried, steps = pickle.dumps(steps), None
            if steps is None:
                try:
                    carried = await self._added(carried, part, is_last)
                    continue
                except StepFailed:
                    steps = pickle.loads(carried)  # noqa: S301 - from our own process
            await add_inline(steps, part)
        if steps is not None:
            return steps.result()
        result: Result = pickle.loads(carried)  # noqa: S301 - from our own process
        return result

    async def _takes(self, part: LogPart) -> bool:
        """Return whether a process is to add a part; start the processes if they do not run."""
        if not part.packed and len(part.rows) <= MAX_INLINE_ROWS:
            return False
        now = asyncio.get_running_loop().time()
        if self._pool is None and self._starting is None and now >= self._not_before:
            self._not_before = now + RESTART_SECONDS
            self._starting = asyncio.create_task(self._start())
        if self._starting is not None and sum(map(len, part.packed)) > MAX_INLINE_BYTES:
            # To unpack it here would be one long step.
            await asyncio.shield(self._starting)
        return self.is_running

    async def _added(self, carried: bytes, part: LogPart, is_last: bool) -> bytes:
        """Add a part to a pickled fold; return the fold, or after the last part its result. Raises StepFailed."""
        is_waiting = True
        while is_waiting:
            carried, is_waiting = await self._step(carried, part, is_last)
            part = LogPart()
        return carried

    async def _step(self, carried: bytes, part: LogPart, is_last: bool) -> tuple[bytes, bool]:
        pool = self._pool
        if pool is None:
            raise StepFailed
        try:
            async with asyncio.timeout(STEP_SECONDS):
                done = await asyncio.wrap_future(pool.submit(fold_step, carried, part, is_last))
        except (OSError, BrokenProcessPool, RuntimeError, TimeoutError) as error:
            self._died(pool, error)
            raise StepFailed from None
        if done is None:
            raise StepFailed
        return done

    async def _start(self) -> None:
        try:
            self._pool = await asyncio.to_thread(_started, self._processes)
        except Exception as error:
            self._logger.error("the folding process cannot be started", exc_info=error)
        finally:
            self._starting = None

    def _died(self, pool: ProcessPoolExecutor, error: Exception) -> None:
        if self._pool is pool:
            self._pool = None
            self._logger.warning("the folding process has died, or does not answer", error=type(error).__name__)
            pool.shutdown(wait=False)

    async def close(self) -> None:
        """End the processes after their current steps; folds in progress continue on the event loop."""
        self._not_before = math.inf
        if self._starting is not None:
            await self._starting
        if (pool := self._pool) is not None:
            self._pool = None
            await asyncio.to_thread(pool.shutdown)


def _started(processes: int) -> ProcessPoolExecutor:
    # Spawned, since a fork of a process with gRPC may not work.
    pool = ProcessPoolExecutor(processes, get_context("spawn"), start)
    try:
        for ready in [pool.submit(is_ready) for _ in range(processes)]:
            ready.result(START_SECONDS)
    except BaseException:
        pool.shutdown(wait=False)
        raise
    return pool


async def _with_end(parts: AsyncIterator[LogPart]) -> AsyncIterator[tuple[LogPart, bool]]:
    """Yield each part, and whether it is the last; an empty one if there is none."""
    previous: LogPart | None = None
    async for part in parts:
        if previous is not None:
            yield previous, False
        previous = part
    yield previous or LogPart(), True
