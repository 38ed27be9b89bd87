"""The log of a table as all viewers together heard it, which of its entries a replay tells, and when it had them."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from croupier_api.v1 import engine_pb2, table_pb2
from loadtest.judge.streams import Followed, Moment
from loadtest.record import Answered, Sent

SLACK_MILLISECONDS = 250
"""Clocks of services and players, and messages on their way, are not more exact than this."""


@dataclass(frozen=True, slots=True)
class Log:
    """What was heard of a table by anybody; gaps are where nobody listened."""

    entries: Mapping[int, engine_pb2.TableUpdate]
    """By sequence, each as its first hearer was told it."""
    asides: frozenset[int]
    """Those of them that are no events of the game: proposals, votes, and time that was given back."""
    moments: Mapping[int, Moment]
    """By sequence what somebody had before him: of this only what is public may be used."""
    last: int
    """The highest sequence that anybody heard of."""
    ended: int | None
    """With which sequence the game was over."""
    info: table_pb2.TableInfo
    looks: Sequence[tuple[int, int]]
    """When GetView was answered, whoever asked, and the sequence that it was at."""

    def seats_to_act(self, sequence: int) -> list[int] | None:
        """The seats to act after an entry; None where the log does not show them."""
        moment = self.moments.get(sequence)
        return list(moment.view.seats_to_act) if moment is not None else None

    def played_by(self, seat: int) -> list[int]:
        """The entries that a seat's own player made at the table, proposals and votes left out."""
        return [
            sequence
            for sequence, update in sorted(self.entries.items())
            if update.HasField("seat") and update.seat == seat and not update.acted_by and sequence not in self.asides
        ]


def log_of(followed: Sequence[Followed]) -> Log:
    """Put together what all viewers heard."""
    entries: dict[int, engine_pb2.TableUpdate] = {}
    moments: dict[int, Moment] = {}
    told_facts: set[int] = set()
    for one in followed:
        for sequence, update in one.updates.items():
            entries.setdefault(sequence, update)
            if update.facts:
                told_facts.add(sequence)
        for sequence, moment in one.moments.items():
            moments.setdefault(sequence, moment)
    asides = frozenset(
        sequence
        for sequence, update in entries.items()
        if sequence not in told_facts and (update.HasField("seat") or update.credited_milliseconds)
    )
    last = max([*entries, *moments], default=0)
    ended = min((sequence for sequence, moment in moments.items() if moment.view.ranking), default=None)
    info = next((one.info for one in followed if one.info.table_id), table_pb2.TableInfo())
    looks = [(at, snapshot.sequence) for one in followed for at, snapshot in one.views]
    return Log(entries, asides, moments, last, ended, info, looks)


def replay_numbers(log: Log, events: int) -> dict[int, int]:
    """The number in a replay of so many events of each sequence that can be told, asides left out.

    Where nobody listened it is not known which entries are asides; but it is known how many there are in all.
    """
    last = log.ended if log.ended is not None else log.last
    unheard = last - events - sum(1 for sequence in log.asides if sequence <= last)
    numbers = _counted(log, range(1, last + 1), 0, 1, are_asides_left=unheard != 0)
    backwards = _counted(log, range(last, 0, -1), events + 1, -1, are_asides_left=unheard != 0)
    return backwards | numbers


def _counted(log: Log, sequences: Iterable[int], before: int, by: int, *, are_asides_left: bool) -> dict[int, int]:
    numbers: dict[int, int] = {}
    for sequence in sequences:
        # The first entry is always a deal: nobody can propose anything before it.
        if are_asides_left and sequence not in log.entries and sequence != 1:
            break
        if sequence not in log.asides:
            before += by
            numbers[sequence] = before
    return numbers


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
