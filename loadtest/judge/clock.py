"""The clock of a table, counted from the times in its log as the contract and decision 10 describe it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from croupier_api.v1 import engine_pb2, table_pb2

AWAY_MILLISECONDS = 3_000
"""So long a seat has whose time ran out, until its player acts again; less if an action has less."""


class Times(NamedTuple):
    """How much time there is, in milliseconds, and which seats are computer players'."""

    action: int
    bot_delay: int
    bots: frozenset[int]


class Passed(NamedTuple):
    """What a clock needs of an entry; `credited` are the milliseconds that it gives back."""

    at: int
    actor: int | None
    is_timeout: bool
    credited: int
    is_aside: bool


@dataclass(slots=True)
class Clock:
    """Since when who is to act, and who has what reserve; a time that cannot be known is None."""

    times: Times
    reserves: list[int]
    away: set[int] = field(default_factory=set)
    since: dict[int, int | None] = field(default_factory=dict)
    """By seat to act, counted from so much later as time was given back."""
    given: dict[int, int] = field(default_factory=dict)
    """By seat to act the milliseconds that were given back."""

    @property
    def is_certain(self) -> bool:
        """Whether it is known since when each of those who are to act is."""
        return None not in self.since.values()

    def deadline_of(self, seat: int) -> int | None:
        """When the engine acts for a seat that is to act."""
        since = self.since.get(seat)
        return since + self.allowed(seat) if since is not None else None

    @property
    def deadline(self) -> int | None:
        """When the engine acts for the first of those who are to act, 0 if nobody is; None if that is not known."""
        deadlines = [at for seat in self.since if (at := self.deadline_of(seat)) is not None]
        return min(deadlines, default=0) if self.is_certain else None

    def allowed(self, seat: int) -> int:
        """How many milliseconds a seat has for its action."""
        if seat in self.times.bots:
            return self.times.bot_delay
        action = self.times.action
        return min(AWAY_MILLISECONDS, action) if seat in self.away else action + self.reserves[seat]

    def go_on(self, passed: Passed, seats_to_act: Sequence[int]) -> None:
        """Pass an entry of the log, after which these seats are to act."""
        had_to_act = bool(self.since)
        if passed.is_aside:
            self.since = {seat: since and since + passed.credited for seat, since in self.since.items()}
            self.given = {seat: self.given.get(seat, 0) + passed.credited for seat in self.since}
            return
        if passed.actor is not None:
            self._act(passed.actor, passed)
        # Cards are shuffled when nobody is to act; what happens before somebody's eyes without him, all agreed to.
        begins_anew = passed.actor is None and had_to_act
        waiting = self.since.keys() - ({*self.since} if begins_anew else {passed.actor})
        self.since = {seat: self.since[seat] if seat in waiting else passed.at for seat in seats_to_act}
        self.given = {seat: self.given.get(seat, 0) if seat in waiting else 0 for seat in seats_to_act}

    def _act(self, actor: int, passed: Passed) -> None:
        since = self.since.get(actor)
        overtime = passed.at - since - self.times.action if since is not None else 0
        if actor not in self.away:
            self.reserves[actor] = max(0, self.reserves[actor] - max(0, overtime))
        (self.away.add if passed.is_timeout else self.away.discard)(actor)


def clock_at(
    info: table_pb2.TableInfo, view: table_pb2.TableView, told: engine_pb2.TurnClock, *, is_first: bool
) -> Clock:
    """The clock at the moment when somebody began to listen, from what he was told.

    Where several are to act and it is not the first entry, one deadline does not tell since when each of them is.
    """
    bots = frozenset(seat for seat, who in enumerate(info.seats) if who.bot)
    given = info.clock
    times = Times(given.action_seconds * 1000, given.bot_delay_milliseconds, bots)
    clock = Clock(times, list(told.reserve_milliseconds), set(told.away_seats))
    seats = list(view.seats_to_act)
    allowed = min(map(clock.allowed, seats), default=0)
    is_told = is_first or len(seats) == 1
    clock.since = dict.fromkeys(seats, told.deadline_milliseconds - allowed if is_told else None)
    return clock


def passed_in(update: engine_pb2.TableUpdate, *, is_aside: bool) -> Passed:
    """An entry as a stream told it."""
    actor = update.seat if update.HasField("seat") and not is_aside else None
    is_timeout = update.acted_by == engine_pb2.ACTED_BY_TIMEOUT
    return Passed(update.at_milliseconds, actor, is_timeout, update.credited_milliseconds, is_aside)
