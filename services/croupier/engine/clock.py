"""The clock of a table, folded from the times in its log: who is to act since when, and what reserves are left."""

from operator import add
from typing import NamedTuple

from croupier.engine.log import ActedBy, ClockConfig, Entry, SeatConfig
from croupier.games.facts import Seat
from croupier.games.interface import ProposalAgreed, SeatActed

AWAY_MILLISECONDS = 3_000
"""A seat whose time ran out gets this long for each action, until its player acts again."""
NOBODY_WAITS = -1


class ClockState(NamedTuple):
    """By seat: since when it is to act (milliseconds since 1970 UTC, or -1), its reserve, and whether it is away.

    `credited` is how many milliseconds were given back since the seat was asked, by which `since` is later than that.
    """

    since: tuple[int, ...]
    reserves: tuple[int, ...]
    away: tuple[bool, ...]
    credited: tuple[int, ...]


class Due(NamedTuple):
    """When the engine acts for which seat, in milliseconds since 1970 UTC."""

    at: int
    seat: Seat


def new_clock(seats: int, config: ClockConfig) -> ClockState:
    """The clock before the first entry."""
    return ClockState((NOBODY_WAITS,) * seats, (config.reserve_milliseconds,) * seats, (False,) * seats, (0,) * seats)


def clock_after(clock: ClockState, config: ClockConfig, entry: Entry, seats_to_act: tuple[Seat, ...]) -> ClockState:
    """The clock after an event of the game, when these seats are to act; what all agreed to begins everybody's anew."""
    since, reserves, away, credited = clock
    actor: Seat | None = None
    if isinstance(entry.event, SeatActed):
        actor = entry.event.seat
        overtime = entry.at - since[actor] - config.action_milliseconds
        if overtime > 0 and not away[actor]:
            reserves = (*reserves[:actor], max(0, reserves[actor] - overtime), *reserves[actor + 1 :])
        is_away = entry.acted_by is ActedBy.TIMEOUT
        if is_away != away[actor]:
            away = (*away[:actor], is_away, *away[actor + 1 :])
    begins_anew = isinstance(entry.event, ProposalAgreed)
    waiting, given_back = [NOBODY_WAITS] * len(since), [0] * len(since)
    for seat in seats_to_act:
        # A seat that was to act already, and has not acted now, goes on waiting on the same clock.
        is_new = seat == actor or since[seat] == NOBODY_WAITS or begins_anew
        waiting[seat] = entry.at if is_new else since[seat]
        given_back[seat] = 0 if is_new else credited[seat]
    return ClockState(tuple(waiting), reserves, away, tuple(given_back))


def clock_after_credit(clock: ClockState, milliseconds: int) -> ClockState:
    """The clock after time was given back: as if those to act had been asked so much later."""
    given = [0 if started == NOBODY_WAITS else milliseconds for started in clock.since]
    return clock._replace(since=tuple(map(add, clock.since, given)), credited=tuple(map(add, clock.credited, given)))


def next_due(clock: ClockState, config: ClockConfig, seats: tuple[SeatConfig, ...]) -> Due | None:
    """The first seat for which the engine acts, and when; None when nobody is to act."""
    dues = [
        Due(started + _allowed(clock, config, seats[seat], seat), seat)
        for seat, started in enumerate(clock.since)
        if started != NOBODY_WAITS
    ]
    return min(dues, default=None)


def _allowed(clock: ClockState, config: ClockConfig, who: SeatConfig, seat: Seat) -> int:
    if who.bot:
        return config.bot_delay_milliseconds
    if clock.away[seat]:
        return min(AWAY_MILLISECONDS, config.action_milliseconds)
    return config.action_milliseconds + clock.reserves[seat]
