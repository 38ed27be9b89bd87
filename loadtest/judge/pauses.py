"""Pauses of a table: the times in which nobody acts although a seat is to act.

Only actions end a pause. Compensations, proposals, votes and heartbeats do not: a table that only gets these is stuck
for its players.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from loadtest.judge.deadlines import overlap_milliseconds
from loadtest.judge.log import Log
from loadtest.judge.streams import ViewerHistory
from loadtest.judge.violations import Found, Invariant
from loadtest.record import Outage, SeatRecord

MAX_PAUSE_MILLISECONDS = 30_000
"""The longest time in which nobody acts although a player who acts within a known time is to act, in any fault."""


class Pause(NamedTuple):
    """A pause from an action, or the first deal, to the next one, in milliseconds of the players' clock."""

    sequence: int
    """The action with which it began."""
    seats: Sequence[int]
    """The seats that were to act."""
    began: int
    ended: int


def pauses(log: Log, clock_offset: int, until: int) -> Iterator[Pause]:
    """Yield the pauses of a table, the last one until `until`, a time of the players' clock, unless the game is over.

    That clock is at most `clock_offset` milliseconds ahead of the services'.
    """
    # Entries without an action of a seat are shuffles, which belong to the action before, and agreed proposals.
    acted = [sequence for sequence in sorted(log.entries) if sequence not in log.meta_entries]
    times = [(sequence, log.entries[sequence].stored_unix_ms + clock_offset) for sequence in acted]
    for (sequence, began), (following, ended) in pairwise((*times, (log.last + 1, until))):
        # Where entries are missing, such as before a snapshot, somebody may have acted.
        is_known = all(between in log.entries for between in range(sequence + 1, following))
        if is_known and (seats := log.seats_to_act(sequence)):
            yield Pause(sequence, seats, began, ended)


def check_pauses(
    log: Log, histories: Sequence[ViewerHistory], clock_offset: int, interruptions: Sequence[Outage]
) -> Iterator[Found]:
    """Yield each pause in which a player was there, was to act, and always acts sooner; interruptions do not count."""
    last_received = max((history.last_received[0] for history in histories), default=0)
    for pause in pauses(log, clock_offset, last_received):
        if pause.ended - pause.began < MAX_PAUSE_MILLISECONDS:
            continue
        for history in histories:
            waited = _waited(history.record, pause, interruptions) if history.seat in pause.seats else 0
            if waited >= MAX_PAUSE_MILLISECONDS:
                detail = f"nobody acted for {pause.ended - pause.began} ms, though {history.name} was to act and there"
                yield Invariant.TABLE_PAUSED, pause.sequence, f"{detail} for {waited} ms"


def _waited(record: SeatRecord, pause: Pause, interruptions: Sequence[Outage]) -> int:
    """Return for how many milliseconds of a pause a player was there who acts within a known time, and could."""
    if record.impaired or record.reads_slowly or record.thinks_milliseconds is None or not record.opened:
        return 0
    left = record.left_milliseconds if record.left_milliseconds is not None else pause.ended
    since, until = max(pause.began, record.opened[0].at_milliseconds), min(pause.ended, left)
    return until - since - overlap_milliseconds(interruptions, since, until)
