"""A table in memory: what its log says, and the one way in which that changes."""

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from itertools import islice
from typing import TypeAlias

from croupier.engine.core.compensation import compensation_due
from croupier.engine.core.fold import Transition, advance, new_table, step, transitions_of
from croupier.engine.core.log import Entry, LoggedEvent, Proposed, TableConfig, Voted
from croupier.engine.core.reports import Report, reports_of_transition
from croupier.engine.storage.port import SequenceTaken, TableMark
from croupier.engine.tables.dependencies import TableDependencies
from croupier.engine.tables.history import History
from croupier.engine.tables.subscribers import Subscribers
from croupier.games.facts import Seat
from croupier.games.interface import SeatActed
from croupier.runtime.errors import AlreadyExists, IllegalNow, StaleSequence, Unavailable
from croupier.runtime.tracing import GAME, SEQUENCE, TABLE_ID, open_span
from croupier_api.v1 import errors_pb2

MAX_ATTEMPTS = 3
MAX_WAIT_SECONDS = 10.0
"""How long a call waits for a table and its log; more than a commit takes that fails by itself."""
RECENT_STEPS = 16
"""Whoever missed no more entries than these is told of them without folding the log for him."""

Request: TypeAlias = SeatActed | Proposed | Voted
"""What a seat asks for; how long a proposal lasts is not part of it, and 0."""


class CachedTable:
    """A table in memory. All of it but the audience follows from the log and can be dropped at any time."""

    def __init__(self, config: TableConfig, entries: Sequence[Entry], services: TableDependencies) -> None:
        """Take a table up from its log."""
        self.config = config
        self.services = services
        self.state = new_table(config)
        self.entries = History(config.table_id)
        self.reports: list[Report] = []
        self._recent: deque[Transition] = deque(maxlen=RECENT_STEPS)
        self.audience = Subscribers(config, services.encoder, services.metrics)
        self.lock = asyncio.Lock()
        self.needs_catch_up = False
        """Whether the log may hold something that was appended here and is not known here."""
        self.is_handed_over = False
        """Whether all streams were sent to other engines, and the log has not been read since."""
        self.is_last_writer = False
        """Whether the last entry was appended here."""
        self._accepted = services.metrics.actions_accepted.labels(config.game)
        self._answers: defaultdict[Seat, dict[str, int]] = defaultdict(dict)
        """By seat and request id, as which entry a request was stored."""
        for made in transitions_of(config, entries):
            self._take(made)

    def transitions_after(self, sequence: int) -> Iterator[Transition]:
        """The steps beyond a sequence that the table has reached."""
        missed = self.state.sequence - sequence
        if missed <= len(self._recent):
            return islice(self._recent, len(self._recent) - missed, None)
        return (made for made in transitions_of(self.config, self.entries) if made.entry.sequence > sequence)

    def compensation(self, now: int) -> list[Transition]:
        """The transition that gives back what was not served of the time of those to act; none if that is nothing."""
        credit = compensation_due(self.state.clock, now, self.services.liveness.outages)
        return advance(self.config, self.state, now, credit) if credit else []

    def changed(self) -> None:
        """The table has changed, or became doubtful: for subclasses."""

    def hand_over(self) -> None:
        """Send all streams to other engines, which continue the table while this one cannot follow the log."""
        self.needs_catch_up = self.is_handed_over = True
        self.audience.send_elsewhere()

    @asynccontextmanager
    async def locked_in_time(self) -> AsyncIterator[None]:
        """Hold the lock for a call; raises Unavailable if that and the body take longer than MAX_WAIT_SECONDS.

        An append that is under way then goes on as for a client that has gone, since it may yet become durable.
        """
        try:
            async with asyncio.timeout(MAX_WAIT_SECONDS), self.lock:
                yield
        except TimeoutError:
            self.services.logger.warning("the store does not answer in time", table_id=self.config.table_id)
            message = "the store does not answer in time: send the same request again"
            raise Unavailable(errors_pb2.ERROR_REASON_STORE_UNAVAILABLE, message, retry_after_seconds=0.5) from None

    async def append_once(
        self, request: Request, request_id: str, transitions_of_request: Callable[[], list[Transition]]
    ) -> int:
        """Store the steps of a seat's request, unless that was done; returns its sequence once it is durable.

        Raises what `transitions_of_request` raises, if it does so on the log as it is, AlreadyExists for a request id
        of another request, Unavailable when the store failed, or did not answer in time, and the same request should be
        sent again.
        """
        with open_span("act", {TABLE_ID: self.config.table_id, GAME: self.config.game}) as span:
            sequence = await self._append_once(request, request_id, transitions_of_request)
            span.set_attribute(SEQUENCE, sequence)
            return sequence

    async def _append_once(
        self, request: Request, request_id: str, transitions_of_request: Callable[[], list[Transition]]
    ) -> int:
        async with self.locked_in_time():
            for _ in range(MAX_ATTEMPTS):
                if self.needs_catch_up:
                    await self.catch_up()
                if (answered := self._answered(request, request_id)) is not None:
                    return answered
                try:
                    with open_span("decide"):
                        steps = transitions_of_request()
                except (IllegalNow, StaleSequence):
                    # Another engine may have moved the table on: what is refused is refused by the log, not by memory.
                    if await self.catch_up():
                        continue
                    raise
                if await self.store(steps):
                    if isinstance(request, SeatActed):
                        self._accepted.inc()
                    return next(made.entry.sequence for made in steps if made.entry.request_id == request_id)
        raise Unavailable(
            errors_pb2.ERROR_REASON_TABLE_BUSY,
            "too many calls change the table at once: try again",
            retry_after_seconds=0.1,
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

    async def store(self, steps: list[Transition]) -> bool:
        """Append steps and take them over; False if somebody else was first, and the table has caught up.

        To be called with the lock held. Raises Unavailable.
        """
        new_reports = sum(made.reports for made in steps)
        mark = TableMark(len(self.reports) + new_reports, steps[-1].after.is_over) if new_reports else None
        self.needs_catch_up = True
        try:
            await self.services.store.append(self.config.table_id, [made.entry for made in steps], mark)
            self.needs_catch_up = False
        except SequenceTaken:
            await self.catch_up()
            return False
        except asyncio.CancelledError:
            self.services.background.start(self._store_again(steps))
            raise
        except Exception as error:
            self.services.logger.error("append failed", table_id=self.config.table_id, exc_info=error)
            raise Unavailable(
                errors_pb2.ERROR_REASON_STORE_UNAVAILABLE,
                "the database did not answer: send the same request again",
                retry_after_seconds=0.5,
            ) from error
        finally:
            if self.needs_catch_up:
                # It may have been stored all the same: those who watch must see it though nobody asks again.
                self.changed()
        self.is_last_writer = True
        with open_span("deliver", {TABLE_ID: self.config.table_id, SEQUENCE: steps[-1].entry.sequence}):
            self._publish(steps)
        return True

    async def _store_again(self, steps: list[Transition]) -> None:
        """Finish an append that nobody waits for any more; reading the log alone could come before it is stored."""
        async with self.lock:
            await self.store(steps)

    async def catch_up(self) -> bool:
        """Take over what the log has and this table has not, with the lock held; gives whether that was anything.

        Raises Unavailable.
        """
        try:
            missed = await self.services.store.entries_after(self.config.table_id, self.state.sequence)
        except Exception as error:
            raise Unavailable(
                errors_pb2.ERROR_REASON_STORE_UNAVAILABLE,
                "the database did not answer: try again",
                retry_after_seconds=0.5,
            ) from error
        self.needs_catch_up = self.is_handed_over = False
        return self._take_over(missed)

    async def take_over(self, entries: Sequence[Entry]) -> None:
        """Take over what another engine appended, as read from the log just now."""
        async with self.lock:
            self._take_over([entry for entry in entries if entry.sequence > self.state.sequence])

    def _take_over(self, missed: Sequence[Entry]) -> bool:
        steps = []
        state = self.state
        for entry in missed:
            if entry.sequence != state.sequence + 1:
                raise ValueError(f"entry {entry.sequence} cannot follow entry {state.sequence}: the log has a gap")
            steps.append(step(self.config, state, entry))
            state = steps[-1].after
        if steps:
            self.is_last_writer = False
            self._publish(steps)
        return bool(steps)

    def _publish(self, steps: list[Transition]) -> None:
        reports_before = len(self.reports)
        for made in steps:
            self._take(made)
            self.audience.show(made, is_last=made is steps[-1])
        if len(self.reports) > reports_before:
            self.services.outbox.report(self.config.table_id, self.reports)
        self.changed()

    def _take(self, made: Transition) -> None:
        entry = made.entry
        self.state = made.after
        self.entries.append(entry)
        self._recent.append(made)
        if made.reports:
            self.reports += reports_of_transition(self.config, made)
        if entry.request_id and isinstance(entry.event, Request):
            self._answers[entry.event.seat][entry.request_id] = entry.sequence


def _request_of(event: LoggedEvent) -> LoggedEvent:
    return event._replace(expires_at=0) if isinstance(event, Proposed) else event
