"""Nobody's time runs out whom only services kept from acting, nor earlier than the players' own clock allows."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from croupier_api.v1 import engine_pb2
from loadtest.judge.answers import BY_CIRCUMSTANCES
from loadtest.judge.log import Log
from loadtest.judge.streams import Followed
from loadtest.judge.violations import Found, Invariant

MARGIN_MILLISECONDS = 1_000
"""What happens so shortly before a deadline may be too late."""
RECEIVED_MILLISECONDS = 2_500
"""So much later than others one entry may be received."""
BURST_MILLISECONDS = 500
"""Entries that come so close together were sent after a reconnect: when they would have come is not known."""


class _TimeOut(NamedTuple):
    """An entry that acted for a seat, the entry that asked it to act, and the deadline by the services' clock."""

    sequence: int
    seat: int
    asked: int
    deadline: int


def unexcused(log: Log, followed: Sequence[Followed], ahead: int) -> Iterator[Found]:
    """Time-outs of players who were there; the players' clock is `ahead` of the services', in milliseconds."""
    for one in _time_outs(log):
        yield from _too_early_for_people(one, log, followed)
        viewers = [viewer for viewer in followed if viewer.seat == one.seat]
        records, deadline = [viewer.record for viewer in viewers], one.deadline + ahead
        if any(it.hampered or it.reads_slowly or it.has_left(deadline) for it in records):
            continue
        for viewer in viewers:
            if one.sequence in viewer.updates and (why := _kept_from_acting(viewer, one, deadline)):
                detail = f"the time of {viewer.name} ran out though its player {why}"
                yield Invariant.TIMED_OUT_UNEXCUSED, one.sequence, detail


def _time_outs(log: Log) -> Iterator[_TimeOut]:
    """Every time-out of a seat that was not away already, as far as all before it was received."""
    for sequence, update in log.entries.items():
        before = log.moments.get(sequence - 1)
        if before is None or update.acted_by != engine_pb2.ACTED_BY_TIMEOUT or update.seat in before.clock.away_seats:
            continue
        asked = sequence - 1
        while update.seat in (log.seats_to_act(asked - 1) or ()) and not _is_by(log, asked, update.seat):
            asked -= 1
        yield _TimeOut(sequence, update.seat, asked, before.clock.deadline_milliseconds)


def _is_by(log: Log, sequence: int, seat: int) -> bool:
    """Whether a seat acted with an entry."""
    entry = log.entries.get(sequence)
    return entry is not None and sequence not in log.asides and entry.HasField("seat") and entry.seat == seat


def _kept_from_acting(viewer: Followed, one: _TimeOut, deadline: int) -> str:
    """Why a player could not act, empty if they could; `deadline` is by the players' clock."""
    last, moment = deadline - MARGIN_MILLISECONDS, viewer.moments.get(one.asked)
    heard = viewer.heard.get(one.asked)
    asked = heard.at_milliseconds if heard else moment.heard_milliseconds if moment else deadline
    opened = viewer.record.opened
    if asked > last:
        was_there = bool(opened) and opened[0].at_milliseconds < last
        return "had not received that it was to act" if was_there else ""
    answered = {
        answer.request_id
        for answer in viewer.record.answered
        if answer.sequence is not None or answer.code not in BY_CIRCUMSTANCES
    }
    acted = [it for it in viewer.record.sent if asked <= it.at_milliseconds <= deadline and it.expected is None]
    waiting = [it for it in acted if it.at_milliseconds <= last and it.request_id not in answered]
    if waiting:
        return f"had sent an action {deadline - waiting[0].at_milliseconds} ms before the deadline"
    thinks = viewer.record.thinks_milliseconds
    if thinks is not None and not acted and asked + thinks < last:
        return "never waits so long, and had no action under way"
    return ""


def _too_early_for_people(one: _TimeOut, log: Log, followed: Sequence[Followed]) -> Iterator[Found]:
    """A time-out that came too early by the clock of the players, whatever the times in the log say."""
    asked, acted = _first_received(one.asked, followed), _first_received(one.sequence, followed)
    entry = log.entries.get(one.asked)
    if asked is None or acted is None or entry is None or acted - asked < BURST_MILLISECONDS:
        return
    # While time is given back, entries are received as late as that: what asked the seat may have been too.
    given = sum(log.entries[at].credited_milliseconds for at in range(one.asked, one.sequence) if at in log.entries)
    allowed = one.deadline - entry.at_milliseconds - given
    if acted - asked < allowed - RECEIVED_MILLISECONDS:
        detail = f"seat {one.seat} was played for after {acted - asked} ms by the players' clock, of {allowed}"
        yield Invariant.PLAYED_FOR_TOO_EARLY, one.sequence, detail


def _first_received(sequence: int, followed: Sequence[Followed]) -> int | None:
    """When an entry was received first by anybody; None unless that was on a stream that had been open before."""
    times = [
        (heard.at_milliseconds, one.record.opened[heard.stream].at_milliseconds)
        for one in followed
        if (heard := one.heard.get(sequence)) is not None and heard.stream < len(one.record.opened)
    ]
    first, opened = min(times, default=(0, 0))
    return first if opened < first - MARGIN_MILLISECONDS else None
