"""Which entries of the log an action may have met: nobody but the engine knows exactly when it looked."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from loadtest.judge.log import Log
from loadtest.judge.streams import Followed
from loadtest.record import Answered, Sent

SLACK_MILLISECONDS = 250
"""Clocks of services and players, and messages on their way, are not more exact than this."""


class Reach(NamedTuple):
    """The table was at one of these sequences when an action was judged; `is_certain` says that it cannot be later."""

    first: int
    last: int
    is_certain: bool

    @property
    def sequences(self) -> range:
        """All of them."""
        return range(self.first, self.last + 1)


class Timeline:
    """When entries of a table were heard of, stored and asked for, in milliseconds of the players' clock.

    That clock is `ahead` of the services' by so many at most.
    """

    def __init__(self, log: Log, followed: Sequence[Followed]) -> None:
        heard = _first_heard(followed)
        acknowledged = [
            (one, answer, answer.sequence)
            for one in followed
            for answer in one.record.answered
            if answer.sequence is not None
        ]
        told = [*heard.items(), *((sequence, answer.at_milliseconds) for _, answer, sequence in acknowledged)]
        stored = {sequence: update.at_milliseconds for sequence, update in log.entries.items()}
        # Nothing is told before it was stored.
        self.ahead = min((at - stored[sequence] for sequence, at in told if sequence in stored), default=0)
        self._last = log.last
        self._is_over = log.ended is not None
        self._asked = [
            (sequence, one.sent[answer.request_id][0].at_milliseconds)
            for one, answer, sequence in acknowledged
            if answer.request_id in one.sent
        ]
        self._heard = _ascending(heard)
        self._stored = _ascending({sequence: at + self.ahead for sequence, at in stored.items()})

    def reach(self, sent: Sent, answered: Answered) -> Reach:
        """Which entries were there when an action was judged: all that had been told before it was sent, at least."""
        first = _before(self._heard, sent.at_milliseconds)
        last = max(first, _before(self._stored, answered.at_milliseconds + SLACK_MILLISECONDS))
        later = [sequence for sequence, at in self._asked if at > answered.at_milliseconds]
        is_certain = last < self._last or self._is_over or bool(later)
        if later:
            last = max(first, min(last, min(later) - 1))
        return Reach(first, last, is_certain)


def _first_heard(followed: Sequence[Followed]) -> dict[int, int]:
    heard: dict[int, int] = {}
    for one in followed:
        for sequence, moment in one.moments.items():
            heard[sequence] = min(heard.get(sequence, moment.heard_milliseconds), moment.heard_milliseconds)
        for sequence, told in one.heard.items():
            heard[sequence] = min(heard.get(sequence, told.at_milliseconds), told.at_milliseconds)
    return heard


def _ascending(times: dict[int, int]) -> list[tuple[int, int]]:
    """Times with their sequences, where each time stands with the highest sequence up to it."""
    highest, found = 0, []
    for at, sequence in sorted((at, sequence) for sequence, at in times.items()):
        highest = max(highest, sequence)
        found.append((at, highest))
    return found


def _before(ascending: Sequence[tuple[int, int]], at: int) -> int:
    """The highest sequence up to a time."""
    index = bisect_right(ascending, at, key=lambda one: one[0])
    return ascending[index - 1][1] if index else 0
