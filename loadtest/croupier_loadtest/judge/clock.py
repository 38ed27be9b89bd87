"""The clock of a table, computed from the times in its log as the contract and decision 10 define it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from croupier_api.v1 import engine_pb2, facts_pb2, tables_pb2
from croupier_loadtest.judge.rules.interface import Card

AWAY_MILLISECONDS = 3_000
"""The time for an action of a seat that is away after a time-out, at tables of earlier versions."""


class ClockSettings(NamedTuple):
    """The times of a table in milliseconds, and the seats of bots.

    `abandoned`: the time after which the table ends while all people are away; 0 if the engine plays on for them.
    """

    action: int
    bot_delay: int
    bots: frozenset[int]
    abandoned: int
    away: int
    """For an action of a seat that is away after a time-out; less if an action has less."""


class PublicEntry(NamedTuple):
    """The public part of an entry.

    `by` is the contract's number for the cause, `compensation` is in milliseconds, `is_abandonment` is the end of a
    table whose people are all away, `cards` are those that the seat puts on the table, none if that is not known.
    `is_away` is whether the player of the seat left it, or else returned; None in every other entry.
    """

    at: int
    seat: int | None
    by: int
    compensation: int
    is_meta: bool
    is_abandonment: bool
    cards: tuple[Card, ...]
    is_away: bool | None = None

    @property
    def actor(self) -> int | None:
        """The seat of an action; else None."""
        return None if self.is_meta else self.seat

    def can_be(self, other: "PublicEntry") -> bool:
        """Return whether both can be the same entry: with an action, a game may move cards that it does not name."""
        are_known = self.cards and other.cards
        return self == (other if are_known else other._replace(cards=self.cards))


class Absences(NamedTuple):
    """The seats that the engine plays for until their players act or return, and those of them that were left."""

    away: frozenset[int] = frozenset()
    left: frozenset[int] = frozenset()

    def after(self, entry: PublicEntry) -> "Absences":
        """Return the absences after an entry."""
        if entry.seat is None or (entry.is_meta and entry.is_away is None):
            return self
        seat = {entry.seat}
        if entry.is_away:
            return Absences(self.away | seat, self.left | seat)
        if entry.by == engine_pb2.ACTED_BY_TIMEOUT:
            return Absences(self.away | seat, self.left)
        return Absences(self.away - seat, self.left - seat)

    def are_as_asked(self, seat: int, *, is_away: bool) -> bool:
        """Return whether a player has nothing to change who leaves their seat, or returns."""
        return seat in self.left if is_away else seat not in self.away


@dataclass(slots=True)
class Clock:
    """The start times and reserves of seats; a start time that cannot be known is None."""

    settings: ClockSettings
    reserves: list[int]
    absences: Absences = field(default_factory=Absences)
    left_in_turn: dict[int, int] = field(default_factory=dict)
    """The seats that were left in a turn in which the engine has not acted for them, with the times of that."""
    since: dict[int, int | None] = field(default_factory=dict)
    """By seat to act, the start of its time, moved by the compensation."""
    compensated: dict[int, int] = field(default_factory=dict)
    """By seat to act, the milliseconds of compensation."""
    resumed: int = 0
    """The time at which a player came back to a deserted table, the last time; 0 before."""
    left: tuple[int, int] | None = None
    """The seat that went away last, and the time of that, moved by the compensation; None if it is not known."""

    @property
    def is_certain(self) -> bool:
        """Whether the deadlines of all seats to act can be known."""
        return None not in self.since.values() and not (self.is_deserted and self.left is None)

    def deadline_of(self, seat: int) -> int | None:
        """Return the time at which the engine acts for a seat, or a deserted table ends; None if it is not known."""
        since = self.since.get(seat)
        if since is None or not self.is_deserted:
            return since + self.allowed(seat) if since is not None else None
        if self.left is None or self.ends_at is None:
            return None
        # The engine plays for the others until the table waits for the one who went away last.
        return self.ends_at if seat == self.left[0] else min(since + self.allowed(seat), self.ends_at)

    @property
    def deadline(self) -> int | None:
        """The earliest deadline of the seats to act, 0 without any; None if it is not known."""
        return self.due[0] if self.is_certain else None

    @property
    def due(self) -> tuple[int, int | None]:
        """The earliest known deadline of the seats to act, with its seat; 0 and None without any."""
        deadlines = [(at, seat) for seat in self.since if (at := self.deadline_of(seat)) is not None]
        return min(deadlines, default=(0, None))

    @property
    def is_deserted(self) -> bool:
        """Whether all people are away."""
        return self.settings.abandoned > 0 and len(self.absences.away | self.settings.bots) == len(self.reserves)

    @property
    def ends_at(self) -> int | None:
        """The time at which a deserted table ends; None for another, or if it is not known."""
        if not self.is_deserted or self.left is None:
            return None
        return self.left[1] + max(self.settings.abandoned, self.settings.action)

    def allowed(self, seat: int) -> int:
        """Return the milliseconds that a seat has for its action, unless a deserted table waits for it."""
        if seat in self.settings.bots | self.absences.left:
            return self.settings.bot_delay
        action = self.settings.action
        if seat not in self.absences.away:
            return action + self.reserves[seat]
        return min(self.settings.away, action)

    def advance(self, entry: PublicEntry, seats_to_act: Sequence[int]) -> None:
        """Apply an entry of the log, after which these seats are to act."""
        was_deserted = self.is_deserted
        self._apply(entry, seats_to_act)
        if was_deserted and not self.is_deserted:
            self.resumed = entry.at

    def _apply(self, entry: PublicEntry, seats_to_act: Sequence[int]) -> None:
        had_to_act = bool(self.since)
        if entry.is_meta:
            self.since = {seat: since and since + entry.compensation for seat, since in self.since.items()}
            self.compensated = {seat: self.compensated.get(seat, 0) + entry.compensation for seat in self.since}
            self.left = self.left and (self.left[0], self.left[1] + entry.compensation)
            if entry.seat is not None and entry.is_away is not None:
                self._set_away(entry.seat, entry.at, is_away=entry.is_away)
            self.absences = self.absences.after(entry)
            return
        if entry.actor is not None:
            self._act(entry.actor, entry)
            self.absences = self.absences.after(entry)
        # Shuffles have no seats to act; other entries without an actor are proposals that all have agreed to.
        restarts = entry.actor is None and had_to_act
        waiting = self.since.keys() - ({*self.since} if restarts else {entry.actor})
        self.since = {seat: self.since[seat] if seat in waiting else entry.at for seat in seats_to_act}
        self.compensated = {seat: self.compensated.get(seat, 0) if seat in waiting else 0 for seat in seats_to_act}

    def _act(self, actor: int, entry: PublicEntry) -> None:
        since = self.since.get(actor)
        overtime = entry.at - since - self.settings.action if since is not None else 0
        was_away = actor in self.absences.away
        if not was_away or actor in self.left_in_turn:
            self.reserves[actor] = max(0, self.reserves[actor] - max(0, overtime))
        self.left_in_turn.pop(actor, None)
        if entry.by == engine_pb2.ACTED_BY_TIMEOUT and not was_away:
            self.left = actor, entry.at

    def _set_away(self, seat: int, at: int, *, is_away: bool) -> None:
        if not is_away:
            if self.since.get(seat) is not None and seat not in self.left_in_turn:
                # A turn that began while the player was away begins anew.
                self.since[seat], self.compensated[seat] = at, 0
            self.left_in_turn.pop(seat, None)
        elif seat not in self.absences.away:
            self.left = seat, at
            if seat in self.since:
                self.left_in_turn[seat] = at


def absences_shown(clock: engine_pb2.TurnClock) -> Absences:
    """Return the absences that a clock shows."""
    return Absences(frozenset(clock.away_seats), frozenset(clock.left_seats))


def clock_at(
    info: tables_pb2.PlayedTable,
    view: facts_pb2.TableView,
    received: engine_pb2.TurnClock,
    abandoned: int,
    *,
    is_first: bool,
) -> Clock:
    """Return the clock at the first message of a viewer.

    Except at the first entry, one deadline does not determine the start times of several seats.
    """
    bots = frozenset(seat for seat, occupant in enumerate(info.seats) if occupant.bot)
    limits = info.time_control
    action, delay, away = (one.ToMilliseconds() for one in (limits.action_time, limits.bot_delay, limits.away_time))
    settings = ClockSettings(action, delay, bots, abandoned, away)
    seats, absences = list(view.seats_to_act), absences_shown(received)
    clock = Clock(settings, list(received.reserve_ms), absences)
    allowed = min(map(clock.allowed, seats), default=0)
    # Whether a seat was left in this turn is not known either.
    is_known = (is_first or len(seats) == 1) and not clock.is_deserted and absences.left.isdisjoint(seats)
    clock.since = dict.fromkeys(seats, received.deadline_unix_ms - allowed if is_known else None)
    return clock
