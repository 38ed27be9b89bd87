"""A table in play: what players and spectators can do there."""

from collections.abc import Sequence

from croupier.engine.cached import CachedTable
from croupier.engine.clock import NOBODY_WAITS
from croupier.engine.log import ActedBy, Entry, Proposed, TableConfig, Voted
from croupier.engine.services import EngineServices
from croupier.engine.steward import Steward
from croupier.engine.streams import Subscription
from croupier.engine.table import Step, advance
from croupier.engine.voting import steps_of_proposal, steps_of_vote
from croupier.games.actions import Action
from croupier.games.facts import SPECTATOR, Seat, Viewer
from croupier.games.interface import IllegalAction, SeatActed
from croupier.runtime.errors import IllegalNow, MalformedRequest, NotPermitted, StaleSequence, Unavailable


class LiveTable(CachedTable):
    """A table in memory that is played at and looked after."""

    def __init__(self, config: TableConfig, entries: Sequence[Entry], services: EngineServices) -> None:
        """Take a table up from its log."""
        super().__init__(config, entries, services)
        self._seats = {who.player_id: seat for seat, who in enumerate(config.seats) if not who.bot}
        self._steward = Steward(self)
        self._steward.look()

    def changed(self) -> None:
        """The table has changed, or became doubtful."""
        self._steward.look()

    # Changing the table

    async def act(self, seat: Seat, action: Action, request_id: str, expected_sequence: int | None) -> int:
        """A player acts for his seat; gives the action's sequence once it is durable.

        Raises IllegalNow, StaleSequence, AlreadyExists for a request id of another request, Unavailable when the
        store failed and the same request should be sent again.
        """
        return await self.append_once(
            SeatActed(seat, action),
            request_id,
            lambda: self._steps_of_player(seat, action, request_id, expected_sequence),
        )

    def _steps_of_player(self, seat: Seat, action: Action, request_id: str, expected: int | None) -> list[Step]:
        if expected is not None and expected != self.state.sequence:
            raise StaleSequence(
                "STALE_SEQUENCE",
                f"the table is at sequence {self.state.sequence}, not {expected}: look again before acting",
                metadata={"sequence": str(self.state.sequence)},
            )
        self._refuse_if_over()
        event, now = SeatActed(seat, action), self.services.clock()
        credited = self._credited(seat, now)
        state = credited[-1].after if credited else self.state
        try:
            return credited + advance(self.config, state, now, event, ActedBy.PLAYER, request_id)
        except IllegalAction as refusal:
            reason = "ILLEGAL_ACTION" if seat in self.state.seats_to_act else "NOT_YOUR_TURN"
            raise IllegalNow(reason, str(refusal), metadata={"rule": refusal.rule}) from None

    def _credited(self, seat: Seat, now: int) -> list[Step]:
        """What a seat gets back before its reserve would be drawn upon."""
        since, is_away = self.state.clock.since[seat], self.state.clock.away[seat]
        if is_away or since == NOBODY_WAITS or now - since <= self.config.clock.action_milliseconds:
            return []
        return self._steward.credit_steps(now)

    async def propose(self, seat: Seat, proposal: str, request_id: str) -> int:
        """A player proposes something that the game knows, and agrees with it; gives the sequence once it is durable.

        Raises MalformedRequest, IllegalNow, LimitReached, AlreadyExists and Unavailable as act() does.
        """
        proposed = Proposed(seat, proposal, expires_at=0)

        def steps() -> list[Step]:
            self._refuse_if_over()
            now = self.services.clock()
            return steps_of_proposal(self.config, self.state, self.entries, now, proposed, request_id)

        return await self.append_once(proposed, request_id, steps)

    async def vote(self, seat: Seat, proposal_sequence: int, agree: bool, request_id: str) -> int:
        """A player agrees with what is proposed, or refuses it; gives the sequence once it is durable.

        Raises IllegalNow, AlreadyExists and Unavailable as act() does.
        """
        voted = Voted(seat, proposal_sequence, agree)

        def steps() -> list[Step]:
            self._refuse_if_over()
            return steps_of_vote(self.config, self.state, self.services.clock(), voted, request_id)

        return await self.append_once(voted, request_id, steps)

    async def catch_up_to(self, sequence: int) -> None:
        """Look at the log if there is more of the table than this engine has, or may be; raises Unavailable."""
        if self.is_given_up and not await self.services.attendance.is_there():
            raise _moved()
        if self.is_given_up or sequence > self.state.sequence:
            async with self.lock:
                await self.catch_up()

    async def must_be_over(self) -> None:
        """Raises IllegalNow while the game is on, by the log and not by memory: a replay shows all hands."""
        if not self.state.is_over:
            async with self.lock:
                await self.catch_up()
        if not self.state.is_over:
            raise IllegalNow("TABLE_NOT_FINISHED", "the replay shows all hands: it can be had when the game is over")

    # Watching

    def subscribe(self, viewer: Viewer, after_sequence: int | None) -> Subscription:
        """Follow the table: from a snapshot, or with everything after a sequence; then live.

        Raises LimitReached with too many streams, MalformedRequest for a sequence that the table has not reached,
        Unavailable if the stream is to be opened again.
        """
        if self._steward.is_stopped:
            raise _moved()
        if after_sequence is None:
            return self.audience.join(viewer, self.state)
        if after_sequence > self.state.sequence:
            raise MalformedRequest(
                "SEQUENCE_AHEAD",
                f"the table is at sequence {self.state.sequence}, {after_sequence} cannot have been seen",
                field="after_sequence",
            )
        return self.audience.resume(viewer, self.state, self.steps_after(after_sequence))

    def unsubscribe(self, stream: Subscription) -> None:
        """Follow no longer."""
        self.audience.leave(stream)

    def react(self, player_id: str, reaction: str) -> None:
        """Show a reaction of a seated player to everybody who follows the table, here and at other engines."""
        seat = self.seat_of(player_id)
        self._refuse_if_over()
        self.audience.react(seat, reaction, self.services.clock())
        self.services.background.start(self.services.news.tell_reaction(self.config.table_id, seat, reaction))

    def _refuse_if_over(self) -> None:
        if self.state.is_over:
            raise IllegalNow("TABLE_FINISHED", "the game at this table is over")

    def seat_of(self, player_id: str) -> Seat:
        """The seat of a player; raises NotPermitted if he has none here."""
        seat = self._seats.get(player_id)
        if seat is None:
            raise NotPermitted("NOT_YOUR_TABLE", "you have no seat at this table: you may watch it, and that is all")
        return seat

    def viewer_of(self, player_id: str) -> Viewer:
        """The seat of a player, SPECTATOR if he has none here."""
        return self._seats.get(player_id, SPECTATOR)

    def look(self) -> None:
        """See whether something is to be done now."""
        self._steward.look()

    def is_idle(self) -> bool:
        """Whether nobody follows the table, and nothing is being done there."""
        return not (self.audience or self.lock.locked() or self.is_doubtful or self._steward.is_busy)

    def retire(self) -> None:
        """Do nothing more for the table here."""
        self._steward.stop()

    async def drain(self) -> None:
        """Let no time run out, and send all streams elsewhere once what is being stored was answered."""
        self._steward.stop()
        async with self.lock:
            self.audience.send_elsewhere()


def _moved() -> Unavailable:
    message = "this engine looks after the table no more: open it again"
    return Unavailable("TABLE_MOVED", message, retry_after_seconds=0.1)
