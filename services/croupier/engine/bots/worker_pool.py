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
from croupier.runtime.fair_queue import FairQueue
from croupier.runtime.observation.logs import Logger

MAX_WAITING = 128
"""The maximum of requests that wait for a process."""
MAX_WAITING_OF_TABLE = 4
"""That of one table: with more of them its decisions would be late."""
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
        self._idle = [*self._workers]
        self._waiting: FairQueue[asyncio.Future[_Worker]] = FairQueue()
        self._is_closed = False

    async def decide(self, bot_request: BotRequest) -> Action | None:
        """Return the action of the player; None without a process, with too many requests, after a time-out or failure.

        Requests wait by table, so that a table with many of them delays others by one decision. Those without
        alternative wait too: otherwise their time would reveal something of the hand.
        """
        started = time.perf_counter()
        try:
            action = await self._action(bot_request)
        except NoDecision as missing:
            reason = missing.reason
        except TimeoutError:
            reason = "late"
        except (OSError, BrokenProcessPool) as error:
            self._logger.warning("a bot worker has died", error=type(error).__name__)
            reason = "died"
        else:
            self._metrics.thinking_seconds.observe(time.perf_counter() - started)
            return action
        self._metrics.thinking_fallbacks.labels(reason).inc()
        return None

    async def _action(self, bot_request: BotRequest) -> Action:
        if self._is_closed or not self._workers:
            raise NoDecision("off")
        max_seconds = TIME_LIMIT_FACTOR * bot_request.milliseconds / 1000
        async with asyncio.timeout(max_seconds):
            worker = await self._idle_worker(bot_request.table_id)
            decision = asyncio.create_task(self._decision(worker, bot_request, max_seconds))
            decision.add_done_callback(partial(self._release, worker))
            # Shielded: a worker that is late gets no other request before it has answered or died.
            outcome = await asyncio.shield(decision)
        if isinstance(outcome, Failed):
            self._logger.error(
                "a computer player failed", game=bot_request.game, bot=bot_request.bot, error=outcome.kind
            )
            raise NoDecision("failed")
        return outcome

    async def _idle_worker(self, table_id: str) -> "_Worker":
        """Return a worker when it is the table's turn; raises NoDecision if too many requests wait."""
        if self._idle:
            return self._idle.pop()
        if len(self._waiting) >= MAX_WAITING or self._waiting.count(table_id) >= MAX_WAITING_OF_TABLE:
            raise NoDecision("busy")
        turn: asyncio.Future[_Worker] = asyncio.get_running_loop().create_future()
        self._waiting.put(table_id, turn)
        try:
            return await turn
        except asyncio.CancelledError:
            self._waiting.discard(table_id, turn)
            if not turn.cancelled():
                # The time was up at the moment of the turn.
                self._pass_on(turn.result())
            raise

    async def _decision(self, worker: "_Worker", bot_request: BotRequest, max_seconds: float) -> Action | Failed:
        if self._is_closed:
            raise NoDecision("off")
        return await asyncio.wrap_future(worker.submit(bot_request, max_seconds))

    def _pass_on(self, worker: "_Worker") -> None:
        """Assign the worker to the next waiting request; it is idle if there is none."""
        while self._waiting:
            turn = self._waiting.take()
            if not turn.cancelled():
                turn.set_result(worker)
                return
        self._idle.append(worker)

    def _release(self, worker: "_Worker", decision: asyncio.Task[Action | Failed]) -> None:
        self._pass_on(worker)
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
