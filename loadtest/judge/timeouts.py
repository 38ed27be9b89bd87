"""Checks that no player times out because of the services, nor early by the players' own clock."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from croupier_api.v1 import engine_pb2
from loadtest.judge.answers import UNJUDGED_CODES
from loadtest.judge.log import Log
from loadtest.judge.streams import ViewerHistory
from loadtest.judge.violations import Found, Invariant

MARGIN_MILLISECONDS = 1_000
"""An action so shortly before a deadline may be too late."""
RECEIVED_MILLISECONDS = 2_500
"""An entry may be received so much later than others."""
BURST_MILLISECONDS = 500
"""Entries in such quick succession were sent after a reconnect, and their times are not known."""


class _Timeout(NamedTuple):
    """A time-out: its entry, the entry since which the seat was to act, and the deadline by the services' clock."""

    sequence: int
    seat: int
    asked: int
    deadline: int


def unexcused_timeouts(log: Log, histories: Sequence[ViewerHistory], ahead: int) -> Iterator[Found]:
    """Time-outs of players who could act; the players' clock is `ahead` of the services', in milliseconds."""
    for one in _timeouts(log):
        yield from _early_for_players(one, log, histories)
        viewers = [viewer for viewer in histories if viewer.seat == one.seat]
        records, deadline = [viewer.record for viewer in viewers], one.deadline + ahead
        if any(it.impaired or it.reads_slowly or it.has_left(deadline) for it in records):
            continue
        for viewer in viewers:
            if one.sequence in viewer.updates and (reason := _kept_from_acting(viewer, one, deadline)):
                detail = f"the time of {viewer.name} ran out though its player {reason}"
                yield Invariant.TIMEOUT_UNEXCUSED, one.sequence, detail


def _timeouts(log: Log) -> Iterator[_Timeout]:
    """All time-outs of seats that were not away before, as far as the entries before them are known."""
    for sequence, update in log.entries.items():
        before = log.states.get(sequence - 1)
        if before is None or update.acted_by != engine_pb2.ACTED_BY_TIMEOUT or update.seat in before.clock.away_seats:
            continue
        asked = sequence - 1
        while update.seat in (log.seats_to_act(asked - 1) or ()) and not _is_by(log, asked, update.seat):
            asked -= 1
        yield _Timeout(sequence, update.seat, asked, before.clock.deadline_unix_ms)


def _is_by(log: Log, sequence: int, seat: int) -> bool:
    """Whether an entry is an action of a seat."""
    entry = log.entries.get(sequence)
    return entry is not None and sequence not in log.meta_entries and entry.HasField("seat") and entry.seat == seat


def _kept_from_acting(viewer: ViewerHistory, one: _Timeout, deadline: int) -> str:
    """The reason why a player could not act, empty if they could; `deadline` is by the players' clock."""
    last, state = deadline - MARGIN_MILLISECONDS, viewer.states.get(one.asked)
    received = viewer.received.get(one.asked)
    asked = received.at_milliseconds if received else state.received_milliseconds if state else deadline
    opened = viewer.record.opened
    if asked > last:
        was_there = bool(opened) and opened[0].at_milliseconds < last
        return "had not received that it was to act" if was_there else ""
    answered = {
        answer.request_id
        for answer in viewer.record.answered
        if answer.sequence is not None or answer.code not in UNJUDGED_CODES
    }
    acted = [it for it in viewer.record.sent if asked <= it.at_milliseconds <= deadline and it.expected is None]
    waiting = [it for it in acted if it.at_milliseconds <= last and it.request_id not in answered]
    if waiting:
        return f"had sent an action {deadline - waiting[0].at_milliseconds} ms before the deadline"
    thinks = viewer.record.thinks_milliseconds
    if thinks is not None and not acted and asked + thinks < last:
        return "never waits so long, and had not sent an action"
    return ""


def _early_for_players(one: _Timeout, log: Log, histories: Sequence[ViewerHistory]) -> Iterator[Found]:
    """A time-out that came too early by the clock of the players, independent of the times in the log."""
    asked, acted = _first_received(one.asked, histories), _first_received(one.sequence, histories)
    entry = log.entries.get(one.asked)
    if asked is None or acted is None or entry is None or acted - asked < BURST_MILLISECONDS:
        return
    # Around a compensation, entries are received late, possibly also the one that asked the seat.
    compensated = sum(log.entries[at].compensated_ms for at in range(one.asked, one.sequence) if at in log.entries)
    allowed = one.deadline - entry.stored_unix_ms - compensated
    if acted - asked < allowed - RECEIVED_MILLISECONDS:
        detail = f"the time-out of seat {one.seat} came after {acted - asked} of {allowed} ms by the players' clock"
        yield Invariant.TIMEOUT_TOO_EARLY, one.sequence, detail


def _first_received(sequence: int, histories: Sequence[ViewerHistory]) -> int | None:
    """The time at which an entry was first received, on a stream that had been open before; else None."""
    settings = [
        (received.at_milliseconds, one.record.opened[received.stream].at_milliseconds)
        for one in histories
        if (received := one.received.get(sequence)) is not None and received.stream < len(one.record.opened)
    ]
    first, opened = min(settings, default=(0, 0))
    return first if opened < first - MARGIN_MILLISECONDS else None
