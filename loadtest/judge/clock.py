"""The clock of a table, counted from the times in its log as the contract and decision 10 describe it."""

from dataclasses import dataclass, field

from croupier_api.v1 import engine_pb2, table_pb2

AWAY_MILLISECONDS = 3_000
"""So long a seat has whose time ran out, until its player acts again; less if an action has less."""


@dataclass(slots=True)
class Clock:
    """Since when who is to act, and who has what reserve; a time that cannot be known is None."""

    info: table_pb2.TableInfo
    reserves: list[int]
    away: set[int]
    since: dict[int, int | None] = field(default_factory=dict)
    """By seat to act."""

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
        if self.info.seats[seat].bot:
            return self.info.clock.bot_delay_milliseconds
        action = self.info.clock.action_seconds * 1000
        return min(AWAY_MILLISECONDS, action) if seat in self.away else action + self.reserves[seat]

    def go_on(self, update: engine_pb2.TableUpdate, seats_to_act: list[int], *, is_aside: bool) -> None:
        """Pass an entry of the log, after which these seats are to act."""
        at, had_to_act = update.at_milliseconds, bool(self.since)
        if is_aside:
            credited = update.credited_milliseconds
            self.since = {seat: since and since + credited for seat, since in self.since.items()}
            return
        actor = update.seat if update.HasField("seat") else None
        if actor is not None:
            self._act(actor, update)
        # Cards are shuffled when nobody is to act; what happens before somebody's eyes without him, all agreed to.
        begins_anew = actor is None and had_to_act
        self.since = {
            seat: at if begins_anew or seat == actor or seat not in self.since else self.since[seat]
            for seat in seats_to_act
        }

    def _act(self, actor: int, update: engine_pb2.TableUpdate) -> None:
        since = self.since.get(actor)
        overtime = update.at_milliseconds - since - self.info.clock.action_seconds * 1000 if since is not None else 0
        if actor not in self.away:
            self.reserves[actor] = max(0, self.reserves[actor] - max(0, overtime))
        is_away = update.acted_by == engine_pb2.ACTED_BY_TIMEOUT
        (self.away.add if is_away else self.away.discard)(actor)


def clock_at(
    info: table_pb2.TableInfo, view: table_pb2.TableView, told: engine_pb2.TurnClock, *, is_first: bool
) -> Clock:
    """The clock at the moment when somebody began to listen, from what he was told.

    Where several are to act and it is not the first entry, one deadline does not tell since when each of them is.
    """
    clock = Clock(info, list(told.reserve_milliseconds), set(told.away_seats))
    seats = list(view.seats_to_act)
    allowed = min(map(clock.allowed, seats), default=0)
    is_told = is_first or len(seats) == 1
    clock.since = dict.fromkeys(seats, told.deadline_milliseconds - allowed if is_told else None)
    return clock
