"""Hands finished tables to the referee, who works in a process of his own, at the lowest priority."""

import asyncio
import os
import pickle
import zlib
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from random import Random

from loadtest.measures import SEEN_BY_ALL, Measures
from loadtest.record import TableRecord
from loadtest.referee.judge import Verdict, judge

MOST_WAITING = 500
"""Records that wait for the referee; beyond, players wait with their next table."""
LEAST_PRIORITY = 19


class Judging:
    """The way to the referee; `share` of the tables are gone through, chosen by chance, but the first in any case.

    A run of a few tables would tell nothing if chance left all of them out.
    """

    def __init__(self, measures: Measures, share: float, random: Random) -> None:
        self._measures = measures
        self._share = share
        self._random = random
        self._pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_give_way)
        self._room = asyncio.Semaphore(MOST_WAITING)
        self._tasks: set[asyncio.Task[None]] = set()
        self._has_begun = False

    @property
    def waiting(self) -> int:
        """Tables that have not been judged yet."""
        return len(self._tasks)

    async def hand_over(self, record: TableRecord) -> None:
        """Let a table be judged, as soon as there is room; returns before it is."""
        if not self._share or (self._has_begun and self._random.random() >= self._share):
            return
        self._has_begun = True
        await self._room.acquire()
        # Records wait for long under load: a tenth of the size, for a fraction of the time that judging takes.
        packed = await asyncio.to_thread(_packed, record)
        task = asyncio.create_task(self._judged(packed, record.replays[0] if record.replays else ""))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _judged(self, packed: bytes, replay: str) -> None:
        try:
            verdict = await asyncio.get_running_loop().run_in_executor(self._pool, _verdict, packed)
        finally:
            self._room.release()
        self._take(verdict, replay)

    def _take(self, verdict: Verdict, replay: str) -> None:
        self._measures.count("tables judged")
        self._measures.count("tables proved", int(verdict.is_proved))
        for name, times in verdict.checks_made.items():
            self._measures.count(f"checked {name}", times)
        for milliseconds in verdict.seen_by_all_milliseconds:
            self._measures.took(SEEN_BY_ALL, milliseconds / 1000)
        self._measures.broken(verdict.violations, replay)

    async def finish(self, seconds: float) -> None:
        """Wait until all tables are judged, not for longer; raises what went wrong in the referee himself."""
        while self._tasks:
            done, _ = await asyncio.wait(set(self._tasks), timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
            if not done:
                self._measures.failed("judging", f"{len(self._tasks)} tables were not judged within {seconds:g} s")
                break

    def close(self) -> None:
        """End the referee's process."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _give_way() -> None:
    os.nice(LEAST_PRIORITY)


def _packed(record: TableRecord) -> bytes:
    return zlib.compress(pickle.dumps(record), 1)


def _verdict(packed: bytes) -> Verdict:
    record: TableRecord = pickle.loads(zlib.decompress(packed))  # noqa: S301 - written by this program itself
    return judge(record)
