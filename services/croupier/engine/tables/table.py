"""A table in memory: its log, its lock, its subscribers, and the only way to change it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from opentelemetry.util.types import Attributes

from croupier.engine.core import decide
from croupier.engine.core.access import Need, Visitor, check_access, not_seated
from croupier.engine.core.fold import TableState, Transition, Turn, transition_of
from croupier.engine.core.folded_table import FoldedTable, Request
from croupier.engine.core.guarded_rules import RulesUnusable
from croupier.engine.core.history import History
from croupier.engine.core.log import AwaySet, Entry, Proposed, TableConfig, TableEnded, Voted
from croupier.engine.core.log_codec import decode_entry, rows_of
from croupier.engine.core.reports import Report
from croupier.engine.metrics import EngineMetrics
from croupier.engine.storage.port import SequenceTaken, TableChange, TableStore, append_durably
from croupier.engine.tables.call_timeouts import Answer, CallTimeouts, TimedAnswer, store_unavailable
from croupier.engine.tables.entry_rate import EntryLimit, EntryRate
from croupier.engine.tables.subscribers import Subscribers, table_moved
from croupier.engine.tables.subscription import Subscription
from croupier.engine.tables.table_lock import TableLock
from croupier.engine.tables.turn_scheduler import Liveness, ScheduledTable, TurnScheduler
from croupier.engine.tasks import Background
from croupier.games.facts import SPECTATOR, Seat, Viewer
from croupier.games.interface import SeatActed
from croupier.runtime.errors import IllegalNow, ServiceError, StaleSequence, Unavailable
from croupier.runtime.identity.tokens import Clock
from croupier.runtime.observation.logs import Logger
from croupier.runtime.observation.tracing import GAME, SEQUENCE, TABLE_ID, open_span
from croupier.runtime.single_flight import PacedFlight
from croupier_api.v1 import errors_pb2

MAX_ATTEMPTS = 3
MAX_MISSED_ENTRIES = 64
"""The entries that a table takes over at once; more of them would occupy the event loop for too long."""
REFRESH_SECONDS = 0.1
"""The time from one refresh of a table to the next at least."""


class Table:
    """A table in memory. Everything but its subscribers follows from the log, and can be dropped at any time."""

    def __init__(
        self,
        folded: FoldedTable,
        network: str,
        *,
        new_subscribers: Callable[[FoldedTable], Subscribers],
        new_scheduler: Callable[[ScheduledTable, TableConfig, str], TurnScheduler],
        limits: decide.TableLimits,
        entry_limit: EntryLimit,
        store: TableStore,
        report: Callable[[str, Sequence[Report]], None],
        notify_reaction: Callable[[str, Seat, int], None],
        liveness: Liveness,
        background: Background,
        timeouts: CallTimeouts,
        clock: Clock,
        metrics: EngineMetrics,
        logger: Logger,
    ) -> None:
        """Take over a folded table, which a player of a network created, and schedule its turn.

        `new_scheduler` makes the scheduler of a table that a player of that network created. `report` delivers all
        reports of a table to scoring, `notify_reaction` a reaction to the other engines.
        """
        self.config = config = folded.config
        self.subscribers = new_subscribers(folded)
        self.entry_rate = EntryRate(entry_limit)
        self.lock = TableLock()
        self.needs_catch_up = False
        """Whether the log may hold entries that this engine appended and does not know of."""
        self.is_handed_over = False
        """Whether all streams were handed over to other engines, and the log was not read since."""
        self.is_last_writer = False
        """Whether this engine appended the last entry."""
        self._folded = folded
        self._limits = limits
        self._store = store
        self._report = report
        self._notify_reaction = notify_reaction
        self._liveness = liveness
        self._background = background
        self._timeouts = timeouts
        self._clock = clock
        self._accepted = metrics.actions_accepted.labels(config.game)
        self._ended = metrics.tables_ended
        self._logger = logger
        self._seats = {who.player_id: seat for seat, who in enumerate(config.seats) if not who.bot}
        self._reads = PacedFlight(REFRESH_SECONDS)
        self._scheduler: TurnScheduler | None = new_scheduler(self, config, network)
        """None once the table is retired."""
        self.schedule_turn()

    # What is known of it

    @property
    def state(self) -> TableState:
        """The table after its last entry."""
        return self._folded.state

    @property
    def entries(self) -> History:
        """The log."""
        return self._folded.entries

    @property
    def reports(self) -> Sequence[Report]:
        """The reports to scoring so far, in order; the list grows with the table."""
        return self._folded.reports

    @property
    def finished_at(self) -> int | None:
        """The time of the game's end in milliseconds since 1970 UTC, None until then."""
        return self._folded.finished_at

    def seat_of(self, player_id: str) -> Seat:
        """Return the seat of a player; raises NotPermitted if they have none here."""
        seat = self._seats.get(player_id)
        if seat is None:
            raise not_seated()
        return seat

    def viewer_of(self, player_id: str) -> Viewer:
        """Return the seat of a player, SPECTATOR if they have none here."""
        return self._seats.get(player_id, SPECTATOR)

    def check_access(self, visitor: Visitor, need: Need) -> None:
        """Raise NotFound unless a visitor has the access that a call needs, by the last entry known here."""
        check_access(self.config, visitor, need, self.finished_at, self._clock())

    async def require_finished(self, viewer: Viewer) -> None:
        """Raise IllegalNow unless the game is over for a viewer, by the log: a replay shows all hands.

        The log is read for spectators who do not know the end yet too: the time of the answer would reveal it.
        """
        if not self._is_over_for(viewer):
            await self.refresh()
        if not self._is_over_for(viewer):
            raise not_finished()

    def _is_over_for(self, viewer: Viewer) -> bool:
        return self.state.is_over and not (viewer == SPECTATOR and self.subscribers.is_delayed)

    # Requests of seats

    async def append_once(self, request: Request, request_id: str, expected_sequence: int | None = None) -> int:
        """Store the transitions of a seat's request once, and return its sequence as soon as it is durable.

        Raises what decide.py raises by the current log, AlreadyExists for a request id of another request, LimitReached
        if the table gets too many entries per second, and Unavailable if the store failed or timed out; then the same
        request should be sent again.
        """
        with open_span("act", {TABLE_ID: self.config.table_id, GAME: self.config.game}) as span:
            with self._timeouts.in_time():
                async with self.lock:
                    sequence = await self._append_once(request, request_id, expected_sequence)
            span.set_attribute(SEQUENCE, sequence)
            return sequence

    def act_at_once(self, action: SeatActed, request_id: str, expected_sequence: int | None, answer: Answer) -> bool:
        """Act in one call, without a task that waits; return False, and change nothing, if append_once() has to.

        That is if anything has to be awaited before the decision, and if the action is not accepted. `answer` gets what
        append_once() would return or raise, as soon as the action is durable and published. The lock is held until
        then. No span is opened, so a traced action has to use append_once().
        """
        if self.lock.locked() or self.needs_catch_up:
            return False
        try:
            if (answered := self._folded.answer_to(action, request_id)) is not None:
                answer(answered)
                return True
            now = self._clock()
            self.entry_rate.check(now)
            transitions = self._with_end(self._decided(action, request_id, expected_sequence, now))
        except ServiceError:
            # Only the current log may refuse a request.
            return False
        in_time = self._timeouts.answer_in_time(answer)

        def settled(error: Exception | None) -> None:
            if isinstance(error, SequenceTaken):
                self._background.start(self._act_again(action, request_id, expected_sequence, in_time))
            else:
                self._end_act(transitions, request_id, error, in_time)

        self._store.append(*self._to_append(transitions), settled)
        # Only now, since an append that cannot begin raises its error.
        self.lock.take()
        return True

    def _end_act(self, transitions: list[Transition], request_id: str, error: Exception | None, answer: Answer) -> None:
        try:
            if error is None:
                self._apply_stored(transitions)
                self._accepted.inc()
                answer(_sequence_of(transitions, request_id))
            else:
                self._schedule_catch_up()
                answer(self._append_failed(error))
        finally:
            self.lock.release()

    async def _act_again(
        self, action: SeatActed, request_id: str, expected_sequence: int | None, answer: TimedAnswer
    ) -> None:
        """Repeat an action that lost a race, in the time of its call.

        The lock, which is held, keeps it before all requests that came later.
        """
        answer.task = asyncio.current_task()
        try:
            if not answer.is_given:
                answer(await self._append_once(action, request_id, expected_sequence, attempts_made=1))
        except ServiceError as refusal:
            answer(refusal)
        finally:
            self._schedule_catch_up()
            self.lock.release()

    async def _append_once(
        self, request: Request, request_id: str, expected_sequence: int | None, attempts_made: int = 0
    ) -> int:
        for attempt in range(attempts_made, MAX_ATTEMPTS):
            if self.needs_catch_up:
                await self.catch_up()
            if (answered := self._folded.answer_to(request, request_id)) is not None:
                return answered
            now = self._clock()
            if attempt == 0:
                self.entry_rate.check(now)
            try:
                with open_span("decide"):
                    transitions = self._decided(request, request_id, expected_sequence, now)
            except (IllegalNow, StaleSequence):
                # Another engine may have changed the table: only the current log may refuse a request.
                if await self.catch_up():
                    continue
                raise
            if not transitions:
                # The seat is as the player wants it, by the current log: then the request is not stored.
                if await self.catch_up():
                    continue
                return self.state.sequence
            if await self.store(transitions):
                if isinstance(request, SeatActed):
                    self._accepted.inc()
                return _sequence_of(transitions, request_id)
        raise Unavailable(
            errors_pb2.ERROR_REASON_TABLE_BUSY,
            "too many calls change the table at once: try again",
            retry_after_seconds=0.1,
        )

    def _decided(self, request: Request, request_id: str, expected_sequence: int | None, now: int) -> list[Transition]:
        config, state = self.config, self.state
        match request:
            case SeatActed():
                outages = self._liveness.outages
                return decide.action(config, state, now, request, request_id, expected_sequence, outages)
            case Proposed(seat):
                return decide.proposal(config, state, now, request, request_id, self._folded.proposed_at[seat])
            case Voted():
                return decide.vote(config, state, now, request, request_id)
            case AwaySet(seat):
                return decide.away(config, state, now, request, request_id, self._folded.left_at[seat])

    def react(self, player_id: str, reaction: int) -> None:
        """Publish a reaction of a seated player to all subscribers, here and at other engines."""
        seat = self.seat_of(player_id)
        decide.refuse_if_over(self.state)
        self.subscribers.react(seat, reaction)
        self._notify_reaction(self.config.table_id, seat, reaction)

    # The log

    async def store(self, transitions: list[Transition]) -> bool:
        """Append transitions and apply them; return False if another engine was first, after a catch-up.

        Transitions that reach a limit of the operator are followed by the end of the table. The caller holds the lock.
        Raises Unavailable.
        """
        transitions = self._with_end(transitions)
        about: Attributes = {TABLE_ID: self.config.table_id, SEQUENCE: transitions[-1].after.sequence}
        try:
            with open_span("append", about):
                await append_durably(self._store, *self._to_append(transitions))
        except SequenceTaken:
            await self.catch_up()
            return False
        except asyncio.CancelledError:
            self._background.start(self._repeat_append(transitions))
            raise
        except Exception as error:
            raise self._append_failed(error) from error
        else:
            with open_span("publish", about):
                self._apply_stored(transitions)
            return True
        finally:
            self._schedule_catch_up()

    def _schedule_catch_up(self) -> None:
        """Let the log be read soon if it may have grown: subscribers must get its entries even if no call follows."""
        if self.needs_catch_up:
            self.schedule_turn()

    def _with_end(self, transitions: list[Transition]) -> list[Transition]:
        reports = len(self.reports) + _reports_of(transitions)
        return transitions + decide.end(self.config, transitions[-1].after, reports, self._limits)

    def _to_append(self, transitions: list[Transition]) -> tuple[str, list[Entry], TableChange | None, Turn]:
        """Return the arguments of an append; until it is durable, the log may have more entries than this engine."""
        self.needs_catch_up = True
        after, new_reports = transitions[-1].after, _reports_of(transitions)
        change = TableChange(len(self.reports) + new_reports, after.is_over) if new_reports else None
        return self.config.table_id, [transition.entry for transition in transitions], change, after.turn

    def _apply_stored(self, transitions: list[Transition]) -> None:
        self.needs_catch_up, self.is_last_writer = False, True
        if isinstance(ended := transitions[-1].entry.event, TableEnded):
            self._ended.labels(ended.limit).inc()
        self._publish(transitions)

    def _append_failed(self, error: Exception) -> Unavailable:
        if isinstance(error, Unavailable):
            return store_unavailable("the database did not answer: send the same request again")
        self._logger.error("append failed", table_id=self.config.table_id, exc_info=error)
        return store_unavailable("the store failed: send the same request again")

    async def _repeat_append(self, transitions: list[Transition]) -> None:
        """Repeat an append whose caller was cancelled; a read of the log alone could precede its commit."""
        async with self.lock:
            await self.store(transitions)

    async def catch_up(self) -> bool:
        """Apply the entries of the log that the table has missed; return whether there were any.

        The caller holds the lock. Raises Unavailable.
        """
        had_missed, is_behind = False, True
        while is_behind:
            missed = await self._read_missed()
            if not (is_behind := len(missed) == MAX_MISSED_ENTRIES):
                self.needs_catch_up = self.is_handed_over = False
            had_missed = self._apply_entries(missed) or had_missed
        return had_missed

    async def catch_up_to(self, sequence: int, viewer: Viewer | None = None) -> None:
        """Read the log if the table may have entries up to a sequence that this engine lacks; raises Unavailable.

        With a viewer also for entries that they do not know yet: the time of the answer would reveal these.
        """
        if self.is_handed_over and not await self._liveness.is_alive():
            raise table_moved()
        if self.is_handed_over:
            with self._timeouts.in_time():
                async with self.lock:
                    await self.catch_up()
        elif sequence > (self.state if viewer is None else await self.subscribers.state_for(viewer)).sequence:
            await self.refresh()

    async def refresh(self) -> None:
        """Apply the entries of the log that the table has missed; return after a read that began after this call.

        The lock is free during the read, which all callers share, and the next read begins a moment later: so callers
        without a seat cannot delay a player. Raises Unavailable.
        """
        with self._timeouts.in_time():
            await self._reads.run(self._read_without_lock)

    async def _read_without_lock(self) -> None:
        is_behind = True
        while is_behind:
            missed = await self._read_missed()
            is_behind = len(missed) == MAX_MISSED_ENTRIES
            if missed:
                await self.apply_entries(missed)

    async def _read_missed(self) -> tuple[Entry, ...]:
        """Return the next entries that the table does not have, in order; raises Unavailable."""
        table_id, known = self.config.table_id, self.state.sequence
        try:
            part = await self._store.log_after(table_id, known, MAX_MISSED_ENTRIES)
            return tuple([decode_entry(table_id, *row) for row in rows_of(table_id, part) if row[0] > known])
        except Exception as error:
            raise store_unavailable("the database did not answer: try again") from error

    async def apply_entries(self, entries: Sequence[Entry]) -> None:
        """Apply entries of other engines that were read from the log."""
        async with self.lock:
            self._apply_entries([entry for entry in entries if entry.sequence > self.state.sequence])

    def _apply_entries(self, missed: Sequence[Entry]) -> bool:
        transitions = []
        state = self.state
        for entry in missed:
            if entry.sequence != state.sequence + 1:
                raise ValueError(f"entry {entry.sequence} cannot follow entry {state.sequence}: the log has a gap")
            transitions.append(transition_of(self.config, state, entry))
            state = transitions[-1].after
        if transitions:
            self.is_last_writer = False
            self._publish(transitions)
        return bool(transitions)

    def _publish(self, transitions: list[Transition]) -> None:
        folded, last = self._folded, transitions[-1]
        reports_before = len(folded.reports)
        for transition in transitions:
            self.entry_rate.count(transition.entry.at)
            try:
                folded.apply(transition)
                self.subscribers.publish(transition, is_last=transition is last)
            except RulesUnusable as refusal:
                # The entry is durable; those who would miss it open their streams again.
                self.subscribers.refuse(refusal)
        if len(folded.reports) > reports_before:
            self._report(self.config.table_id, folded.reports)
        self.schedule_turn()

    # The engine's own actions

    def schedule_turn(self) -> None:
        """Schedule the engine's next own action, unless the table is retired; called after each change and failure."""
        if self._scheduler:
            self._scheduler.schedule()

    @asynccontextmanager
    async def locked(self) -> AsyncIterator[TableState]:
        """Hold the lock for the block, after a catch-up if the log may have grown; raises Unavailable."""
        async with self.lock:
            if self.needs_catch_up:
                await self.catch_up()
            yield self.state

    # Streams, and its end in memory

    def subscribe(
        self, viewer: Viewer, after_sequence: int | None, network_id: str = "", player_id: str = ""
    ) -> Subscription:
        """Open a stream, as Subscribers.subscribe() does; raises Unavailable if the table is retired."""
        if self._scheduler is None:
            raise table_moved()
        return self.subscribers.subscribe(viewer, after_sequence, network_id, player_id)

    def hand_over_streams(self) -> None:
        """Hand all streams over to other engines, because this one cannot read the log for now."""
        self.needs_catch_up = self.is_handed_over = True
        self.subscribers.hand_over()

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

    async def close(self) -> None:
        """End the reads of the log that have no caller any more."""
        await self._reads.close()

    async def drain(self) -> None:
        """Let no time run out any more, and hand all streams over after the append in progress was answered."""
        self.retire()
        async with self.lock:
            self.subscribers.hand_over()


def _reports_of(transitions: Sequence[Transition]) -> int:
    # A generator would take two thousand instructions of each move, here and below.
    reports = 0
    for transition in transitions:
        reports += transition.reports
    return reports


def _sequence_of(transitions: Sequence[Transition], request_id: str) -> int:
    for transition in transitions:
        if transition.entry.request_id == request_id:
            return transition.entry.sequence
    raise ValueError(f"no entry has the request id {request_id!r}")


def not_finished() -> IllegalNow:
    """Return the refusal of a replay before the end of the game."""
    message = "the game is not over, and a replay shows all hands"
    return IllegalNow(errors_pb2.ERROR_REASON_TABLE_NOT_FINISHED, message)
