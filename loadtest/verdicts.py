"""Which tables are judged, how they reach the referee's process, and what his verdicts add to what was measured."""

import os
import pickle
import zlib
from random import Random
from typing import NamedTuple

from loadtest.account import account_of
from loadtest.judge.verdict import Verdict, judge
from loadtest.measures import LONGEST_REPLAY_CHARACTERS, SEEN_BY_ALL, Measures
from loadtest.orphans import end_with_parent
from loadtest.record import TableRecord

MOST_WAITING = 500
"""Records that wait for the referee; beyond, players wait with their next table."""
LEAST_PRIORITY = 19


class Sample:
    """A `share` of the tables, chosen by chance, but the first in any case.

    A run of a few tables would tell nothing if chance left all of them out.
    """

    def __init__(self, share: float, random: Random) -> None:
        self._share = share
        self._random = random
        self._has_begun = False

    def takes_next(self) -> bool:
        """Whether the next table is judged."""
        if not self._share or (self._has_begun and self._random.random() >= self._share):
            return False
        self._has_begun = True
        return True


def give_way() -> None:
    """Let everybody else go first, as the referee's process does, and end with whoever started it."""
    os.nice(LEAST_PRIORITY)
    end_with_parent()


def packed(record: TableRecord) -> bytes:
    """A record as it waits: a tenth of the size, for a fraction of the time that judging takes."""
    return zlib.compress(pickle.dumps(record), 1)


class Judged(NamedTuple):
    """A verdict, and what is kept of the table if something broke there: its replay, or else what was heard."""

    verdict: Verdict
    kept: str


def verdict_on(body: bytes) -> Judged:
    """What the referee says of a packed record."""
    record: TableRecord = pickle.loads(zlib.decompress(body))  # noqa: S301 - written by this program itself
    verdict = judge(record)
    return Judged(verdict, _kept_of(record) if verdict.violations else "")


def _kept_of(record: TableRecord) -> str:
    return record.replays[0] if record.replays else account_of(record)[:LONGEST_REPLAY_CHARACTERS]


def take_verdict(measures: Measures, judged: Judged) -> None:
    """Measure what the referee said of a table."""
    verdict = judged.verdict
    measures.count("tables judged")
    measures.count("tables proved", int(verdict.is_proved))
    for name, times in verdict.checks_made.items():
        measures.count(f"checked {name}", times)
    for milliseconds in verdict.seen_by_all_milliseconds:
        measures.took(SEEN_BY_ALL, milliseconds / 1000)
    measures.broken(verdict.violations, judged.kept)
