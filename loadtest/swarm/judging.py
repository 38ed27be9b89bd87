"""Hands finished tables to the referee, who works in a process of his own, at the lowest priority."""

import asyncio
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from random import Random

from loadtest.measures import Measures
from loadtest.record import TableRecord
from loadtest.verdicts import MOST_WAITING, Sample, give_way, packed, take_verdict, verdict_on


class Judging:
    """The way to the referee, for a `share` of the tables."""

    def __init__(self, measures: Measures, share: float, random: Random) -> None:
        self._measures = measures
        self._sample = Sample(share, random)
        self._pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=give_way)
        self._room = asyncio.Semaphore(MOST_WAITING)
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def waiting(self) -> int:
        """Tables that have not been judged yet."""
        return len(self._tasks)

    async def hand_over(self, record: TableRecord) -> None:
        """Let a table be judged, as soon as there is room; returns before it is."""
        if not self._sample.takes_next():
            return
        await self._room.acquire()
        body = await asyncio.to_thread(packed, record)
        task = asyncio.create_task(self._judged(body))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _judged(self, body: bytes) -> None:
        try:
            judged = await asyncio.get_running_loop().run_in_executor(self._pool, verdict_on, body)
        except Exception as error:  # noqa: BLE001 - a referee who fails makes the run red, and goes on with the next table
            self._measures.failed(f"load test: the referee raised {type(error).__name__}", str(error))
            return
        finally:
            self._room.release()
        take_verdict(self._measures, judged)

    async def finish(self, seconds: float) -> None:
        """Wait until all tables are judged, not for longer."""
        if not self._tasks:
            return
        _, left = await asyncio.wait(set(self._tasks), timeout=seconds)
        if left:
            self._measures.failed("judging", f"{len(left)} tables were not judged within {seconds:g} s")

    def close(self) -> None:
        """End the referee's process, once it is through with the table that it is at."""
        self._pool.shutdown(cancel_futures=True)
