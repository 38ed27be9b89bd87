"""Checks that no player times out because of the services, nor early by the players' own clock; and pauses of tables.

In a pause nobody acts although a seat is to act. Only actions end it. Compensations, proposals, votes and heartbeats do
not: a table that only gets these is stuck for its players.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from croupier_api.v1 import engine_pb2
from croupier_loadtest.judge.answers import UNJUDGED_CODES
from croupier_loadtest.judge.deadlines import overlap_milliseconds
from croupier_loadtest.judge.log import Log
from croupier_loadtest.judge.streams import ViewerHistory
from croupier_loadtest.judge.violations import Found, Invariant
from croupier_loadtest.record import Outage, SeatRecord

MARGIN_MILLISECONDS = 1_000
"""An action within this time before a deadline may be too late."""
RECEIVED_MILLISECONDS = 2_500
"""The maximum difference between the times at which entries are received."""
BURST_MILLISECONDS = 500
"""Entries within this time were sent after a reconnect, so that their times are unknown."""
MAX_PAUSE_MILLISECONDS = 30_000
"""The longest time in which nobody acts although a player who acts within a known time is to act, in any fault."""


class _Timeout(NamedTuple):
    """A time-out: its entry, the entry with which the turn began, and the deadline by the services' clock."""

    sequence: int
    seat: int
    turn_sequence: int
    deadline: int


def check_timeouts(log: Log, histories: Sequence[ViewerHistory]) -> Iterator[Found]:
    """Yield time-outs of players who could act."""
    for one in _timeouts(log):
        yield from _check_players_clock(one, log, histories)
        viewers = [viewer for viewer in histories if viewer.seat == one.seat]
        records, deadline = [viewer.record for viewer in viewers], one.deadline + log.clock_offset
        if any(it.impaired or it.reads_slowly or it.has_left(deadline) for it in records):
            continue
        for viewer in viewers:
            if one.sequence in viewer.updates and (reason := _kept_from_acting(viewer, one, deadline)):
                detail = f"the time of {viewer.name} ran out though its player {reason}"
                yield Invariant.TIMEOUT_UNEXCUSED, one.sequence, detail


def _timeouts(log: Log) -> Iterator[_Timeout]:
    """Yield all time-outs of seats that were not away before, as far as the entries before them are known."""
    acted: defaultdict[int | None, set[int]] = defaultdict(set)
    for sequence, entry in log.public.items():
        acted[entry.actor].add(sequence)
    for sequence, entry in log.public.items():
        before, seat = log.states.get(sequence - 1), entry.seat
        if before is None or entry.by != engine_pb2.ACTED_BY_TIMEOUT or seat is None or seat in before.clock.away_seats:
            continue
        turn = sequence - 1
        while seat in (log.seats_to_act(turn - 1) or ()) and turn not in acted[seat]:
            turn -= 1
        yield _Timeout(sequence, seat, turn, before.clock.deadline_unix_ms)


def _kept_from_acting(viewer: ViewerHistory, one: _Timeout, deadline: int) -> str:
    """Return the reason why a player could not act, empty if they could; `deadline` is by the players' clock."""
    last, state = deadline - MARGIN_MILLISECONDS, viewer.states.get(one.turn_sequence)
    received = viewer.received.get(one.turn_sequence)
    turn_began = received.at_milliseconds if received else state.received_milliseconds if state else deadline
    opened = viewer.record.opened
    if turn_began > last:
        was_there = bool(opened) and opened[0].at_milliseconds < last
        return "had not received that it was to act" if was_there else ""
    answered = {
        answer.request_id
        for answer in viewer.record.answered
        if answer.sequence is not None or answer.code not in UNJUDGED_CODES
    }
    acted = [it for it in viewer.record.sent if turn_began <= it.at_milliseconds <= deadline and it.expected is None]
    waiting = [it for it in acted if it.at_milliseconds <= last and it.request_id not in answered]
    if waiting:
        return f"had sent an action {deadline - waiting[0].at_milliseconds} ms before the deadline"
    thinks = viewer.record.thinks_milliseconds
    if thinks is not None and not acted and turn_began + thinks < last:
        return "always acts sooner, and had not sent an action"
    return ""


def _check_players_clock(one: _Timeout, log: Log, histories: Sequence[ViewerHistory]) -> Iterator[Found]:
    """Yield a time-out that came too early by the clock of the players, independent of the times in the log."""
    turn_began, acted = _first_received(one.turn_sequence, histories), _first_received(one.sequence, histories)
    entry = log.entries.get(one.turn_sequence)
    if turn_began is None or acted is None or entry is None or acted - turn_began < BURST_MILLISECONDS:
        return
    # Around a compensation, entries are received late, possibly also the one that began the turn.
    compensated = sum(
        log.entries[at].compensated_ms for at in range(one.turn_sequence, one.sequence) if at in log.entries
    )
    allowed = one.deadline - entry.stored_unix_ms - compensated
    if acted - turn_began < allowed - RECEIVED_MILLISECONDS:
        detail = (
            f"the time-out of seat {one.seat} came after {acted - turn_began} of {allowed} ms by the players' clock"
        )
        yield Invariant.TIMEOUT_TOO_EARLY, one.sequence, detail


def _first_received(sequence: int, histories: Sequence[ViewerHistory]) -> int | None:
    """Return the time at which an entry was first received, on a stream that was open before; else None."""
    times = [
        (received.at_milliseconds, history.record.opened[received.stream].at_milliseconds)
        for history in histories
        if (received := history.received.get(sequence)) is not None and received.stream < len(history.record.opened)
    ]
    first, opened = min(times, default=(0, 0))
    return first if opened < first - MARGIN_MILLISECONDS else None


class Pause(NamedTuple):
    """A pause from an action, or the first deal, to the next one, in milliseconds of the players' clock."""

    sequence: int
    """The action with which it began."""
    seats: Sequence[int]
    """The seats that were to act."""
    began: int
    ended: int


def pauses(log: Log, until: int) -> Iterator[Pause]:
    """Yield the pauses of a table, the last one `until` a time of the players' clock, unless the game is over."""
    # Entries without an action of a seat are shuffles, which belong to the action before, and agreed proposals.
    times = [(sequence, entry.at + log.clock_offset) for sequence, entry in log.public.items() if not entry.is_meta]
    for (sequence, began), (following, ended) in pairwise((*times, (log.last + 1, until))):
        # Where entries are missing, such as before a snapshot, somebody may have acted.
        is_known = all(between in log.entries for between in range(sequence + 1, following))
        if is_known and (seats := log.seats_to_act(sequence)):
            yield Pause(sequence, seats, began, ended)


def check_pauses(log: Log, histories: Sequence[ViewerHistory], interruptions: Sequence[Outage]) -> Iterator[Found]:
    """Yield each pause in which a player was there, was to act, and always acts sooner; interruptions do not count."""
    last_received = max((history.last_received[0] for history in histories), default=0)
    for pause in pauses(log, last_received):
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
