"""The clock of a table, folded from the times in its log: since when seats are to act, and their reserves."""

from operator import add
from typing import NamedTuple

from croupier.engine.core.log import ActedBy, ClockConfig, Entry, SeatConfig
from croupier.games.facts import Seat
from croupier.games.interface import ProposalAgreed, SeatActed

AWAY_MILLISECONDS = 3_000
"""The time for each action of a seat that is away: its time ran out, and its player has not acted since."""
NOT_WAITING = -1


class ClockState(NamedTuple):
    """By seat: since when it is to act (milliseconds since 1970 UTC, or NOT_WAITING), its reserve, whether it is away.

    `compensated`: the milliseconds by which compensations have moved `since`. `timeouts`: how often its time ran out.
    `left` is the seat that went away last, 0 before any, and `left_at` the time of that, moved by compensations.
    """

    since: tuple[int, ...]
    reserves: tuple[int, ...]
    away: tuple[bool, ...]
    compensated: tuple[int, ...]
    timeouts: tuple[int, ...]
    left: Seat = 0
    left_at: int = 0


class Due(NamedTuple):
    """The time at which the engine acts for a seat, in milliseconds since 1970 UTC."""

    at: int
    seat: Seat


def new_clock(seats: int, config: ClockConfig) -> ClockState:
    """Return the clock before the first entry."""
    none = (0,) * seats
    return ClockState((NOT_WAITING,) * seats, (config.reserve_milliseconds,) * seats, (False,) * seats, none, none)


def clock_after(clock: ClockState, config: ClockConfig, entry: Entry, seats_to_act: tuple[Seat, ...]) -> ClockState:
    """Return the clock after an event of the game that leaves these seats to act.

    An agreement of all seats restarts the clock of each of them.
    """
    since, reserves, away, compensated, timeouts, left, left_at = clock
    actor: Seat | None = None
    if isinstance(entry.event, SeatActed):
        actor = entry.event.seat
        overtime = entry.at - since[actor] - config.action_milliseconds
        if overtime > 0 and not away[actor]:
            reserves = (*reserves[:actor], max(0, reserves[actor] - overtime), *reserves[actor + 1 :])
        is_away = entry.acted_by is ActedBy.TIMEOUT
        if is_away != away[actor]:
            away = (*away[:actor], is_away, *away[actor + 1 :])
            if is_away:
                left, left_at = actor, entry.at
        if is_away:
            timeouts = (*timeouts[:actor], timeouts[actor] + 1, *timeouts[actor + 1 :])
    restarts = isinstance(entry.event, ProposalAgreed)
    waiting, still_compensated = [NOT_WAITING] * len(since), [0] * len(since)
    for seat in seats_to_act:
        # A seat that was to act already, and has not acted now, keeps its clock.
        is_new = seat == actor or since[seat] == NOT_WAITING or restarts
        waiting[seat] = entry.at if is_new else since[seat]
        still_compensated[seat] = 0 if is_new else compensated[seat]
    return ClockState(tuple(waiting), reserves, away, tuple(still_compensated), timeouts, left, left_at)


def clock_after_compensation(clock: ClockState, milliseconds: int) -> ClockState:
    """Return the clock after a compensation, as if the seats to act had been asked so much later."""
    moved = [0 if started == NOT_WAITING else milliseconds for started in clock.since]
    since, compensated = map(add, clock.since, moved), map(add, clock.compensated, moved)
    left_at = clock.left_at + milliseconds
    return clock._replace(since=tuple(since), compensated=tuple(compensated), left_at=left_at)


def next_due(clock: ClockState, config: ClockConfig, seats: tuple[SeatConfig, ...]) -> Due | None:
    """Return the first seat for which the engine acts, and when; None if no seat is to act.

    At a deserted table it does not act for the person who went away last, and the table ends at its time.
    """
    ends_at = abandoned_at(clock, config, seats)
    dues = [
        Due(started + _allowed(clock, config, seats[seat], seat), seat)
        for seat, started in enumerate(clock.since)
        if started != NOT_WAITING
    ]
    if ends_at is not None:
        dues = [Due(ends_at if seat == clock.left else min(at, ends_at), seat) for at, seat in dues]
    return min(dues, default=None)


def abandoned_at(clock: ClockState, config: ClockConfig, seats: tuple[SeatConfig, ...]) -> int | None:
    """Return the time at which a deserted table ends, whose people are all away; None for any other table."""
    if not (clock.away[clock.left] and config.abandoned_milliseconds):
        return None
    if not all(away or who.bot for away, who in zip(clock.away, seats, strict=True)):
        return None
    return clock.left_at + max(config.abandoned_milliseconds, config.action_milliseconds)


def _allowed(clock: ClockState, config: ClockConfig, who: SeatConfig, seat: Seat) -> int:
    if who.bot:
        return config.bot_delay_milliseconds
    if clock.away[seat]:
        return min(AWAY_MILLISECONDS, config.action_milliseconds)
    return config.action_milliseconds + clock.reserves[seat]
