"""Checks that time-outs are neither early nor late, that outages are compensated, once, and the ends of tables whose
people are all away.
"""

from collections.abc import Iterator, Mapping, Sequence

from croupier_api.v1 import engine_pb2
from loadtest.judge.clock import Clock, ClockEntry, clock_at, clock_entry
from loadtest.judge.log import Log
from loadtest.judge.rows import Row, Rows
from loadtest.judge.rules.interface import ABANDONED
from loadtest.judge.streams import ViewerHistory
from loadtest.judge.violations import Found, Invariant
from loadtest.record import Outage

THINKING_MILLISECONDS = 10_000
"""The additional time of bots, whose searches may queue up."""
SILENT_MILLISECONDS = 12_500
"""The maximum time from a deadline to the next entry on a stream, which may have waited for its reader."""


def check_deadlines(log: Log, late: int | None, abandoned: int) -> Iterator[Found]:
    """Yield early and late entries, and clocks that differ from the log's times.

    `late` are the milliseconds by which an engine may act late; None for any. `abandoned` are those after which a table
    ends whose people are all away.
    """
    clock: Clock | None = None
    for sequence in range(1, log.last + 1):
        state, update = log.states.get(sequence), log.entries.get(sequence)
        before = log.states.get(sequence - 1)
        if update is not None and before is not None:
            yield from _check_time(log, update, before.clock.deadline_unix_ms, clock, late)
        if state is None:
            clock = None
        elif clock is None or update is None:
            clock = clock_at(log.info, state.view, state.clock, abandoned, is_first=sequence == 1)
        else:
            is_certain = clock.is_certain
            clock.advance(clock_entry(update, is_meta=sequence in log.meta_entries), list(state.view.seats_to_act))
            if not is_certain:
                clock.reserves = list(state.clock.reserve_ms)
            yield from _check_clock(sequence, clock, state.clock)


def _check_time(
    log: Log, update: engine_pb2.TableUpdate, deadline: int, clock: Clock | None, late: int | None
) -> Iterator[Found]:
    at, seat = update.stored_unix_ms, update.seat
    is_end = any(fact.game_ended.reason == ABANDONED for fact in update.facts if fact.HasField("game_ended"))
    own = _own_deadline(clock, seat if update.HasField("seat") else None, is_end=is_end) if clock is not None else None
    if (update.acted_by or is_end) and (early := max(deadline, own or 0) - at) > 0:
        yield Invariant.TIMEOUT_TOO_EARLY, update.sequence, _early(None if is_end else seat, early)
    if clock is not None and (fault := _desertion_fault(clock, own, update.acted_by, is_end=is_end)):
        yield Invariant.LOG_BROKEN, update.sequence, fault
    counted = clock.deadline if clock is not None else None
    first = min(deadline, counted) if counted else deadline
    if not deadline or late is None or update.compensated_ms:
        return
    if at > first + late + _think_milliseconds(log, update.sequence):
        yield Invariant.DEADLINE_MISSED, update.sequence, _waited(at - first)


def _early(seat: int | None, milliseconds: int) -> str:
    event = "the end of the abandoned table" if seat is None else f"the time-out of seat {seat}"
    return f"{event} came {milliseconds} ms too early"


def _own_deadline(clock: Clock, seat: int | None, *, is_end: bool) -> int | None:
    """Return the deadline of an action of a seat, or of the end of an abandoned table; None if it is not known."""
    if is_end:
        return clock.ends_at
    return clock.deadline_of(seat) if seat is not None else None


def _desertion_fault(clock: Clock, own: int | None, by: int, *, is_end: bool) -> str:
    """Return the fault of an entry with regard to the presence of people, empty for none.

    `clock` is the one before the entry, and `own` the deadline of it.
    """
    if by == engine_pb2.ACTED_BY_TIMEOUT and own is not None and own == clock.ends_at:
        return "the engine played on though all people were away"
    return "the table ended as abandoned though not all people were away" if is_end and not clock.is_deserted else ""


def _waited(milliseconds: int) -> str:
    return f"the entry came {milliseconds} ms after the deadline"


def _think_milliseconds(log: Log, sequence: int) -> int:
    """Return the additional time of the seats to act, if they are bots."""
    seats_to_act = log.seats_to_act(sequence - 1) or []
    thinks = any(log.info.seats[seat].bot for seat in seats_to_act if seat < len(log.info.seats))
    return THINKING_MILLISECONDS * thinks


def _check_clock(sequence: int, clock: Clock, received: engine_pb2.TurnClock) -> Iterator[Found]:
    if not clock.is_certain:
        return
    pairs = {
        "deadline": (received.deadline_unix_ms, clock.deadline),
        "reserves": (list(received.reserve_ms), clock.reserves),
        "seats away": (list(received.away_seats), sorted(clock.away)),
    }
    for name, (value, own) in pairs.items():
        if value != own:
            detail = f"the clock's {name} is {value}, by the log {own}"
            yield Invariant.VIEW_DIFFERS, sequence, detail


def check_last_deadline(log: Log, histories: Sequence[ViewerHistory], clock_offset: int) -> Iterator[Found]:
    """Yield a deadline that passed without an entry.

    The players' clock is at most `clock_offset` milliseconds ahead of the services'.
    """
    state = log.states.get(log.last)
    if state is None or not log.entries or not state.clock.deadline_unix_ms:
        return
    at_end = [history for history in histories if history.last_received[1] == log.last]
    last_received = max((history.last_received[0] - history.delay_milliseconds for history in at_end), default=0)
    passed = last_received - clock_offset - state.clock.deadline_unix_ms
    if passed > SILENT_MILLISECONDS + _think_milliseconds(log, log.last + 1):
        yield Invariant.DEADLINE_MISSED, log.last, f"no entry {passed} ms after the deadline"


# The clock by the rows alone


def check_row_times(
    rows: Rows, to_act: Mapping[int, Sequence[int]], outages: Sequence[Outage], late: int | None
) -> Iterator[Found]:
    """Yield the violations of the times in rows; `to_act` has the seats to act after each sequence, as far as known."""
    clock = Clock(rows.clock_settings, [rows.config["clock"][1]] * rows.config["seat_count"])
    for row in rows.entries:
        for invariant, detail in _check_row(row, clock, outages, late):
            yield invariant, row.sequence, detail
        seats = to_act.get(row.sequence)
        if seats is None:
            return
        is_timeout = row.by == engine_pb2.ACTED_BY_TIMEOUT
        clock.advance(ClockEntry(row.at, row.actor, is_timeout, row.compensation, row.is_meta), seats)
        if row.deadline != clock.deadline:
            detail = f"the stored deadline is {row.deadline}, by the log {clock.deadline}"
            yield Invariant.LOG_BROKEN, row.sequence, detail


def _check_row(row: Row, clock: Clock, outages: Sequence[Outage], late: int | None) -> Iterator[tuple[Invariant, str]]:
    """Yield the violations of a row, given the clock before it."""
    if row.compensation:
        yield from _check_compensation(row, clock, outages)
        return
    deadline = clock.deadline
    if deadline and late is not None:
        waited = row.at - deadline - overlap_milliseconds(outages, deadline, row.at)
        if waited > late + THINKING_MILLISECONDS * any(seat in clock.settings.bots for seat in clock.since):
            yield Invariant.DEADLINE_MISSED, _waited(waited)
    is_end = row.is_abandonment
    seat = clock.due_seat if is_end else row.actor if row.by else None
    own = _own_deadline(clock, seat, is_end=is_end)
    if fault := _desertion_fault(clock, own, row.by, is_end=is_end):
        yield Invariant.LOG_BROKEN, fault
    since = clock.since.get(seat) if seat is not None else None
    if seat is None or own is None or since is None:
        return
    if row.at < own:
        yield Invariant.TIMEOUT_TOO_EARLY, _early(None if is_end else seat, own - row.at)
    compensated = clock.compensated.get(seat, 0)
    lost = overlap_milliseconds(outages, since - compensated, own) - compensated
    if lost > 0 and (seat not in clock.away or is_end) and seat not in clock.settings.bots:
        yield Invariant.COMPENSATION_WRONG, f"seat {seat} lost {lost} ms in an outage without compensation"


def _check_compensation(row: Row, clock: Clock, outages: Sequence[Outage]) -> Iterator[tuple[Invariant, str]]:
    # The longest waiting seat decides, since an outage may become known late.
    compensated = clock.compensated
    waiting = [
        (at - compensated.get(seat, 0), compensated.get(seat, 0)) for seat, at in clock.since.items() if at is not None
    ]
    turn_began, before = min(waiting, default=(row.at, 0))
    due = overlap_milliseconds(outages, turn_began, row.at) - before
    if not 0 < row.compensation <= due:
        detail = f"{row.compensation} ms were compensated, engines were missing for {due} ms"
        yield Invariant.COMPENSATION_WRONG, detail


def overlap_milliseconds(outages: Sequence[Outage], since: int, until: int) -> int:
    """Return the milliseconds of a period that lie in outages, which may overlap."""
    total = 0
    for began, ended in sorted(outages):
        began, ended = max(began, since), min(ended, until)
        if began < ended:
            total += ended - began
            since = ended
    return total
