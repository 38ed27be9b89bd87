"""A table in memory: the fold of its log, and the only way to change it."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager

from croupier.engine.core.compensation import compensation_due
from croupier.engine.core.fold import TableState, Transition, advance, transition_of
from croupier.engine.core.folded_table import FoldedTable, Request
from croupier.engine.core.history import History
from croupier.engine.core.log import Entry, TableEnded
from croupier.engine.core.log_codec import decode_entry, rows_of
from croupier.engine.core.reports import Report
from croupier.engine.storage.port import SequenceTaken, TableChange
from croupier.engine.tables.dependencies import TableDependencies
from croupier.engine.tables.entry_rate import EntryRate
from croupier.engine.tables.subscribers import Subscribers
from croupier.games.facts import Seat
from croupier.games.interface import SeatActed
from croupier.runtime.errors import IllegalNow, StaleSequence, Unavailable
from croupier.runtime.tracing import GAME, SEQUENCE, TABLE_ID, open_span
from croupier_api.v1 import errors_pb2

MAX_ATTEMPTS = 3
CALL_TIMEOUT_SECONDS = 10.0
"""The time that a call waits for a table and its log; longer than the time-out of a commit."""
MAX_MISSED_ENTRIES = 64
"""The entries that a table takes over at once; more of them would occupy the event loop for too long."""
REFRESH_SECONDS = 0.1
"""The time from one refresh of a table to the next at least."""


class CachedTable:
    """A table in memory. Everything but its subscribers follows from the log, and can be dropped at any time."""

    def __init__(self, folded: FoldedTable, services: TableDependencies, network: str = "") -> None:
        self.config = config = folded.config
        self.network = network
        """The network of the player who created the table, empty if it is not known."""
        self.services = services
        self._folded = folded
        self.subscribers = Subscribers(
            config,
            services.encoder,
            services.metrics,
            services.spectator_sending,
            services.clock,
            services.max_queue_messages,
        )
        self.lock = asyncio.Lock()
        self.needs_catch_up = False
        """Whether the log may hold entries that this engine appended and does not know of."""
        self.is_handed_over = False
        """Whether all streams were handed over to other engines, and the log was not read since."""
        self._reading = asyncio.Lock()
        self._last_read = -math.inf
        self._next_read: asyncio.Task[None] | None = None
        """The refresh that has not begun to read."""
        self.is_last_writer = False
        """Whether this engine appended the last entry."""
        self.entry_rate = EntryRate(services.entry_limit)
        self._accepted = services.metrics.actions_accepted.labels(config.game)

    @property
    def state(self) -> TableState:
        """The table after its last entry."""
        return self._folded.state

    @property
    def entries(self) -> History:
        """The log."""
        return self._folded.entries

    def entries_after(self, sequence: int) -> Iterator[Entry]:
        """Return the entries after a sequence, without those that are added from now on."""
        return self._folded.entries.after(sequence)

    @property
    def reports(self) -> Sequence[Report]:
        """The reports to scoring so far, in order; the list grows with the table."""
        return self._folded.reports

    def proposed_at(self, seat: Seat) -> Sequence[int]:
        """Return the times of a seat's last proposals."""
        return self._folded.proposed_at[seat]

    def transitions_after(self, sequence: int) -> Iterator[Transition] | None:
        """Return the transitions after a sequence that the table has reached; None if there are too many to resume."""
        return self._folded.transitions_after(sequence)

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
            raise _late_store() from None

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
                if (answered := self._folded.answer_to(request, request_id)) is not None:
                    return answered
                self.entry_rate.check(self.services.clock())
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
        except Unavailable as outage:
            raise _store_unavailable("the database did not answer: send the same request again") from outage
        except Exception as error:
            self.services.logger.error("append failed", table_id=self.config.table_id, exc_info=error)
            raise _store_unavailable("the store failed: send the same request again") from error
        finally:
            if self.needs_catch_up:
                # The entries may be stored all the same: subscribers must get them even if no call follows.
                self.schedule_turn()
        self.is_last_writer = True
        if isinstance(ended := transitions[-1].entry.event, TableEnded):
            self.services.metrics.tables_ended.labels(ended.limit).inc()
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
        had_missed, is_behind = False, True
        while is_behind:
            missed = await self._read_missed()
            if not (is_behind := len(missed) == MAX_MISSED_ENTRIES):
                self.needs_catch_up = self.is_handed_over = False
            had_missed = self._apply_entries(missed) or had_missed
        return had_missed

    async def refresh(self) -> None:
        """Apply the entries of the log that the table has missed; return after a read that began after this call.

        The lock is free during the read, which all callers share, and the next read begins a moment later: so callers
        without a seat cannot delay a player. Raises Unavailable.
        """
        if self._next_read is None:
            self._next_read = asyncio.ensure_future(self._read_without_lock())
            self._next_read.add_done_callback(_retrieve)
        try:
            async with asyncio.timeout(CALL_TIMEOUT_SECONDS):
                await asyncio.shield(self._next_read)
        except TimeoutError:
            raise _late_store() from None

    async def _read_without_lock(self) -> None:
        loop = asyncio.get_running_loop()
        async with self._reading:
            await asyncio.sleep(self._last_read + REFRESH_SECONDS - loop.time())
            self._next_read, self._last_read = None, loop.time()
            missed = await self._read_missed()
        while missed:
            await self.apply_entries(missed)
            missed = await self._read_missed() if len(missed) == MAX_MISSED_ENTRIES else ()

    async def _read_missed(self) -> tuple[Entry, ...]:
        """Return the next entries that the table does not have, in order; raises Unavailable."""
        table_id, known = self.config.table_id, self.state.sequence
        try:
            part = await self.services.store.log_after(table_id, known, MAX_MISSED_ENTRIES)
            return tuple([decode_entry(table_id, *row) for row in rows_of(table_id, part) if row[0] > known])
        except Exception as error:
            raise _store_unavailable("the database did not answer: try again") from error

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
        for transition in transitions:
            self.entry_rate.count(transition.entry.at)
            self._folded.apply(transition)
            self.subscribers.publish(transition, is_last=transition is transitions[-1])
        if len(self.reports) > reports_before:
            self.services.outbox.report(self.config.table_id, self.reports)
        self.schedule_turn()


def _late_store() -> Unavailable:
    return _store_unavailable("the store does not answer in time: send the same request again")


def _store_unavailable(message: str) -> Unavailable:
    return Unavailable(errors_pb2.ERROR_REASON_STORE_UNAVAILABLE, message, retry_after_seconds=0.5)


def _retrieve(read: asyncio.Task[None]) -> None:
    if not read.cancelled():
        # So that a failure without a remaining caller is not logged.
        read.exception()
