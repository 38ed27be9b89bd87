"""A table in memory: the fold of its log, and the only way to change it."""

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import islice
from typing import TypeAlias

from croupier.engine.core.compensation import compensation_due
from croupier.engine.core.fold import Transition, advance, new_table, transition_of, transitions_of
from croupier.engine.core.log import Entry, LoggedEvent, Proposed, TableConfig, TableEnded, Voted
from croupier.engine.core.reports import Report, reports_of_transition
from croupier.engine.storage.port import SequenceTaken, TableChange
from croupier.engine.tables.dependencies import TableDependencies
from croupier.engine.tables.entry_rate import EntryRate
from croupier.engine.tables.history import History
from croupier.engine.tables.subscribers import Subscribers
from croupier.games.facts import Seat
from croupier.games.interface import SeatActed
from croupier.runtime.errors import AlreadyExists, IllegalNow, LimitReached, StaleSequence, Unavailable
from croupier.runtime.tracing import GAME, SEQUENCE, TABLE_ID, open_span
from croupier_api.v1 import errors_pb2

MAX_ATTEMPTS = 3
CALL_TIMEOUT_SECONDS = 10.0
"""The time that a call waits for a table and its log; longer than the time-out of a commit."""
MAX_RECENT_TRANSITIONS = 16
"""Streams that missed no more entries than this are resumed without folding the log."""

Request: TypeAlias = SeatActed | Proposed | Voted
"""A request of a seat; the expiry of a proposal is not part of it, and 0."""


class CachedTable:
    """A table in memory. Everything but its subscribers follows from the log, and can be dropped at any time."""

    def __init__(self, config: TableConfig, entries: Sequence[Entry], services: TableDependencies) -> None:
        """Fold a table from its log."""
        self.config = config
        self.services = services
        self.state = new_table(config)
        self.entries = History(config.table_id)
        self.reports: list[Report] = []
        self._recent: deque[Transition] = deque(maxlen=MAX_RECENT_TRANSITIONS)
        self.subscribers = Subscribers(config, services.encoder, services.metrics)
        self.lock = asyncio.Lock()
        self.needs_catch_up = False
        """Whether the log may hold entries that this engine appended and does not know of."""
        self.is_handed_over = False
        """Whether all streams were handed over to other engines, and the log was not read since."""
        self.is_last_writer = False
        """Whether this engine appended the last entry."""
        self.entry_rate = EntryRate(services.entry_limit)
        self._accepted = services.metrics.actions_accepted.labels(config.game)
        self._answers: defaultdict[Seat, dict[str, int]] = defaultdict(dict)
        """The sequences of stored requests, by seat and request id."""
        for transition in transitions_of(config, entries):
            self._apply(transition)

    def transitions_after(self, sequence: int) -> Iterator[Transition]:
        """Return the transitions after a sequence that the table has reached."""
        missed = self.state.sequence - sequence
        if missed <= len(self._recent):
            return islice(self._recent, len(self._recent) - missed, None)
        return (
            transition
            for transition in transitions_of(self.config, self.entries)
            if transition.entry.sequence > sequence
        )

    def compensation(self, now: int) -> list[Transition]:
        """Return the transition that compensates the seats to act for outages; none if no time is due."""
        due = compensation_due(self.state.clock, now, self.services.liveness.outages)
        return advance(self.config, self.state, now, due) if due else []

    def schedule_turn(self) -> None:
        """Schedule the engine's next own action; called after each change and each failure. Does nothing here."""

    def hand_over_streams(self) -> None:
        """Hand all streams over to other engines, because this one cannot read the log for now."""
        self.needs_catch_up = self.is_handed_over = True
        self.subscribers.hand_over()

    @asynccontextmanager
    async def locked_with_timeout(self) -> AsyncIterator[None]:
        """Hold the lock for a call; raises Unavailable if that and the body take longer than CALL_TIMEOUT_SECONDS.

        An append in progress then continues in the background, since it may still become durable.
        """
        try:
            async with asyncio.timeout(CALL_TIMEOUT_SECONDS), self.lock:
                yield
        except TimeoutError:
            self.services.logger.warning("the store does not answer in time", table_id=self.config.table_id)
            raise _store_unavailable("the store does not answer in time: send the same request again") from None

    async def append_once(
        self, request: Request, request_id: str, transitions_of_request: Callable[[], list[Transition]]
    ) -> int:
        """Store the transitions of a seat's request once, and return its sequence as soon as it is durable.

        Raises what `transitions_of_request` raises on the current log, AlreadyExists for a request id of another
        request, LimitReached if the table gets too many entries per second, and Unavailable if the store failed or
        timed out; then the same request should be sent again.
        """
        with open_span("act", {TABLE_ID: self.config.table_id, GAME: self.config.game}) as span:
            sequence = await self._append_once(request, request_id, transitions_of_request)
            span.set_attribute(SEQUENCE, sequence)
            return sequence

    async def _append_once(
        self, request: Request, request_id: str, transitions_of_request: Callable[[], list[Transition]]
    ) -> int:
        async with self.locked_with_timeout():
            for _ in range(MAX_ATTEMPTS):
                if self.needs_catch_up:
                    await self.catch_up()
                if (answered := self._answered(request, request_id)) is not None:
                    return answered
                self._refuse_beyond_rate()
                try:
                    with open_span("decide"):
                        transitions = transitions_of_request()
                except (IllegalNow, StaleSequence):
                    # Another engine may have changed the table: only the current log may refuse a request.
                    if await self.catch_up():
                        continue
                    raise
                if await self.store(transitions):
                    if isinstance(request, SeatActed):
                        self._accepted.inc()
                    return next(
                        transition.entry.sequence
                        for transition in transitions
                        if transition.entry.request_id == request_id
                    )
        raise Unavailable(
            errors_pb2.ERROR_REASON_TABLE_BUSY,
            "too many calls change the table at once: try again",
            retry_after_seconds=0.1,
        )

    def _refuse_beyond_rate(self) -> None:
        if (wait := self.entry_rate.next_at - self.services.clock()) > 0:
            raise LimitReached(
                errors_pb2.ERROR_REASON_TOO_MANY_REQUESTS,
                f"too many entries: expected at most {self.services.entry_limit.per_second} per second at one table",
                retry_after_seconds=wait / 1000,
                metadata={"limit": "table_entries"},
            )

    def _answered(self, request: Request, request_id: str) -> int | None:
        sequence = self._answers[request.seat].get(request_id)
        if sequence is None:
            return None
        if _request_of(self.entries[sequence - 1].event) != request:
            raise AlreadyExists(
                errors_pb2.ERROR_REASON_REQUEST_ID_REUSED,
                f"request_id belongs to another request, stored as sequence {sequence}: use a new one for each",
                metadata={"sequence": str(sequence)},
            )
        return sequence

    async def store(self, transitions: list[Transition]) -> bool:
        """Append transitions and apply them; return False if another engine was first, after a catch-up.

        Transitions that reach a limit of the operator are followed by the end of the table. The caller holds the lock.
        Raises Unavailable.
        """
        new_reports = sum(transition.reports for transition in transitions)
        last = transitions[-1].after
        limit = "" if last.is_over else self.services.limits.reached(last.sequence, len(self.reports) + new_reports)
        if limit:
            transitions = transitions + advance(self.config, last, last.at, TableEnded(limit))
            new_reports += 1
        change = TableChange(len(self.reports) + new_reports, transitions[-1].after.is_over) if new_reports else None
        self.needs_catch_up = True
        try:
            await self.services.store.append(
                self.config.table_id, [transition.entry for transition in transitions], change
            )
            self.needs_catch_up = False
        except SequenceTaken:
            await self.catch_up()
            return False
        except asyncio.CancelledError:
            self.services.background.start(self._repeat_append(transitions))
            raise
        except Exception as error:
            self.services.logger.error("append failed", table_id=self.config.table_id, exc_info=error)
            raise _store_unavailable("the database did not answer: send the same request again") from error
        finally:
            if self.needs_catch_up:
                # The entries may be stored all the same: subscribers must get them even if no call follows.
                self.schedule_turn()
        self.is_last_writer = True
        if limit:
            self.services.metrics.tables_ended.labels(limit).inc()
        with open_span("publish", {TABLE_ID: self.config.table_id, SEQUENCE: transitions[-1].entry.sequence}):
            self._publish(transitions)
        return True

    async def _repeat_append(self, transitions: list[Transition]) -> None:
        """Repeat an append whose caller was cancelled; a read of the log alone could precede its commit."""
        async with self.lock:
            await self.store(transitions)

    async def catch_up(self) -> bool:
        """Apply the entries of the log that the table has missed; return whether there were any.

        The caller holds the lock. Raises Unavailable.
        """
        try:
            missed = await self.services.store.entries_after(self.config.table_id, self.state.sequence)
        except Exception as error:
            raise _store_unavailable("the database did not answer: try again") from error
        self.needs_catch_up = self.is_handed_over = False
        return self._apply_entries(missed)

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
        reports_before = len(self.reports)
        self.entry_rate.count(len(transitions), self.services.clock())
        for transition in transitions:
            self._apply(transition)
            self.subscribers.publish(transition, is_last=transition is transitions[-1])
        if len(self.reports) > reports_before:
            self.services.outbox.report(self.config.table_id, self.reports)
        self.schedule_turn()

    def _apply(self, transition: Transition) -> None:
        entry = transition.entry
        self.state = transition.after
        self.entries.append(entry)
        self._recent.append(transition)
        if transition.reports:
            self.reports += reports_of_transition(self.config, transition)
        if entry.request_id and isinstance(entry.event, Request):
            self._answers[entry.event.seat][entry.request_id] = entry.sequence


def _store_unavailable(message: str) -> Unavailable:
    return Unavailable(errors_pb2.ERROR_REASON_STORE_UNAVAILABLE, message, retry_after_seconds=0.5)


def _request_of(event: LoggedEvent) -> LoggedEvent:
    return event._replace(expires_at=0) if isinstance(event, Proposed) else event
