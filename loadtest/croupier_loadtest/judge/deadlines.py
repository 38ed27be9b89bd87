"""Checks that time-outs are neither early nor late, that outages are compensated, once, and the ends of tables whose
people are all away.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from croupier_api.v1 import engine_pb2
from croupier_loadtest.judge.clock import Clock, PublicEntry, clock_at
from croupier_loadtest.judge.log import Log
from croupier_loadtest.judge.rows import Rows
from croupier_loadtest.judge.streams import ViewerHistory
from croupier_loadtest.judge.violations import Found, Invariant
from croupier_loadtest.record import Outage

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
        state, entry = log.states.get(sequence), log.public.get(sequence)
        if entry is not None and clock is not None:
            shown = log.states[sequence - 1].clock.deadline_unix_ms
            for invariant, detail in _check_entry(entry, clock, shown, (), late):
                yield invariant, sequence, detail
        if state is None:
            clock = None
        elif clock is None or entry is None:
            clock = clock_at(log.info, state.view, state.clock, abandoned, is_first=sequence == 1)
        else:
            is_certain = clock.is_certain
            clock.advance(entry, list(state.view.seats_to_act))
            if not is_certain:
                clock.reserves = list(state.clock.reserve_ms)
            yield from _check_clock(sequence, clock, state.clock)


def _check_entry(
    entry: PublicEntry, clock: Clock, shown: int, outages: Sequence[Outage], late: int | None
) -> Iterator[tuple[Invariant, str]]:
    """Yield the violations of an entry, given the clock before it and the deadline that was shown, 0 for none."""
    if entry.compensation:
        return
    deadline = min((at for at in (shown, clock.deadline) if at), default=0)
    if deadline and late is not None:
        seat = clock.due[1]
        # The time of a seat may have been over when it was left in its turn, or while a deserted table waited for it.
        due = deadline if seat is None else max(deadline, clock.resumed, clock.left_in_turn.get(seat, 0))
        waited = entry.at - due - overlap_milliseconds(outages, due, entry.at)
        if waited > late + THINKING_MILLISECONDS * any(seat in clock.settings.bots for seat in clock.since):
            yield Invariant.DEADLINE_MISSED, f"the entry came {waited} ms after the deadline"
    is_end = entry.is_abandonment
    seat = clock.due[1] if is_end else entry.actor if entry.by else None
    own = clock.ends_at if is_end else clock.deadline_of(seat) if seat is not None else None
    if entry.by == engine_pb2.ACTED_BY_TIMEOUT and own is not None and own == clock.ends_at:
        yield Invariant.LOG_BROKEN, "the engine played on though all people were away"
    if is_end and not clock.is_deserted:
        yield Invariant.LOG_BROKEN, "the table ended as abandoned though not all people were away"
    if (entry.by or is_end) and (early := max(shown, own or 0) - entry.at) > 0:
        event = "the end of the abandoned table" if is_end else f"the time-out of seat {seat}"
        yield Invariant.TIMEOUT_TOO_EARLY, f"{event} came {early} ms too early"
    since = clock.since.get(seat) if seat is not None else None
    if seat is None or own is None or since is None:
        return
    compensated = clock.compensated.get(seat, 0)
    lost = overlap_milliseconds(outages, since - compensated, own) - compensated
    if lost > 0 and (seat not in clock.absences.away or is_end) and seat not in clock.settings.bots:
        yield Invariant.COMPENSATION_WRONG, f"seat {seat} lost {lost} ms in an outage without compensation"


def _check_clock(sequence: int, clock: Clock, received: engine_pb2.TurnClock) -> Iterator[Found]:
    if not clock.is_certain:
        return
    pairs = {
        "deadline": (received.deadline_unix_ms, clock.deadline),
        "reserves": (list(received.reserve_ms), clock.reserves),
        "seats away": (list(received.away_seats), sorted(clock.absences.away)),
        "left seats": (list(received.left_seats), sorted(clock.absences.left)),
    }
    for name, (value, own) in pairs.items():
        if value != own:
            detail = f"the clock's {name} is {value}, by the log {own}"
            yield Invariant.VIEW_DIFFERS, sequence, detail


def check_last_deadline(log: Log, histories: Sequence[ViewerHistory]) -> Iterator[Found]:
    """Yield a deadline that passed without an entry."""
    state = log.states.get(log.last)
    if state is None or not log.entries or not state.clock.deadline_unix_ms:
        return
    at_end = [history for history in histories if history.last_received[1] == log.last]
    last_received = max((history.last_received[0] - history.delay_milliseconds for history in at_end), default=0)
    # That of a seat for which a deserted table waited may have passed before the last entry.
    entry = log.public.get(log.last)
    due = max(state.clock.deadline_unix_ms, entry.at if entry is not None else 0)
    passed = last_received - log.clock_offset - due
    waits_for_bot = any(log.info.seats[seat].bot for seat in state.view.seats_to_act if seat < len(log.info.seats))
    if passed > SILENT_MILLISECONDS + THINKING_MILLISECONDS * waits_for_bot:
        yield Invariant.DEADLINE_MISSED, log.last, f"no entry {passed} ms after the deadline"


# The clock by the rows alone


def check_row_times(
    rows: Rows, to_act: Mapping[int, Sequence[int]], outages: Sequence[Outage], late: int | None
) -> Iterator[Found]:
    """Yield the violations of the times in rows; `to_act` has the seats to act after each sequence, as far as known."""
    clock = Clock(rows.clock_settings, [rows.config["clock"][1]] * rows.config["seat_count"])
    for row in rows.entries:
        entry = row.public
        found = _check_compensation if entry.compensation else partial(_check_entry, shown=0, late=late)
        for invariant, detail in found(entry, clock, outages=outages):
            yield invariant, row.sequence, detail
        seats = to_act.get(row.sequence)
        if seats is None:
            return
        clock.advance(entry, seats)
        if row.deadline != clock.deadline:
            detail = f"the stored deadline is {row.deadline}, by the log {clock.deadline}"
            yield Invariant.LOG_BROKEN, row.sequence, detail


def _check_compensation(entry: PublicEntry, clock: Clock, outages: Sequence[Outage]) -> Iterator[tuple[Invariant, str]]:
    # The longest waiting seat decides, since an outage may become known late.
    compensated = clock.compensated
    waiting = [
        (at - compensated.get(seat, 0), compensated.get(seat, 0)) for seat, at in clock.since.items() if at is not None
    ]
    turn_began, before = min(waiting, default=(entry.at, 0))
    due = overlap_milliseconds(outages, turn_began, entry.at) - before
    if not 0 < entry.compensation <= due:
        detail = f"{entry.compensation} ms were compensated, engines were missing for {due} ms"
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
