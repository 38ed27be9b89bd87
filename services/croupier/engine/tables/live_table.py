"""A table in play, with the operations of its players and spectators."""

from croupier.engine.core.access import Need, Visitor, check_access, not_seated
from croupier.engine.core.clock import NOT_WAITING
from croupier.engine.core.fold import TableState, Transition, advance
from croupier.engine.core.folded_table import FoldedTable
from croupier.engine.core.log import ActedBy, Proposed, Voted
from croupier.engine.core.voting import transitions_of_proposal, transitions_of_vote
from croupier.engine.tables.cached_table import CachedTable
from croupier.engine.tables.delayed_fan_out import DelayedFanOut
from croupier.engine.tables.dependencies import TableDependencies
from croupier.engine.tables.subscription import Subscription
from croupier.engine.tables.turn_scheduler import TurnScheduler
from croupier.games.actions import Action
from croupier.games.facts import SPECTATOR, Seat, Viewer
from croupier.games.interface import IllegalAction, SeatActed
from croupier.runtime.errors import IllegalNow, MalformedRequest, StaleSequence, Unavailable
from croupier.runtime.single_flight import SingleFlight
from croupier_api.v1 import errors_pb2

MAX_CLOCK_DIFFERENCE_MILLISECONDS = 2_000
"""Between the clocks of two engines, which follow that of the database."""


class LiveTable(CachedTable):
    """A table in memory with its seats and its turn scheduler."""

    def __init__(self, folded: FoldedTable, services: TableDependencies, network: str = "") -> None:
        """Take over a folded table, which a player of a network created, and schedule its turn."""
        super().__init__(folded, services, network)
        self._seats = {who.player_id: seat for seat, who in enumerate(self.config.seats) if not who.bot}
        self._scheduler: TurnScheduler | None = TurnScheduler(self)
        """None once the table is retired."""
        self._opening_delayed: SingleFlight[DelayedFanOut] = SingleFlight()
        self.schedule_turn()

    # Changing the table

    async def act(self, seat: Seat, action: Action, request_id: str, expected_sequence: int | None) -> int:
        """Act for a player's seat; return the action's sequence once it is durable.

        Raises IllegalNow, StaleSequence, AlreadyExists for a request id of another request, and Unavailable if the
        store failed; then the same request should be sent again.
        """
        return await self.append_once(
            SeatActed(seat, action),
            request_id,
            lambda: self._transitions_of_player(seat, action, request_id, expected_sequence),
        )

    def _transitions_of_player(
        self, seat: Seat, action: Action, request_id: str, expected: int | None
    ) -> list[Transition]:
        if expected is not None and expected != self.state.sequence:
            raise StaleSequence(
                errors_pb2.ERROR_REASON_STALE_SEQUENCE,
                f"invalid expected_sequence {expected}: expected {self.state.sequence}, the table has moved on",
                metadata={"sequence": str(self.state.sequence)},
            )
        self._refuse_if_over()
        event, now = SeatActed(seat, action), self.services.clock()
        compensation = self._compensation_for(seat, now)
        state = compensation[-1].after if compensation else self.state
        try:
            return compensation + advance(self.config, state, now, event, ActedBy.PLAYER, request_id)
        except IllegalAction as refusal:
            is_to_act = seat in self.state.seats_to_act
            reason = errors_pb2.ERROR_REASON_ILLEGAL_ACTION if is_to_act else errors_pb2.ERROR_REASON_NOT_YOUR_TURN
            raise IllegalNow(reason, str(refusal), metadata={"rule": refusal.rule}) from None

    def _compensation_for(self, seat: Seat, now: int) -> list[Transition]:
        """Return the compensation before an action of a seat that exceeds its action time; none if no time is due."""
        since, is_away = self.state.clock.since[seat], self.state.clock.away[seat]
        if is_away or since == NOT_WAITING or now - since <= self.config.clock.action_milliseconds:
            return []
        return self.compensation(now)

    async def propose(self, seat: Seat, proposal: str, request_id: str) -> int:
        """Create a proposal of a seat, which agrees with it; return the sequence once it is durable.

        Raises MalformedRequest, IllegalNow, LimitReached, AlreadyExists and Unavailable as act() does.
        """
        proposed = Proposed(seat, proposal, expires_at=0)

        def transitions_of_request() -> list[Transition]:
            self._refuse_if_over()
            now = self.services.clock()
            return transitions_of_proposal(self.config, self.state, self.proposed_at(seat), now, proposed, request_id)

        return await self.append_once(proposed, request_id, transitions_of_request)

    async def vote(self, seat: Seat, proposal_sequence: int, agree: bool, request_id: str) -> int:
        """Cast a seat's vote on a proposal; return the sequence once it is durable.

        Raises IllegalNow, AlreadyExists and Unavailable as act() does.
        """
        voted = Voted(seat, proposal_sequence, agree)

        def transitions_of_request() -> list[Transition]:
            self._refuse_if_over()
            return transitions_of_vote(self.config, self.state, self.services.clock(), voted, request_id)

        return await self.append_once(voted, request_id, transitions_of_request)

    async def catch_up_to(self, sequence: int, viewer: Viewer | None = None) -> None:
        """Read the log if the table may have entries up to a sequence that this engine lacks; raises Unavailable.

        With a viewer also for entries that they do not know yet: the time of the answer would reveal these.
        """
        if self.is_handed_over and not await self.services.liveness.is_alive():
            raise _moved()
        if self.is_handed_over:
            async with self.locked_with_timeout():
                await self.catch_up()
        elif sequence > (self.state if viewer is None else await self.state_for(viewer)).sequence:
            await self.refresh()

    async def require_finished(self, viewer: Viewer) -> None:
        """Raise IllegalNow unless the game is over for a viewer, by the log: a replay shows all hands.

        The log is read for spectators who do not know the end yet too: the time of the answer would reveal it.
        """
        if not self._is_over_for(viewer):
            await self.refresh()
        if not self._is_over_for(viewer):
            raise not_finished()

    def _is_over_for(self, viewer: Viewer) -> bool:
        return self.state.is_over and not (viewer == SPECTATOR and self.is_delayed)

    # Watching

    def check_access(self, visitor: Visitor, need: Need) -> None:
        """Raise NotFound unless a visitor has the access that a call needs, by the last entry known here."""
        check_access(self.config, visitor, need, self.finished_at, self.services.clock())

    def subscribe(self, viewer: Viewer, after_sequence: int | None, network_id: str = "") -> Subscription:
        """Open a stream: a snapshot, or all updates after a sequence unless they are too many, and then live updates.

        Raises LimitReached with too many spectators, MalformedRequest for a sequence that the table has not reached,
        Unavailable if the client has to open the stream again.
        """
        if self._scheduler is None:
            raise _moved()
        if viewer == SPECTATOR and self.is_delayed:
            return self._subscribe_delayed(after_sequence, network_id)
        if after_sequence is None:
            return self.subscribers.join(viewer, self.state, network_id)
        if after_sequence > self.state.sequence:
            raise _ahead(after_sequence, self.state.sequence)
        return self.subscribers.resume(viewer, self.state, self.transitions_after(after_sequence), network_id)

    @property
    def is_delayed(self) -> bool:
        """Whether spectators know an earlier state of the table, by its watch delay."""
        access = self.config.access
        has_delay = access.watch_delay_seconds > 0
        return has_delay and not access.is_over_for_spectators(self.finished_at, self.services.clock())

    @property
    def finished_at(self) -> int | None:
        """The time of the game's end in milliseconds since 1970 UTC, None until then."""
        return self.state.at if self.state.is_over else None

    async def state_for(self, viewer: Viewer) -> TableState:
        """Return the table as a viewer may know it; to be awaited before a spectator subscribes."""
        if viewer != SPECTATOR or not self.is_delayed:
            return self.state
        if (delayed := self.subscribers.delayed) is None:
            delayed, _ = await self._opening_delayed.run(self.config.table_id, self._open_delayed)
        delayed.release()
        return delayed.state

    def entries_to_fold(self, viewer: Viewer) -> int:
        """Return how many entries have to be folded again for a viewer: all for the first of a delayed table."""
        is_first = viewer == SPECTATOR and self.is_delayed and self.subscribers.delayed is None
        return self.state.sequence if is_first else 0

    async def _open_delayed(self) -> DelayedFanOut:
        delayed = DelayedFanOut(self.config, self.services.encoder, self.services.clock)
        while delayed.sequence < self.state.sequence:
            await delayed.add_entries(self.entries_after(delayed.sequence))
        self.subscribers.delayed = delayed
        return delayed

    def _subscribe_delayed(self, after_sequence: int | None, network_id: str) -> Subscription:
        if (delayed := self.subscribers.delayed) is None:
            raise _moved()
        if after_sequence is None:
            return self.subscribers.join(SPECTATOR, delayed.state, network_id)
        if after_sequence > delayed.state.sequence:
            wait = delayed.milliseconds_until(after_sequence)
            if wait is None or wait > MAX_CLOCK_DIFFERENCE_MILLISECONDS:
                raise _ahead(after_sequence, delayed.state.sequence)
            # By the clock of the engine that had the stream before, its viewer has this entry already.
            raise _moved(wait / 1000)
        released = delayed.released_after(after_sequence)
        return self.subscribers.resume(SPECTATOR, delayed.state, released, network_id)

    def unsubscribe(self, stream: Subscription) -> None:
        """Remove a stream."""
        self.subscribers.leave(stream)

    def react(self, player_id: str, reaction: str) -> None:
        """Publish a reaction of a seated player to all subscribers, here and at other engines."""
        seat = self.seat_of(player_id)
        self._refuse_if_over()
        self.subscribers.react(seat, reaction, self.services.clock())
        self.services.notifier.seat_reacted(self.config.table_id, seat, reaction)

    def _refuse_if_over(self) -> None:
        if self.state.is_over:
            raise IllegalNow(errors_pb2.ERROR_REASON_TABLE_FINISHED, "the game of the table is over")

    def seat_of(self, player_id: str) -> Seat:
        """Return the seat of a player; raises NotPermitted if they have none here."""
        seat = self._seats.get(player_id)
        if seat is None:
            raise not_seated()
        return seat

    def viewer_of(self, player_id: str) -> Viewer:
        """Return the seat of a player, SPECTATOR if they have none here."""
        return self._seats.get(player_id, SPECTATOR)

    def schedule_turn(self) -> None:
        """Schedule the engine's next own action, unless the table is retired."""
        if self._scheduler:
            self._scheduler.schedule()

    def is_idle(self) -> bool:
        """Return whether the table has no subscribers and no work in progress."""
        is_busy = self._scheduler is not None and self._scheduler.is_busy
        return not (self.subscribers or self.lock.locked() or self.needs_catch_up or is_busy)

    def retire(self) -> None:
        """Stop the turn scheduler for good.

        This ends the cycle between a table and its scheduler, so that both leave memory with their last user and need
        not wait for the garbage collector, which an engine with many tables seldom runs.
        """
        if self._scheduler:
            self._scheduler.stop()
            self._scheduler = None

    async def drain(self) -> None:
        """Let no time run out any more, and hand all streams over after the append in progress was answered."""
        self.retire()
        async with self.lock:
            self.subscribers.hand_over()


def not_finished() -> IllegalNow:
    """Return the refusal of a replay before the end of the game."""
    message = "the game is not over, and a replay shows all hands"
    return IllegalNow(errors_pb2.ERROR_REASON_TABLE_NOT_FINISHED, message)


def _moved(retry_after_seconds: float = 0.1) -> Unavailable:
    message = "this engine no longer serves the table: open the stream again"
    return Unavailable(errors_pb2.ERROR_REASON_TABLE_MOVED, message, retry_after_seconds=retry_after_seconds)


def _ahead(after_sequence: int, known: int) -> MalformedRequest:
    return MalformedRequest(
        errors_pb2.ERROR_REASON_SEQUENCE_AHEAD,
        f"invalid after_sequence {after_sequence}: expected at most {known}",
        field="after_sequence",
    )
