"""Reports to scoring: what a log says of rounds and results, and how it gets there at least once."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeAlias

from croupier.engine.log import Entry, TableConfig
from croupier.engine.metrics import EngineMetrics
from croupier.engine.store import TableStore
from croupier.engine.table import steps_of
from croupier.games.facts import GameEnded, RoundEnded
from croupier.runtime.logs import Logger

FIRST_WAIT_SECONDS = 0.2
LONGEST_WAIT_SECONDS = 5.0


class RoundReport(NamedTuple):
    """A round that was scored."""

    config: TableConfig
    round: RoundEnded


class ResultReport(NamedTuple):
    """A game that is over: totals by seat, and when, in milliseconds since 1970 UTC."""

    config: TableConfig
    ended: GameEnded
    totals: tuple[int, ...]
    finished_at: int


Report: TypeAlias = RoundReport | ResultReport


class ReportRejected(Exception):
    """Scoring will never take this report."""


class ScoringPort(Protocol):
    """Where reports go."""

    async def send(self, report: Report) -> None:
        """Hand a report over; raises ReportRejected, or anything else to be tried again."""


def reports_of(config: TableConfig, entries: Sequence[Entry]) -> list[Report]:
    """All reports that a log gives rise to, in order."""
    reports: list[Report] = []
    for made in steps_of(config, entries):
        reports += [RoundReport(config, fact) for fact in made.facts if isinstance(fact, RoundEnded)]
        ended = next((fact for fact in made.facts if isinstance(fact, GameEnded)), None)
        if ended:
            reports.append(ResultReport(config, ended, made.after.game.scores, made.entry.at))
    return reports


class Reporter:
    """Hands reports over, table by table; what scoring does not take now waits, and tables go on meanwhile."""

    def __init__(self, store: TableStore, scoring: ScoringPort, metrics: EngineMetrics, logger: Logger) -> None:
        self._store = store
        self._scoring = scoring
        self._metrics = metrics
        self._logger = logger
        # A dict keeps the order in which tables asked; each is in it once, however often it asks.
        self._tables: dict[str, None] = {}
        self._wake = asyncio.Event()

    def report(self, table_id: str) -> None:
        """Note that reports of this table are due."""
        self._tables[table_id] = None
        self._metrics.reports_waiting.set(len(self._tables))
        self._wake.set()

    async def run(self) -> None:
        """Hand over what is due, also from before a restart; runs until cancelled."""
        wait_seconds = FIRST_WAIT_SECONDS
        known = False
        while True:
            try:
                if not known:
                    for table_id in await self._store.unreported_table_ids():
                        self.report(table_id)
                    known = True
                await self.hand_over()
                wait_seconds = FIRST_WAIT_SECONDS
                await self._wake.wait()
            except Exception as error:  # noqa: BLE001 - whatever it was, it is tried again
                self._logger.warning("reports wait for scoring", error=type(error).__name__, tables=len(self._tables))
                await asyncio.sleep(wait_seconds)
                wait_seconds = min(wait_seconds * 2, LONGEST_WAIT_SECONDS)

    async def hand_over(self) -> None:
        """Hand over everything that is due now; raises what scoring or the store raised."""
        self._wake.clear()
        while self._tables:
            table_id = next(iter(self._tables))
            await self._hand_over_table(table_id)
            self._metrics.reports_waiting.set(len(self._tables))

    async def _hand_over_table(self, table_id: str) -> None:
        self._tables.pop(table_id)
        try:
            stored = await self._store.load(table_id)
            done = await self._store.reports_done(table_id)
            reports = reports_of(stored.config, stored.entries) if stored else []
            for report in reports[done:]:
                await self._send(table_id, report)
            if len(reports) > done:
                await self._store.set_reports_done(table_id, len(reports))
        except BaseException:
            self._tables[table_id] = None
            raise

    async def _send(self, table_id: str, report: Report) -> None:
        try:
            await self._scoring.send(report)
        except ReportRejected as error:
            # Trying again would change nothing and hold up all others; an operator has to look.
            self._logger.error("scoring rejected a report", table_id=table_id, error=str(error))
