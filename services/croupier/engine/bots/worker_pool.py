"""Decisions that take too long for the event loop: the port, and the pool of worker processes."""

import asyncio
import time
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import partial
from multiprocessing import get_context
from typing import Protocol

from croupier.engine.bots.worker import BotRequest, Decide, Failed, answer, decide, start
from croupier.engine.metrics import EngineMetrics
from croupier.games.actions import Action
from croupier.runtime.logs import Logger

MAX_WAITING = 32
"""The maximum of requests that wait for a process: with more of them all decisions would be late."""
TIME_LIMIT_FACTOR = 5
"""A decision may take this many times the thinking time of its player, from its request on."""


class BotWorkers(Protocol):
    """The port: decides for searching computer players."""

    async def decide(self, bot_request: BotRequest) -> Action | None:
        """Return the action of the player; None if the caller has to use a fallback, for any reason."""

    async def close(self) -> None:
        """End all decisions; waiting requests get None."""


class NoDecision(Exception):
    """A request without decision; `reason` is a label of the metrics."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class BotWorkerPool:
    """Decides in a number of processes, which start when they are first needed and are replaced when they die."""

    def __init__(self, processes: int, metrics: EngineMetrics, logger: Logger, decide: Decide = decide) -> None:
        self._metrics = metrics
        self._logger = logger
        self._workers = [_Worker(decide) for _ in range(processes)]
        # Last in, first out, so that no more processes start than are needed.
        self._idle: asyncio.LifoQueue[_Worker] = asyncio.LifoQueue()
        for worker in self._workers:
            self._idle.put_nowait(worker)
        self._waiting = 0
        self._is_closed = False

    async def decide(self, bot_request: BotRequest) -> Action | None:
        """Return the action of the player; None without a process, with too many requests, after a time-out or failure.

        A decision without alternative takes as long as others: otherwise its time would reveal something of the hand.
        """
        started = time.perf_counter()
        try:
            action = await self._action(bot_request)
        except NoDecision as missing:
            self._metrics.thinking_fallbacks.labels(missing.reason).inc()
            return None
        self._metrics.thinking_seconds.observe(time.perf_counter() - started)
        return action

    async def _action(self, bot_request: BotRequest) -> Action:
        if self._is_closed or not self._workers:
            raise NoDecision("off")
        if bot_request.is_forced:
            await asyncio.sleep(bot_request.milliseconds / 1000)
            return bot_request.observation.legal.actions[0]
        if self._waiting >= MAX_WAITING:
            raise NoDecision("busy")
        try:
            outcome = await self._outcome(bot_request)
        except TimeoutError:
            raise NoDecision("late") from None
        except (OSError, BrokenProcessPool) as error:
            self._logger.warning("a bot worker has died", error=type(error).__name__)
            raise NoDecision("died") from None
        if isinstance(outcome, Failed):
            self._logger.error(
                "a computer player failed", game=bot_request.game, bot=bot_request.bot, error=outcome.kind
            )
            raise NoDecision("failed")
        return outcome

    async def _outcome(self, bot_request: BotRequest) -> Action | Failed:
        max_seconds = TIME_LIMIT_FACTOR * bot_request.milliseconds / 1000
        async with asyncio.timeout(max_seconds):
            worker = await self._idle_worker()
            decision = asyncio.create_task(self._decision(worker, bot_request, max_seconds))
            decision.add_done_callback(partial(self._release, worker))
            # Shielded: a worker that is late gets no other request before it has answered or died.
            return await asyncio.shield(decision)

    async def _idle_worker(self) -> "_Worker":
        self._waiting += 1
        try:
            return await self._idle.get()
        finally:
            self._waiting -= 1

    async def _decision(self, worker: "_Worker", bot_request: BotRequest, max_seconds: float) -> Action | Failed:
        if self._is_closed:
            raise NoDecision("off")
        return await asyncio.wrap_future(worker.submit(bot_request, max_seconds))

    def _release(self, worker: "_Worker", decision: asyncio.Task[Action | Failed]) -> None:
        self._idle.put_nowait(worker)
        if not decision.cancelled():
            # Retrieved, so that a failure after the time-out is not logged.
            decision.exception()

    async def close(self) -> None:
        """End all processes, each after its current decision; waiting requests get None."""
        self._is_closed = True
        await asyncio.gather(*(asyncio.to_thread(worker.close) for worker in self._workers))


class _Worker:
    """One process, in its own pool: a pool breaks as a whole when one of its processes dies."""

    def __init__(self, decide: Decide) -> None:
        self._decide = decide
        self._pool: ProcessPoolExecutor | None = None

    def submit(self, bot_request: BotRequest, max_seconds: float) -> Future[Action | Failed]:
        """Let the process decide, and start it if need be; raises OSError or BrokenProcessPool if that fails."""
        if self._pool is not None:
            # It may have died since the last request.
            with suppress(BrokenProcessPool):
                return self._pool.submit(answer, self._decide, bot_request, max_seconds)
        # Spawned, since a fork of a process with gRPC may not work.
        self._pool = ProcessPoolExecutor(1, get_context("spawn"), start)
        return self._pool.submit(answer, self._decide, bot_request, max_seconds)

    def close(self) -> None:
        """Wait for the end of the process, if one runs."""
        if self._pool is not None:
            self._pool.shutdown()
