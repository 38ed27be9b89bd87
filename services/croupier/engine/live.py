"""A table in play: its state in memory, its streams, and the one way in which it changes."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from croupier.engine.audience import Audience
from croupier.engine.background import Background
from croupier.engine.log import ActedBy, Entry, TableConfig
from croupier.engine.metrics import EngineMetrics
from croupier.engine.reports import Report, Reporter, reports_of_step
from croupier.engine.store import SequenceTaken, TableMark, TableStore
from croupier.engine.streams import Encoder, Subscription
from croupier.engine.table import Step, advance, new_table, step, steps_of
from croupier.engine.turn_timer import TurnTimer
from croupier.games.actions import Action
from croupier.games.catalogue import GAMES
from croupier.games.facts import SPECTATOR, Seat, Viewer
from croupier.games.interface import Choose, IllegalAction, SeatActed, Seen
from croupier.runtime.errors import (
    AlreadyExists,
    IllegalNow,
    NotPermitted,
    StaleSequence,
    Unavailable,
)
from croupier.runtime.identity import Clock
from croupier.runtime.logs import Logger

MOST_ATTEMPTS = 3
RETRY_MILLISECONDS = 1_000
RETURN_MILLISECONDS = 5_000
"""How long players have at least to come back to a table that was taken up again."""


@dataclass(frozen=True, slots=True)
class EngineServices:
    """What every live table uses; `choose` is the chance that computer players draw on."""

    store: TableStore
    encoder: Encoder
    metrics: EngineMetrics
    clock: Clock
    choose: Choose
    logger: Logger
    background: Background
    reporter: Reporter


class LiveTable:
    """A table in memory. All of it but the audience follows from the log and can be dropped at any time."""

    def __init__(self, config: TableConfig, entries: Sequence[Entry], services: EngineServices) -> None:
        """Take a table up from its log."""
        self.config = config
        self.services = services
        self.state = new_table(config)
        self.entries: list[Entry] = []
        self.reports: list[Report] = []
        self.audience = Audience(config, services.encoder, services.metrics)
        self.timer = TurnTimer(services.clock, self._timer_fired)
        self._accepted = services.metrics.actions_accepted.labels(config.game)
        self._seats = {who.player_id: seat for seat, who in enumerate(config.seats) if not who.bot}
        self._answers: dict[tuple[Seat, str], tuple[int, Action]] = {}
        self._lock = asyncio.Lock()
        self._doubtful = False
        self._taken_up_at = services.clock()
        for made in steps_of(config, entries):
            self._take(made)
        self._set_timer()

    # Changing the table

    async def act(self, seat: Seat, action: Action, request_id: str, expected_sequence: int | None) -> int:
        """A player acts for his seat; gives the action's sequence once it is durable.

        Raises IllegalNow, StaleSequence, AlreadyExists for a request id of another action, Unavailable when the
        store failed and the same request should be sent again.
        """
        async with self._lock:
            for _ in range(MOST_ATTEMPTS):
                if self._doubtful:
                    await self._catch_up()
                if (answered := self._answered(seat, action, request_id)) is not None:
                    return answered
                try:
                    steps = self._steps_of_player(seat, action, request_id, expected_sequence)
                except (IllegalNow, StaleSequence):
                    # Another engine may have moved the table on: what is refused is refused by the log, not by memory.
                    if await self._catch_up():
                        continue
                    raise
                if await self._stored(steps):
                    self._accepted.inc()
                    return steps[0].entry.sequence
        raise Unavailable("BUSY", "others act at this table at the same time: try again", retry_after_seconds=0.1)

    def _answered(self, seat: Seat, action: Action, request_id: str) -> int | None:
        known = self._answers.get((seat, request_id))
        if known is None:
            return None
        sequence, first = known
        if first != action:
            raise AlreadyExists(
                "REQUEST_ID_REUSED",
                f"this request_id named another action, stored as sequence {sequence}: take a new one for each action",
                metadata={"sequence": str(sequence)},
            )
        return sequence

    def _steps_of_player(self, seat: Seat, action: Action, request_id: str, expected: int | None) -> list[Step]:
        if expected is not None and expected != self.state.sequence:
            raise StaleSequence(
                "STALE_SEQUENCE",
                f"the table is at sequence {self.state.sequence}, not {expected}: look again before acting",
                metadata={"sequence": str(self.state.sequence)},
            )
        self._refuse_if_over()
        event = SeatActed(seat, action)
        try:
            return advance(self.config, self.state, self.services.clock(), event, ActedBy.PLAYER, request_id)
        except IllegalAction as refusal:
            reason = "ILLEGAL_ACTION" if seat in self.state.seats_to_act else "NOT_YOUR_TURN"
            raise IllegalNow(reason, str(refusal), metadata={"rule": refusal.rule}) from None

    async def _stored(self, steps: list[Step]) -> bool:
        """Append steps and take them over; False if somebody else was first, and the table has caught up."""
        new_reports = sum(made.reports for made in steps)
        mark = TableMark(len(self.reports) + new_reports, steps[-1].after.is_over) if new_reports else None
        self._doubtful = True
        try:
            await self.services.store.append(self.config.table_id, [made.entry for made in steps], mark)
            self._doubtful = False
        except SequenceTaken:
            await self._catch_up()
            return False
        except asyncio.CancelledError:
            self.services.background.start(self._store_again(steps))
            raise
        except Exception as error:
            self.services.logger.error("append failed", table_id=self.config.table_id, exc_info=error)
            raise Unavailable(
                "STORE_FAILED", "the move could not be stored now: send the same request again", retry_after_seconds=0.5
            ) from error
        finally:
            if self._doubtful:
                # It may have been stored all the same: those who watch must see it though nobody asks again.
                self.timer.set(self.services.clock() + RETRY_MILLISECONDS)
        self._publish(steps)
        return True

    async def _store_again(self, steps: list[Step]) -> None:
        """Finish an append whose client has gone; reading the log alone could come before it is stored."""
        async with self._lock:
            await self._stored(steps)

    async def catch_up_to(self, sequence: int) -> None:
        """Look at the log if somebody has seen more of the table than this engine has; raises Unavailable."""
        if sequence > self.state.sequence:
            async with self._lock:
                await self._catch_up()

    async def _catch_up(self) -> bool:
        """Take over what the log has and this table has not; gives whether that was anything."""
        try:
            missed = await self.services.store.entries_after(self.config.table_id, self.state.sequence)
        except Exception as error:
            raise Unavailable(
                "STORE_FAILED", "the table cannot be read now: try again", retry_after_seconds=0.5
            ) from error
        steps = []
        state = self.state
        for entry in missed:
            steps.append(step(self.config, state, entry))
            state = steps[-1].after
        self._doubtful = False
        if steps:
            self._publish(steps)
        return bool(steps)

    def _publish(self, steps: list[Step]) -> None:
        reports_before = len(self.reports)
        for made in steps:
            self._take(made)
            self.audience.show(made)
        if len(self.reports) > reports_before:
            self.services.reporter.report(self.config.table_id, self.reports)
        self._set_timer()

    def _take(self, made: Step) -> None:
        entry = made.entry
        self.state = made.after
        self.entries.append(entry)
        if made.reports:
            self.reports += reports_of_step(self.config, made)
        if entry.request_id and isinstance(entry.event, SeatActed):
            self._answers[entry.event.seat, entry.request_id] = (entry.sequence, entry.event.action)

    # Acting for seats whose time has come

    def _effective_deadline(self) -> int:
        """When the engine acts for a seat; players have time to come back after nobody served, whatever the clock."""
        due = self.state.due
        if due is None:
            return 0
        if self.config.seats[due.seat].bot:
            return due.at
        return max(due.at, self._taken_up_at + RETURN_MILLISECONDS)

    def _set_timer(self) -> None:
        if deadline := self._effective_deadline():
            self.timer.set(deadline)

    def _timer_fired(self) -> None:
        if self._doubtful or self._effective_deadline() <= self.services.clock():
            self.services.background.start(self._act_for_seat())
        else:
            self._set_timer()

    async def _act_for_seat(self) -> None:
        """Act for the seat whose time has come, if it has not acted meanwhile; what fails is tried again."""
        failed = True
        try:
            async with self._lock:
                if self._doubtful:
                    await self._catch_up()
                due, now = self.state.due, self.services.clock()
                if due is not None and self._effective_deadline() <= now:
                    await self._stored_for_seat(due.seat, now)
            failed = False
        finally:
            if failed:
                self.timer.set(self.services.clock() + RETRY_MILLISECONDS)
            else:
                self._set_timer()

    async def _stored_for_seat(self, seat: Seat, now: int) -> None:
        bot = self.config.seats[seat].bot
        event = SeatActed(seat, self._decide(seat, bot))
        by = ActedBy.BOT if bot else ActedBy.TIMEOUT
        stored = await self._stored(advance(self.config, self.state, now, event, by))
        if stored and by is ActedBy.TIMEOUT:
            self.services.metrics.clock_expiries.labels(self.config.game).inc()

    def _decide(self, seat: Seat, bot: str) -> Action:
        """What a computer player would do, which sees what its seat sees and nothing more."""
        bots = GAMES[self.config.game].bots
        chosen = bots.get(bot) or next(iter(bots.values()))
        game = self.state.game
        return chosen(Seen(seat, self.config.options, game.view(seat), game.legal_actions(seat)), self.services.choose)

    # Watching

    def subscribe(self, viewer: Viewer, after_sequence: int | None) -> Subscription:
        """Follow the table: from a snapshot, or with everything after a sequence; then live.

        Raises LimitReached with too many streams, MalformedRequest for a sequence that the table has not reached.
        """
        if after_sequence is None:
            return self.audience.join(viewer, self.state)
        return self.audience.resume(viewer, self.state, self.entries, after_sequence)

    def react(self, player_id: str, reaction: str) -> None:
        """Show a reaction of a seated player to everybody who follows the table."""
        seat = self.seat_of(player_id)
        self._refuse_if_over()
        self.audience.react(seat, reaction, self.services.clock())

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

    def drain(self) -> None:
        """Let no time run out, and end all streams because the engine stops; they can be resumed."""
        self.timer.cancel()
        self.audience.close(
            Unavailable("DRAINING", "this engine stops: open the stream again", retry_after_seconds=0.2)
        )
