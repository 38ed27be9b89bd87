"""The clock of a table, folded from the times in its log: since when seats are to act, and their reserves."""

from enum import IntEnum
from operator import add
from typing import NamedTuple, TypeVar

from croupier.engine.core.log import ActedBy, ClockConfig, LoggedEvent, SeatConfig
from croupier.games.facts import Seat
from croupier.games.interface import ProposalAgreed, SeatActed

NOT_WAITING = -1


class Absence(IntEnum):
    """Whether the engine plays for a seat, and why."""

    NONE = 0
    TIMED_OUT = 1
    """Its time ran out, and its player has neither acted nor returned since."""
    LEFT = 2
    """Its player left it, and has neither acted nor returned since."""
    LEFT_IN_TURN = 3
    """The same, during a turn in which the engine has not acted for it: on return it has the time that it had."""


class ClockState(NamedTuple):
    """By seat: since when it is to act (milliseconds since 1970 UTC, or NOT_WAITING), its reserve, its absence.

    `compensated`: the milliseconds by which compensations have moved `since`. `timeouts`: how often the engine acted
    for its player. `last_away` is the seat that went away last, 0 before any, and `last_away_at` the time of that,
    moved by compensations.
    """

    since: tuple[int, ...]
    reserves: tuple[int, ...]
    absences: tuple[Absence, ...]
    compensated: tuple[int, ...]
    timeouts: tuple[int, ...]
    last_away: Seat = 0
    last_away_at: int = 0


class Due(NamedTuple):
    """The time at which the engine acts for a seat, in milliseconds since 1970 UTC."""

    at: int
    seat: Seat


def new_clock(seats: int, config: ClockConfig) -> ClockState:
    """Return the clock before the first entry."""
    none, present = (0,) * seats, (Absence.NONE,) * seats
    return ClockState((NOT_WAITING,) * seats, (config.reserve_milliseconds,) * seats, present, none, none)


def clock_after(
    clock: ClockState,
    config: ClockConfig,
    at: int,
    event: LoggedEvent,
    acted_by: ActedBy,
    seats_to_act: tuple[Seat, ...],
) -> ClockState:
    """Return the clock after an event at `at` (milliseconds since 1970 UTC) that leaves these seats to act.

    An agreement of all seats restarts the clock of each of them.
    """
    actor: Seat | None = None
    if isinstance(event, SeatActed):
        actor = event.seat
        clock = _clock_after_action(clock, config, at, actor, acted_by)
    since, reserves, absences, compensated, timeouts, last_away, last_away_at = clock
    restarts = isinstance(event, ProposalAgreed)
    waiting, still_compensated = [NOT_WAITING] * len(since), [0] * len(since)
    for seat in seats_to_act:
        # A seat that was to act already, and has not acted now, keeps its clock.
        if seat == actor or since[seat] == NOT_WAITING or restarts:
            waiting[seat] = at
        else:
            waiting[seat], still_compensated[seat] = since[seat], compensated[seat]
    still = tuple(still_compensated)
    return ClockState(tuple(waiting), reserves, absences, still, timeouts, last_away, last_away_at)


def _clock_after_action(clock: ClockState, config: ClockConfig, at: int, actor: Seat, acted_by: ActedBy) -> ClockState:
    before = clock.absences[actor]
    overtime = at - clock.since[actor] - config.action_milliseconds
    if overtime <= 0 and not before and not acted_by:
        # Nearly always: the player acted in time.
        return clock
    if overtime > 0 and before in (Absence.NONE, Absence.LEFT_IN_TURN):
        clock = clock._replace(reserves=_with(clock.reserves, actor, max(0, clock.reserves[actor] - overtime)))
    if acted_by is not ActedBy.TIMEOUT:
        return _clock_with(clock, actor, Absence.NONE, at)
    clock = clock._replace(timeouts=_with(clock.timeouts, actor, clock.timeouts[actor] + 1))
    return _clock_with(clock, actor, Absence.LEFT if before >= Absence.LEFT else Absence.TIMED_OUT, at)


def clock_after_away(clock: ClockState, seat: Seat, at: int, *, is_away: bool) -> ClockState:
    """Return the clock after the player of a seat left it, or returned to it.

    A seat that returns in its turn has all of its time from then on, unless it left in the same turn: else its player
    could hold the table up.
    """
    before, is_to_act = clock.absences[seat], clock.since[seat] != NOT_WAITING
    if is_away:
        absence = Absence.LEFT_IN_TURN if is_to_act and not before else Absence.LEFT
        return _clock_with(clock, seat, absence, at)
    if is_to_act and before is not Absence.LEFT_IN_TURN:
        clock = clock._replace(since=_with(clock.since, seat, at), compensated=_with(clock.compensated, seat, 0))
    return _clock_with(clock, seat, Absence.NONE, at)


def _clock_with(clock: ClockState, seat: Seat, absence: Absence, at: int) -> ClockState:
    before = clock.absences[seat]
    if absence is before:
        return clock
    clock = clock._replace(absences=_with(clock.absences, seat, absence))
    return clock._replace(last_away=seat, last_away_at=at) if absence and not before else clock


Value = TypeVar("Value")


def _with(values: tuple[Value, ...], seat: Seat, value: Value) -> tuple[Value, ...]:
    return (*values[:seat], value, *values[seat + 1 :])


def clock_after_compensation(clock: ClockState, milliseconds: int) -> ClockState:
    """Return the clock after a compensation, as if the seats to act had been asked so much later."""
    moved = [0 if started == NOT_WAITING else milliseconds for started in clock.since]
    since, compensated = map(add, clock.since, moved), map(add, clock.compensated, moved)
    last_away_at = clock.last_away_at + milliseconds
    return clock._replace(since=tuple(since), compensated=tuple(compensated), last_away_at=last_away_at)


def next_due(clock: ClockState, config: ClockConfig, seats: tuple[SeatConfig, ...]) -> Due | None:
    """Return the first seat for which the engine acts, and when; None if no seat is to act.

    At a deserted table it does not act for the person who went away last, and the table ends at its time.
    """
    ends_at = abandoned_at(clock, config, seats)
    first: Due | None = None
    for seat, started in enumerate(clock.since):
        if started == NOT_WAITING:
            continue
        at = started + _allowed(clock, config, seats[seat], seat)
        if ends_at is not None:
            at = ends_at if seat == clock.last_away else min(at, ends_at)
        if first is None or at < first.at:
            first = Due(at, seat)
    return first


def abandoned_at(clock: ClockState, config: ClockConfig, seats: tuple[SeatConfig, ...]) -> int | None:
    """Return the time at which a deserted table ends, whose people are all away; None for any other table."""
    if not (clock.absences[clock.last_away] and config.abandoned_milliseconds):
        return None
    if not all(absence or who.bot for absence, who in zip(clock.absences, seats, strict=True)):
        return None
    return clock.last_away_at + max(config.abandoned_milliseconds, config.action_milliseconds)


def _allowed(clock: ClockState, config: ClockConfig, who: SeatConfig, seat: Seat) -> int:
    absence = clock.absences[seat]
    if not (who.bot or absence):
        return config.action_milliseconds + clock.reserves[seat]
    if who.bot or absence >= Absence.LEFT:
        return config.bot_delay_milliseconds
    return min(config.away_milliseconds, config.action_milliseconds)
