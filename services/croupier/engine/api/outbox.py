"""Delivery of reports to scoring, at least once."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

from croupier.engine.core.folded_table import FoldedTable
from croupier.engine.core.guarded_rules import RulesUnusable
from croupier.engine.core.reports import Report
from croupier.engine.metrics import EngineMetrics
from croupier.engine.storage.port import TableStore, log_rows
from croupier.engine.tables.failing_rules import FailingRules
from croupier.games.registry import UnknownRules
from croupier.runtime.errors import Unavailable
from croupier.runtime.identity.tokens import Clock
from croupier.runtime.observation.logs import Logger

MIN_BACKOFF_SECONDS = 0.2
MAX_BACKOFF_SECONDS = 5.0
POLL_SECONDS = 1.0
CLAIM_MILLISECONDS = 10_000
"""An engine that claimed reports has this long to deliver them before another may claim them."""
MAX_CLAIMS = 50
MAX_DUE = 500
"""With so many tables that wait for scoring, an engine claims no more."""


class ReportRejected(Exception):
    """Scoring rejected a report, and would reject it again."""


class ScoringPort(Protocol):
    """The port to scoring."""

    async def send(self, report: Report) -> None:
        """Deliver a report; raises ReportRejected if scoring rejects it, Unavailable for a retry."""

    async def remove_player_name(self, player_id: str, playing: Sequence[str], after: str) -> Sequence[str]:
        """Remove the name of a deleted player from the ledger; raises Unavailable for a retry.

        `playing` are the tables whose games have not ended. Returns the next tables after one with a result of the
        player; none after the last.
        """


class Outbox:
    """Delivers reports, table by table; while scoring is down they wait, and tables continue."""

    def __init__(
        self,
        store: TableStore,
        scoring: ScoringPort,
        failing: FailingRules,
        clock: Clock,
        metrics: EngineMetrics,
        logger: Logger,
    ) -> None:
        self._store = store
        self.scoring = scoring
        self._failing = failing
        self._clock = clock
        self._metrics = metrics
        self._logger = logger
        # All reports of each table with due ones, in the order in which tables reported.
        self._due: dict[str, Sequence[Report]] = {}
        self._unknown: set[str] = set()
        """The unknown rules of tables with reports, as they were logged."""
        self._wake = asyncio.Event()

    @property
    def pending(self) -> int:
        """The number of tables with reports that are due here."""
        return len(self._due)

    def report(self, table_id: str, reports: Sequence[Report]) -> None:
        """Enqueue the reports of a table: all that it has had, in order."""
        self._due[table_id] = reports
        self._metrics.reports_waiting.set(len(self._due))
        self._wake.set()

    async def run(self) -> None:
        """Deliver due reports, also those that other engines left; runs until cancelled."""
        backoff_seconds = MIN_BACKOFF_SECONDS
        while True:
            try:
                await self.claim_due()
                await self.deliver()
                backoff_seconds = MIN_BACKOFF_SECONDS
                with suppress(TimeoutError):
                    async with asyncio.timeout(POLL_SECONDS):
                        await self._wake.wait()
            except Exception as error:
                if not isinstance(error, Unavailable):
                    self._logger.error("reports cannot be delivered", tables=len(self._due), exc_info=error)
                await asyncio.sleep(backoff_seconds)
                backoff_seconds = min(backoff_seconds * 2, MAX_BACKOFF_SECONDS)

    async def claim_due(self) -> None:
        """Claim the reports of tables whose engine did not deliver them in time."""
        if len(self._due) >= MAX_DUE:
            return
        now = self._clock()
        for table_id in await self._store.claim_unreported(now, now + CLAIM_MILLISECONDS, MAX_CLAIMS):
            try:
                reports = await self._reports_of(table_id)
            except Unavailable:
                raise
            except RulesUnusable:
                # It was logged where the rules failed.
                continue
            except UnknownRules as error:
                # Perhaps another engine knows them; the reports wait until an engine does.
                if str(error) not in self._unknown:
                    self._unknown.add(str(error))
                    self._logger.error("reports cannot be derived", table_id=table_id, why=str(error))
                continue
            except Exception as error:
                # Perhaps only newer engines know the format of its log.
                self._logger.error("reports cannot be derived", table_id=table_id, exc_info=error)
                continue
            if reports and table_id not in self._due:
                self.report(table_id, reports)

    async def _reports_of(self, table_id: str) -> Sequence[Report]:
        stored = await self._store.find(table_id)
        if stored is None:
            return ()
        folded = FoldedTable(stored.config, self._failing.watch(stored.config))
        async for row in log_rows(self._store, table_id):
            folded.add(row)
        return folded.reports

    async def deliver(self) -> None:
        """Deliver all due reports; raises what scoring or the store raises."""
        self._wake.clear()
        while self._due:
            table_id, reports = next(iter(self._due.items()))
            try:
                await self._deliver_table(table_id, reports)
            except Exception:
                # The table goes to the end, so that its fault does not block all others.
                self._due[table_id] = self._due.pop(table_id)
                raise
            self._metrics.reports_waiting.set(len(self._due))

    async def _deliver_table(self, table_id: str, reports: Sequence[Report]) -> None:
        count = len(reports)
        done = await self._store.reports_done(table_id)
        for report in reports[done:count]:
            await self._send(table_id, report)
        if count > done:
            await self._store.set_reports_done(table_id, count)
        # The list grows while the table goes on; a table that was loaded again has another one.
        if len(reports) == count and self._due.get(table_id) is reports:
            del self._due[table_id]

    async def _send(self, table_id: str, report: Report) -> None:
        try:
            await self.scoring.send(report)
        except ReportRejected as error:
            # A retry would fail again and block all others; an operator has to find the cause.
            self._logger.error("scoring rejected a report", table_id=table_id, error=str(error))
