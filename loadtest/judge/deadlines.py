"""No seat is played for before its time is over, none is waited for much longer, and outages are given back, once."""

from collections.abc import Iterator, Mapping, Sequence

from croupier_api.v1 import engine_pb2
from loadtest.judge.clock import Clock, Passed, Times, clock_at, passed_in
from loadtest.judge.log import Log
from loadtest.judge.rows import Row, Rows
from loadtest.judge.streams import Followed
from loadtest.judge.violations import Found, Invariant
from loadtest.record import Outage

THINKING_MILLISECONDS = 10_000
"""So much longer computer players may take that think, when many of them do."""
SILENT_MILLISECONDS = 12_500
"""So much after a deadline the stream may still go on; it may have waited for its reader."""


def broken_deadlines(log: Log, late: int | None) -> Iterator[Found]:
    """Entries that came before the time was over, or too long after it; and clocks that are not counted rightly.

    `late` are the milliseconds by which an engine may act later; None for any.
    """
    clock: Clock | None = None
    for sequence in range(1, log.last + 1):
        moment, update = log.moments.get(sequence), log.entries.get(sequence)
        before = log.moments.get(sequence - 1)
        if update is not None and before is not None:
            yield from _untimely(log, update, before.clock.deadline_milliseconds, clock, late)
        if moment is None:
            clock = None
        elif clock is None or update is None:
            clock = clock_at(log.info, moment.view, moment.clock, is_first=sequence == 1)
        else:
            is_certain = clock.is_certain
            clock.go_on(passed_in(update, is_aside=sequence in log.asides), list(moment.view.seats_to_act))
            if not is_certain:
                clock.reserves = list(moment.clock.reserve_milliseconds)
            yield from _wrongly_counted(sequence, clock, moment.clock)


def _untimely(
    log: Log, update: engine_pb2.TableUpdate, deadline: int, clock: Clock | None, late: int | None
) -> Iterator[Found]:
    at, seat = update.at_milliseconds, update.seat
    own = clock.deadline_of(seat) if clock is not None and update.HasField("seat") else None
    if update.acted_by and (early := max(deadline, own or 0) - at) > 0:
        yield Invariant.PLAYED_FOR_TOO_EARLY, update.sequence, _early(seat, early)
    counted = clock.deadline if clock is not None else None
    first = min(deadline, counted) if counted else deadline
    if not deadline or late is None or update.credited_milliseconds:
        return
    if at > first + late + _thinking(log, update.sequence):
        yield Invariant.DEADLINE_MISSED, update.sequence, _waited(at - first)


def _early(seat: int, milliseconds: int) -> str:
    return f"seat {seat} was played for {milliseconds} ms before its time was over"


def _waited(milliseconds: int) -> str:
    return f"the table was waited for until {milliseconds} ms after the deadline"


def _thinking(log: Log, sequence: int) -> int:
    """How much longer those may take who are to act, if they are computer players."""
    waited_for = log.seats_to_act(sequence - 1) or []
    thinks = any(log.info.seats[seat].bot for seat in waited_for if seat < len(log.info.seats))
    return THINKING_MILLISECONDS * thinks


def _wrongly_counted(sequence: int, clock: Clock, told: engine_pb2.TurnClock) -> Iterator[Found]:
    if not clock.is_certain:
        return
    pairs = {
        "deadline": (told.deadline_milliseconds, clock.deadline),
        "reserves": (list(told.reserve_milliseconds), clock.reserves),
        "seats away": (list(told.away_seats), sorted(clock.away)),
    }
    for what, (it, own) in pairs.items():
        if it != own:
            detail = f"the clock's {what} told is {it}, counted from the times of the log it is {own}"
            yield Invariant.VIEW_DIFFERS, sequence, detail


def waited_in_vain(log: Log, followed: Sequence[Followed], ahead: int) -> Iterator[Found]:
    """A deadline that passed while streams told that nothing happens; `ahead` is the players' clock's advance."""
    moment = log.moments.get(log.last)
    if moment is None or not log.entries or not moment.clock.deadline_milliseconds:
        return
    last_heard = max((one.last_heard[0] for one in followed if one.last_heard[1] == log.last), default=0)
    passed = last_heard - ahead - moment.clock.deadline_milliseconds
    if passed > SILENT_MILLISECONDS + _thinking(log, log.last + 1):
        yield Invariant.DEADLINE_MISSED, log.last, f"nobody acted though the deadline passed {passed} ms ago"


# The clock counted from the rows alone


def times_broken(
    rows: Rows, to_act: Mapping[int, Sequence[int]], outages: Sequence[Outage], late: int | None
) -> Iterator[Found]:
    """What is wrong with the times in rows; `to_act` says by sequence who is to act after it, as far as it is known."""
    action, reserve, bot_delay = rows.config["clock"]
    bots = frozenset(seat for seat, (_, _, bot) in enumerate(rows.config["seats"]) if bot)
    clock = Clock(Times(action, bot_delay, bots), [reserve] * rows.config["seat_count"])
    for row in rows.entries:
        for invariant, detail in _row_broken(row, clock, outages, late):
            yield invariant, row.sequence, detail
        seats = to_act.get(row.sequence)
        if seats is None:
            return
        is_timeout = row.by == engine_pb2.ACTED_BY_TIMEOUT
        clock.go_on(Passed(row.at, row.actor, is_timeout, row.credited, row.is_aside), seats)
        if row.deadline != clock.deadline:
            detail = f"the deadline that is stored is {row.deadline}, counted from the log it is {clock.deadline}"
            yield Invariant.LOG_BROKEN, row.sequence, detail


def _row_broken(row: Row, clock: Clock, outages: Sequence[Outage], late: int | None) -> Iterator[tuple[Invariant, str]]:
    """What is wrong with a row before which the clock stands so."""
    if row.credited:
        yield from _credit_broken(row, clock, outages)
        return
    deadline = clock.deadline
    if deadline and late is not None:
        waited = row.at - deadline - overlap_milliseconds(outages, deadline, row.at)
        if waited > late + THINKING_MILLISECONDS * any(seat in clock.times.bots for seat in clock.since):
            yield Invariant.DEADLINE_MISSED, _waited(waited)
    seat = row.actor
    own = clock.deadline_of(seat) if seat is not None and row.by else None
    if seat is None or own is None:
        return
    if row.at < own:
        yield Invariant.PLAYED_FOR_TOO_EARLY, _early(seat, own - row.at)
    given = clock.given.get(seat, 0)
    lost = overlap_milliseconds(outages, own - clock.allowed(seat) - given, own) - given
    if lost > 0 and seat not in clock.away and seat not in clock.times.bots:
        yield Invariant.CREDIT_WRONG, f"seat {seat} lost {lost} ms in an outage, which were not given back"


def _credit_broken(row: Row, clock: Clock, outages: Sequence[Outage]) -> Iterator[tuple[Invariant, str]]:
    # The seat that has waited longest decides, since it was asked: an outage may become known late.
    given = clock.given
    waiting = [(at - given.get(seat, 0), given.get(seat, 0)) for seat, at in clock.since.items() if at is not None]
    asked, before = min(waiting, default=(row.at, 0))
    due = overlap_milliseconds(outages, asked, row.at) - before
    if not 0 < row.credited <= due:
        yield Invariant.CREDIT_WRONG, f"{row.credited} ms were given back, of which engines were missing for {due} ms"


def overlap_milliseconds(outages: Sequence[Outage], since: int, until: int) -> int:
    """How much of a time lies in any of some outages, which may overlap."""
    total = 0
    for began, ended in sorted(outages):
        began, ended = max(began, since), min(ended, until)
        if began < ended:
            total += ended - began
            since = ended
    return total
