"""Delivery of reports to scoring, at least once."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

from croupier.engine.core.log_codec import UnreadableLog
from croupier.engine.core.reports import Report, reports_of
from croupier.engine.metrics import EngineMetrics
from croupier.engine.storage.port import StoredTable, TableStore
from croupier.runtime.identity import Clock
from croupier.runtime.logs import Logger

FIRST_WAIT_SECONDS = 0.2
MAX_WAIT_SECONDS = 5.0
LOOK_SECONDS = 1.0
CLAIM_MILLISECONDS = 10_000
"""How long other engines leave alone what one of them found."""
CLAIM_LIMIT = 50
MAX_DUE = 500
"""With so many tables that wait for scoring, an engine looks for no more."""


class ReportRejected(Exception):
    """Scoring will never take this report."""


class ScoringPort(Protocol):
    """Where reports go."""

    async def send(self, report: Report) -> None:
        """Hand a report over; raises ReportRejected, or anything else to be tried again."""


class Outbox:
    """Hands reports over, table by table; what scoring does not take now waits, and tables go on meanwhile."""

    def __init__(
        self, store: TableStore, scoring: ScoringPort, clock: Clock, metrics: EngineMetrics, logger: Logger
    ) -> None:
        self._store = store
        self._scoring = scoring
        self._clock = clock
        self._metrics = metrics
        self._logger = logger
        # All reports of each table that has some due. A dict keeps the order in which tables asked.
        self._due: dict[str, Sequence[Report]] = {}
        self._wake = asyncio.Event()

    @property
    def pending(self) -> int:
        """How many tables have reports that are due here."""
        return len(self._due)

    def report(self, table_id: str, reports: Sequence[Report]) -> None:
        """Note that reports of this table are due; these are all it has had, in order."""
        self._due[table_id] = reports
        self._metrics.reports_waiting.set(len(self._due))
        self._wake.set()

    async def run(self) -> None:
        """Hand over what is due, also what other engines left undone; runs until cancelled."""
        wait_seconds = FIRST_WAIT_SECONDS
        while True:
            try:
                await self.look()
                await self.hand_over()
                wait_seconds = FIRST_WAIT_SECONDS
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_SECONDS):
                        await self._wake.wait()
            except Exception as error:  # noqa: BLE001 - whatever it was, it is tried again
                self._logger.warning("reports wait for scoring", error=type(error).__name__, tables=len(self._due))
                await asyncio.sleep(wait_seconds)
                wait_seconds = min(wait_seconds * 2, MAX_WAIT_SECONDS)

    async def look(self) -> None:
        """Find what is due and was handed over by nobody."""
        if len(self._due) >= MAX_DUE:
            return
        now = self._clock()
        for table_id in await self._store.claim_unreported(now, now + CLAIM_MILLISECONDS, CLAIM_LIMIT):
            try:
                stored = await self._store.load(table_id)
            except UnreadableLog as error:
                self._leave(table_id, error)
                continue
            if stored and table_id not in self._due:
                self._report_of(stored)

    def _report_of(self, stored: StoredTable) -> None:
        table_id = stored.config.table_id
        try:
            self.report(table_id, reports_of(stored.config, stored.entries))
        except Exception as error:  # noqa: BLE001 - a table that cannot be folded keeps no other from being reported
            self._leave(table_id, error)

    def _leave(self, table_id: str, error: Exception) -> None:
        # Only newer engines may know the rules of this table, or the format of its log.
        self._logger.error("reports cannot be told", table_id=table_id, exc_info=error)

    async def hand_over(self) -> None:
        """Hand over everything that is due now; raises what scoring or the store raised."""
        self._wake.clear()
        while self._due:
            table_id, reports = next(iter(self._due.items()))
            try:
                await self._hand_over_table(table_id, reports)
            except Exception:
                # It goes to the end, so that what is wrong with one table does not hold up all others.
                self._due[table_id] = self._due.pop(table_id)
                raise
            self._metrics.reports_waiting.set(len(self._due))

    async def _hand_over_table(self, table_id: str, reports: Sequence[Report]) -> None:
        count = len(reports)
        done = await self._store.reports_done(table_id)
        for report in reports[done:count]:
            await self._send(table_id, report)
        if count > done:
            await self._store.set_reports_done(table_id, count)
        if len(reports) == count:  # The list grows while the table goes on.
            self._due.pop(table_id, None)

    async def _send(self, table_id: str, report: Report) -> None:
        try:
            await self._scoring.send(report)
        except ReportRejected as error:
            # Trying again would change nothing and hold up all others; an operator has to look.
            self._logger.error("scoring rejected a report", table_id=table_id, error=str(error))
