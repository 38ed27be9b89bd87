"""A table in memory: what its log says, and the one way in which that changes."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TypeAlias

from croupier.engine.audience import Audience
from croupier.engine.history import History
from croupier.engine.log import Entry, LoggedEvent, Proposed, TableConfig, Voted
from croupier.engine.reports import Report, reports_of_step
from croupier.engine.services import EngineServices
from croupier.engine.store import SequenceTaken, TableMark
from croupier.engine.table import Step, new_table, step, steps_of
from croupier.games.facts import Seat
from croupier.games.interface import SeatActed
from croupier.runtime.errors import AlreadyExists, IllegalNow, StaleSequence, Unavailable

MOST_ATTEMPTS = 3
RECENT_STEPS = 16
"""Whoever missed no more entries than these is told of them without folding the log for him."""

Request: TypeAlias = SeatActed | Proposed | Voted
"""What a seat asks for; how long a proposal lasts is not part of it, and 0."""


class CachedTable:
    """A table in memory. All of it but the audience follows from the log and can be dropped at any time."""

    def __init__(self, config: TableConfig, entries: Sequence[Entry], services: EngineServices) -> None:
        """Take a table up from its log."""
        self.config = config
        self.services = services
        self.state = new_table(config)
        self.entries = History()
        self.reports: list[Report] = []
        self._recent: deque[Step] = deque(maxlen=RECENT_STEPS)
        self.audience = Audience(config, services.encoder, services.metrics)
        self.lock = asyncio.Lock()
        self.is_doubtful = False
        """Whether the log may hold something that was appended here and is not known here."""
        self.is_given_up = False
        """Whether all streams were sent elsewhere, and the log has not been read since."""
        self.is_leading = False
        """Whether the last entry was appended here."""
        self._accepted = services.metrics.actions_accepted.labels(config.game)
        self._answers: defaultdict[Seat, dict[str, int]] = defaultdict(dict)
        """By seat and request id, as which entry a request was stored."""
        for made in steps_of(config, entries):
            self._take(made)

    def steps_after(self, sequence: int) -> Iterator[Step]:
        """The steps beyond a sequence that the table has reached."""
        missed = self.state.sequence - sequence
        if missed <= len(self._recent):
            return islice(self._recent, len(self._recent) - missed, None)
        return (made for made in steps_of(self.config, self.entries) if made.entry.sequence > sequence)

    def changed(self) -> None:
        """The table has changed, or became doubtful: for subclasses."""

    def give_up(self) -> None:
        """Send all streams elsewhere: other engines go on with the table, and it would not be seen here."""
        self.is_doubtful = self.is_given_up = True
        self.audience.send_elsewhere()

    async def append_once(self, request: Request, request_id: str, steps_of_request: Callable[[], list[Step]]) -> int:
        """Store the steps of a seat's request, unless that was done; gives its sequence once it is durable.

        Raises what `steps_of_request` raises, if it does so on the log as it is, AlreadyExists for a request id of
        another request, Unavailable when the store failed and the same request should be sent again.
        """
        async with self.lock:
            for _ in range(MOST_ATTEMPTS):
                if self.is_doubtful:
                    await self.catch_up()
                if (answered := self._answered(request, request_id)) is not None:
                    return answered
                try:
                    steps = steps_of_request()
                except (IllegalNow, StaleSequence):
                    # Another engine may have moved the table on: what is refused is refused by the log, not by memory.
                    if await self.catch_up():
                        continue
                    raise
                if await self.store(steps):
                    if isinstance(request, SeatActed):
                        self._accepted.inc()
                    return next(made.entry.sequence for made in steps if made.entry.request_id == request_id)
        raise Unavailable("BUSY", "others act at this table at the same time: try again", retry_after_seconds=0.1)

    def _answered(self, request: Request, request_id: str) -> int | None:
        sequence = self._answers[request.seat].get(request_id)
        if sequence is None:
            return None
        if _request_of(self.entries[sequence - 1].event) != request:
            raise AlreadyExists(
                "REQUEST_ID_REUSED",
                f"this request_id named another request, stored as sequence {sequence}: take a new one for each",
                metadata={"sequence": str(sequence)},
            )
        return sequence

    async def store(self, steps: list[Step]) -> bool:
        """Append steps and take them over; False if somebody else was first, and the table has caught up.

        To be called with the lock held. Raises Unavailable.
        """
        new_reports = sum(made.reports for made in steps)
        mark = TableMark(len(self.reports) + new_reports, steps[-1].after.is_over) if new_reports else None
        self.is_doubtful = True
        try:
            await self.services.store.append(self.config.table_id, [made.entry for made in steps], mark)
            self.is_doubtful = False
        except SequenceTaken:
            await self.catch_up()
            return False
        except asyncio.CancelledError:
            self.services.background.start(self._store_again(steps))
            raise
        except Exception as error:
            self.services.logger.error("append failed", table_id=self.config.table_id, exc_info=error)
            raise Unavailable(
                "STORE_FAILED", "this could not be stored now: send the same request again", retry_after_seconds=0.5
            ) from error
        finally:
            if self.is_doubtful:
                # It may have been stored all the same: those who watch must see it though nobody asks again.
                self.changed()
        self.is_leading = True
        self._publish(steps)
        return True

    async def _store_again(self, steps: list[Step]) -> None:
        """Finish an append whose client has gone; reading the log alone could come before it is stored."""
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
                "STORE_FAILED", "the table cannot be read now: try again", retry_after_seconds=0.5
            ) from error
        self.is_doubtful = self.is_given_up = False
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
            self.is_leading = False
            self._publish(steps)
        return bool(steps)

    def _publish(self, steps: list[Step]) -> None:
        reports_before = len(self.reports)
        for made in steps:
            self._take(made)
            self.audience.show(made)
        if len(self.reports) > reports_before:
            self.services.reporter.report(self.config.table_id, self.reports)
        self.changed()

    def _take(self, made: Step) -> None:
        entry = made.entry
        self.state = made.after
        self.entries.append(entry)
        self._recent.append(made)
        if made.reports:
            self.reports += reports_of_step(self.config, made)
        if entry.request_id and isinstance(entry.event, Request):
            self._answers[entry.event.seat][entry.request_id] = entry.sequence


def _request_of(event: LoggedEvent) -> LoggedEvent:
    return event._replace(expires_at=0) if isinstance(event, Proposed) else event
