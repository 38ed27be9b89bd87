"""Hands finished tables to the referee, from greenlets."""

import pickle
import sys
from pathlib import Path
from random import Random

import gevent
from gevent.queue import JoinableQueue
from gevent.subprocess import PIPE, Popen

from loadtest.conductor.plain.bench import read_frame, write_frame
from loadtest.measures import Measures
from loadtest.record import TableRecord
from loadtest.verdicts import MOST_WAITING, Judged, Sample, packed, take_verdict

COMMAND = (sys.executable, "-m", "loadtest.conductor.plain.bench")
ROOT = Path(__file__).parents[3]


class PlainJudging:
    """The way to the referee, who works in a process of his own, for a `share` of the tables."""

    def __init__(self, measures: Measures, share: float, random: Random) -> None:
        self._measures = measures
        self._sample = Sample(share, random)
        self._waiting: JoinableQueue[bytes] = JoinableQueue(MOST_WAITING)
        # A process group of its own: Ctrl-C is for the conductor, who lets games end first.
        self._process = Popen(COMMAND, stdin=PIPE, stdout=PIPE, cwd=ROOT, start_new_session=True)
        self._asking = gevent.spawn(self._ask)

    @property
    def waiting(self) -> int:
        """Tables that have not been judged yet."""
        return int(self._waiting.unfinished_tasks)

    async def hand_over(self, record: TableRecord) -> None:
        """Let a table be judged, as soon as there is room; returns before it is."""
        if self._sample.takes_next():
            self._waiting.put(packed(record))

    def _ask(self) -> None:
        for body in self._waiting:
            try:
                take_verdict(self._measures, self._judged(body))
            except (OSError, EOFError) as fault:
                self._measures.failed("judging", f"the referee's process is gone: {fault}")
            finally:
                self._waiting.task_done()

    def _judged(self, body: bytes) -> Judged:
        write_frame(self._process.stdin, body)
        judged: Judged = pickle.loads(read_frame(self._process.stdout))  # noqa: S301 - written by our own child
        return judged

    def finish(self, seconds: float) -> None:
        """Wait until all tables are judged, not for longer."""
        if not self._waiting.join(timeout=seconds):
            self._measures.failed("judging", f"{self.waiting} tables were not judged within {seconds:g} s")

    def close(self) -> None:
        """End the referee's process."""
        self._asking.kill()
        self._process.kill()
        self._process.wait()
