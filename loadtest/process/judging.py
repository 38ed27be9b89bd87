"""Hands records of tables to the judge, which works in a process of its own, at a low priority."""

import asyncio
import os
import pickle
import zlib
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from random import Random
from typing import NamedTuple

from loadtest.account import account_of
from loadtest.judge.verdict import Verdict, judge
from loadtest.measures import LONGEST_REPLAY_CHARACTERS, SEEN_BY_ALL, Measures
from loadtest.orphans import end_with_parent
from loadtest.process.standings import judged_table
from loadtest.record import TableRecord

MAX_WAITING = 500
"""Records that wait for the judge; beyond, players wait with their next table."""
LEAST_PRIORITY = 19


class Judging:
    """The way to the judge, for a `share` of the tables: drawn at random, but the first in any case.

    A run of a few tables would say nothing if chance left all of them out. `complete` adds to a record what a run knows
    beside it, such as rows of databases, in the judge's process.
    """

    def __init__(
        self,
        measures: Measures,
        share: float,
        random: Random,
        complete: Callable[[TableRecord], None] | None = None,
        niceness: int = LEAST_PRIORITY,
    ) -> None:
        self._measures = measures
        self._share = share
        self._random = random
        self._complete = complete
        self._has_begun = False
        self._pool = ProcessPoolExecutor(
            1, mp_context=get_context("spawn"), initializer=_give_way, initargs=(niceness,)
        )
        self._room = asyncio.Semaphore(MAX_WAITING)
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def waiting(self) -> int:
        """Tables that have not been judged yet."""
        return len(self._tasks)

    async def take(self, record: TableRecord) -> None:
        """Let a table be judged, as soon as there is room; returns before it is."""
        if not self._is_chosen():
            return
        await self._room.acquire()
        body = await asyncio.to_thread(_packed, record)
        task = asyncio.create_task(self._judged(body))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _is_chosen(self) -> bool:
        if not self._share or (self._has_begun and self._random.random() >= self._share):
            return False
        self._has_begun = True
        return True

    async def _judged(self, body: bytes) -> None:
        try:
            judged = await asyncio.get_running_loop().run_in_executor(self._pool, verdict_on, body, self._complete)
        except Exception as error:  # noqa: BLE001 - a judge that fails makes the run red, and the next table is judged
            self._measures.failed(f"load test: the judge raised {type(error).__name__}", str(error))
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
        """End the judge's process, once it is through with the table that it is at."""
        self._pool.shutdown(cancel_futures=True)


class Judged(NamedTuple):
    """A verdict, what is kept of the table if something broke there, and what all tables together are judged by."""

    verdict: Verdict
    kept: str
    """The replay, or else everything that was recorded."""
    table: dict[str, object]
    """What `standings` compares."""


def verdict_on(body: bytes, complete: Callable[[TableRecord], None] | None = None) -> Judged:
    """The judge's verdict on a packed record."""
    record: TableRecord = pickle.loads(zlib.decompress(body))  # noqa: S301 - written by this program itself
    if complete is not None:
        complete(record)
    verdict = judge(record)
    return Judged(verdict, _kept_of(record) if verdict.violations else "", judged_table(record, verdict))


def take_verdict(measures: Measures, judged: Judged) -> None:
    """Measure what the judge said of a table."""
    verdict = judged.verdict
    measures.count("tables judged")
    measures.count("tables proved", int(verdict.is_proved))
    for name, times in verdict.checks_made.items():
        measures.count(f"checked {name}", times)
    for milliseconds in verdict.seen_by_all_milliseconds:
        measures.took(SEEN_BY_ALL, milliseconds / 1000)
    measures.broken(verdict.violations, judged.kept)
    measures.judged.append(judged.table)


def _packed(record: TableRecord) -> bytes:
    # A tenth of the size, for a fraction of the time that judging takes.
    return zlib.compress(pickle.dumps(record), 1)


def _kept_of(record: TableRecord) -> str:
    return record.replays[0] if record.replays else account_of(record)[:LONGEST_REPLAY_CHARACTERS]


def _give_way(niceness: int) -> None:
    """Let others go first, and end with the parent."""
    os.nice(niceness)
    end_with_parent()
