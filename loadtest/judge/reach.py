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
        self._last = log.last
        self._is_over = log.ended is not None
        self._asked = _asked_for(followed)
        heard = _first_heard(followed)
        ahead = self.ahead = _clock_ahead(log, heard, followed)
        self._heard = _ascending(heard)
        possible = {
            sequence: min(heard.get(sequence, update.at_milliseconds + ahead), update.at_milliseconds + ahead)
            for sequence, update in log.entries.items()
        }
        self._stored = _ascending(possible)

    def reach(self, sent: Sent, answered: Answered) -> Reach:
        """Which entries were there when an action was judged: all that had been told before it was sent, at least."""
        first = _before(self._heard, sent.at_milliseconds)
        last = max(first, _before(self._stored, answered.at_milliseconds + SLACK_MILLISECONDS))
        later = [sequence for sequence, at in self._asked if at > answered.at_milliseconds]
        is_certain = last < self._last or self._is_over or bool(later)
        if later:
            last = max(first, min(last, min(later) - 1))
        return Reach(first, last, is_certain)


def _asked_for(followed: Sequence[Followed]) -> list[tuple[int, int]]:
    """The acknowledged sequences, each with when its action was sent for the first time."""
    asked: list[tuple[int, int]] = []
    for one in followed:
        sent_at = {sent.request_id: sent.at_milliseconds for sent in reversed(one.record.sent)}
        asked += [
            (answer.sequence, sent_at[answer.request_id])
            for answer in one.record.answered
            if answer.sequence is not None and answer.request_id in sent_at
        ]
    return asked


def _first_heard(followed: Sequence[Followed]) -> dict[int, int]:
    heard: dict[int, int] = {}
    for one in followed:
        for sequence, moment in one.moments.items():
            heard[sequence] = min(heard.get(sequence, moment.heard_milliseconds), moment.heard_milliseconds)
        for sequence, at in one.heard_at.items():
            heard[sequence] = min(heard.get(sequence, at), at)
    return heard


def _clock_ahead(log: Log, heard: dict[int, int], followed: Sequence[Followed]) -> int:
    """How far the players' clock is ahead of the services' at most: nothing is told before it was stored."""
    told = list(heard.items())
    told += [
        (answer.sequence, answer.at_milliseconds)
        for one in followed
        for answer in one.record.answered
        if answer.sequence is not None
    ]
    return min(
        (at - log.entries[sequence].at_milliseconds for sequence, at in told if sequence in log.entries), default=0
    )


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
