"""No seat is played for before its time is over, and none is waited for much longer than that."""

from collections.abc import Iterator, Mapping, Sequence

from croupier_api.v1 import engine_pb2
from loadtest.judge.clock import Clock, clock_at, passed_in
from loadtest.judge.log import Log
from loadtest.judge.streams import Followed
from loadtest.judge.violations import Invariant, Violation

THINKING_MILLISECONDS = 10_000
"""So much longer computer players may take that think, when many of them do."""
SILENT_MILLISECONDS = 12_500
"""So much after a deadline the stream may still go on; it may have waited for its reader."""


def broken_deadlines(table_id: str, log: Log, late: int | None) -> Iterator[Violation]:
    """Entries that came before the time was over, or too long after it; and clocks that are not counted rightly.

    `late` are the milliseconds by which an engine may act later; None for any.
    """
    clock: Clock | None = None
    for sequence in range(1, log.last + 1):
        moment, update = log.moments.get(sequence), log.entries.get(sequence)
        before = log.moments.get(sequence - 1)
        if update is not None and before is not None:
            yield from _judged(table_id, log, update, before.clock, clock, late)
        if moment is None:
            clock = None
        elif clock is None or update is None:
            clock = clock_at(log.info, moment.view, moment.clock, is_first=sequence == 1)
        else:
            is_certain = clock.is_certain
            passed = passed_in(update, is_aside=sequence in log.asides)
            clock.go_on(passed, list(moment.view.seats_to_act))
            if not is_certain:
                clock.reserves = list(moment.clock.reserve_milliseconds)
            yield from _wrongly_counted(table_id, sequence, clock, moment.clock)


def _judged(
    table_id: str,
    log: Log,
    update: engine_pb2.TableUpdate,
    told: engine_pb2.TurnClock,
    clock: Clock | None,
    late: int | None,
) -> Iterator[Violation]:
    at, seat = update.at_milliseconds, update.seat
    deadline = told.deadline_milliseconds
    own = clock.deadline_of(seat) if clock is not None and update.HasField("seat") else None
    if update.acted_by and at < max(deadline, own or 0):
        detail = f"seat {seat} was played for {max(deadline, own or 0) - at} ms before its time was over"
        yield Violation(Invariant.PLAYED_FOR_TOO_EARLY, table_id, update.sequence, detail)
    counted = clock.deadline if clock is not None else None
    first = min(deadline, counted) if counted else deadline
    is_judged = deadline and late is not None and not update.credited_milliseconds
    if is_judged and at > first + (late or 0) + _thinking(log, update.sequence):
        detail = f"the table was waited for until {at - first} ms after the deadline"
        yield Violation(Invariant.DEADLINE_MISSED, table_id, update.sequence, detail)


def _thinking(log: Log, sequence: int) -> int:
    """How much longer those may take who are to act, if they are computer players."""
    waited_for = log.seats_to_act(sequence - 1) or []
    thinks = any(log.info.seats[seat].bot for seat in waited_for if seat < len(log.info.seats))
    return THINKING_MILLISECONDS * thinks


def _wrongly_counted(table_id: str, sequence: int, clock: Clock, told: engine_pb2.TurnClock) -> Iterator[Violation]:
    counted = clock.deadline
    pairs = {
        "deadline": (told.deadline_milliseconds, counted if counted is not None else told.deadline_milliseconds),
        "reserves": (list(told.reserve_milliseconds), clock.reserves),
        "seats away": (list(told.away_seats), sorted(clock.away)),
    }
    if clock.is_certain:
        for what, (it, own) in pairs.items():
            if it != own:
                detail = f"the clock's {what} told is {it}, counted from the times of the log it is {own}"
                yield Violation(Invariant.VIEW_DIFFERS, table_id, sequence, detail)


def waited_in_vain(table_id: str, log: Log, followed: Sequence[Followed]) -> Iterator[Violation]:
    """A deadline that passed while streams told that nothing happens."""
    moment = log.moments.get(log.last)
    if moment is None or not moment.clock.deadline_milliseconds:
        return
    passed_by = [
        heard_at - ahead - moment.clock.deadline_milliseconds
        for one in followed
        for heard_at, sequence in [one.last_heard]
        if sequence == log.last and (ahead := _clock_ahead(one.heard_at, one.updates)) is not None
    ]
    longest = max(passed_by, default=0)
    if longest > SILENT_MILLISECONDS + _thinking(log, log.last + 1):
        detail = f"nobody acted though the deadline passed {longest} ms ago"
        yield Violation(Invariant.DEADLINE_MISSED, table_id, log.last, detail)


def _clock_ahead(heard_at: Mapping[int, int], updates: Mapping[int, engine_pb2.TableUpdate]) -> int | None:
    """How far the players' clock is ahead of the services' at most, by the entry that was heard of soonest."""
    ahead = [at - updates[sequence].at_milliseconds for sequence, at in heard_at.items()]
    return min(ahead, default=None)
