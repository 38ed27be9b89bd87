"""Computer players that think for longer than an event loop may wait: the port, and processes that do it."""

import asyncio
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Protocol

from croupier.engine.metrics import EngineMetrics
from croupier.engine.thinking import LENGTH, Failed, Thought, frame, unpacked
from croupier.games.actions import Action
from croupier.runtime.logs import Logger

MOST_WAITING = 32
"""More decisions do not wait for a process: where there is more to think about than can be, all would be late."""
PATIENCE_FACTOR = 5
"""A decision is waited for this many times as long as its player thinks, from when it was asked for."""
START_SECONDS = 30.0
COMMAND = (sys.executable, "-m", "croupier.engine.thinking")


class Thinkers(Protocol):
    """The port: who decides for computer players that think."""

    async def decide(self, thought: Thought) -> Action | None:
        """What the player does; None if it has to be decided without thinking, for whatever reason."""

    async def close(self) -> None:
        """Think no more; whoever waits gets None."""


class Unthought(Exception):
    """A thought came to nothing; `reason` is a word for the metrics."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ProcessThinkers:
    """Thinks in so many processes of its own, started when they are first needed, and again when they have died.

    A pool of the standard library is not enough: it breaks as a whole when one of its processes dies, and its processes
    outlive an engine that is killed.
    """

    def __init__(
        self, processes: int, metrics: EngineMetrics, logger: Logger, command: Sequence[str] = COMMAND
    ) -> None:
        self._metrics = metrics
        self._logger = logger
        self._workers = [_Worker(command) for _ in range(processes)]
        self._idle: asyncio.LifoQueue[_Worker] = asyncio.LifoQueue()
        for worker in self._workers:
            self._idle.put_nowait(worker)
        self._waiting = 0
        self._exchanges: set[asyncio.Task[Any]] = set()
        self._is_closed = False

    @property
    def pids(self) -> list[int]:
        """The processes that run."""
        return [worker.pid for worker in self._workers if worker.pid]

    async def decide(self, thought: Thought) -> Action | None:
        """What the player does; None with no process, too many that wait, too long a wait, or a thought that failed.

        What has no alternative takes as long as a thought: how soon it came would tell the others of the hand.
        """
        started = time.perf_counter()
        try:
            action = await self._action(thought)
        except Unthought as instead:
            self._metrics.thinking_fallbacks.labels(instead.reason).inc()
            return None
        self._metrics.thinking_seconds.observe(time.perf_counter() - started)
        return action

    async def _action(self, thought: Thought) -> Action:
        if self._is_closed or not self._workers:
            raise Unthought("off")
        if thought.is_forced:
            await asyncio.sleep(thought.milliseconds / 1000)
            return thought.seen.legal.actions[0]
        if self._waiting >= MOST_WAITING:
            raise Unthought("busy")
        try:
            outcome = await self._outcome(thought)
        except TimeoutError:
            raise Unthought("late") from None
        except (OSError, EOFError) as error:
            self._logger.warning("a thinking process is gone", error=type(error).__name__)
            raise Unthought("died") from None
        if isinstance(outcome, Failed):
            self._logger.error("a computer player failed", game=thought.game, bot=thought.bot, error=outcome.kind)
            raise Unthought("failed")
        return outcome

    async def _outcome(self, thought: Thought) -> Action | Failed:
        patience_seconds = PATIENCE_FACTOR * thought.milliseconds / 1000
        async with asyncio.timeout(patience_seconds):
            worker = await self._idle_worker()
            exchange = asyncio.create_task(worker.exchange(thought, patience_seconds))
            self._exchanges.add(exchange)
            exchange.add_done_callback(lambda _: self._finish(worker, exchange))
            # A process that is still starting is not disturbed, and gets no other thought before it has answered.
            return await asyncio.shield(exchange)

    async def _idle_worker(self) -> "_Worker":
        self._waiting += 1
        try:
            return await self._idle.get()
        finally:
            self._waiting -= 1

    def _finish(self, worker: "_Worker", exchange: asyncio.Task[Any]) -> None:
        self._exchanges.discard(exchange)
        self._idle.put_nowait(worker)
        if not exchange.cancelled():
            # Whoever waited for it may have gone before it failed: then nobody else asks why.
            exchange.exception()

    async def close(self) -> None:
        """Think no more, and end all processes; whoever waits gets None."""
        self._is_closed = True
        for worker in self._workers:
            worker.close()
        await asyncio.gather(*self._exchanges, return_exceptions=True)
        await asyncio.gather(*(worker.end() for worker in self._workers))


class _Worker:
    """One process, which is started when it is needed and is not there."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._process: asyncio.subprocess.Process | None = None
        self._is_closed = False

    @property
    def pid(self) -> int:
        """The process id, 0 if there is no process."""
        return self._process.pid if self._process and self._process.returncode is None else 0

    async def exchange(self, thought: Thought, most_seconds: float) -> Action | Failed:
        """Give the process a thought and take what comes of it; a process that does not answer in time is ended.

        Raises OSError or EOFError if the process is gone, TimeoutError.
        """
        try:
            if not self.pid:
                async with asyncio.timeout(START_SECONDS):
                    self._process = await self._started()
                    await self._answer()
            if self._is_closed:
                raise EOFError
            async with asyncio.timeout(most_seconds):
                await self._ask(thought)
                outcome: Action | Failed = await self._answer()
                return outcome
        except BaseException:
            # An answer that came later would be taken for that to the next thought.
            await self.end()
            raise

    async def _started(self) -> asyncio.subprocess.Process:
        pipe = asyncio.subprocess.PIPE
        return await asyncio.create_subprocess_exec(*self._command, stdin=pipe, stdout=pipe)

    async def _ask(self, thought: Thought) -> None:
        thoughts, _ = self._pipes()
        thoughts.write(frame(thought))
        await thoughts.drain()

    async def _answer(self) -> Any:
        _, outcomes = self._pipes()
        header = await outcomes.readexactly(LENGTH.size)
        return unpacked(await outcomes.readexactly(LENGTH.unpack(header)[0]))

    def _pipes(self) -> tuple[asyncio.StreamWriter, asyncio.StreamReader]:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise EOFError
        return process.stdin, process.stdout

    def close(self) -> None:
        """Kill the process, and whichever is being started; whoever waits for it hears that it is gone."""
        self._is_closed = True
        if self._process is not None:
            _kill(self._process)

    async def end(self) -> None:
        """Kill the process, if there is one, and wait for its end."""
        process, self._process = self._process, None
        if process is not None:
            _kill(process)
            await process.wait()


def _kill(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        process.kill()
