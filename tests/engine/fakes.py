"""Fakes of the engine's ports: a clock, a store in memory that can fail, a scoring service, a logger."""

import asyncio
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from prometheus_client import CollectorRegistry

from croupier.engine.attendance import RETURN_MILLISECONDS, Attendance, Roll
from croupier.engine.background import Background
from croupier.engine.credits import Interruption
from croupier.engine.fact_codec import StreamEncoder
from croupier.engine.log import Entry, TableConfig, body_to_json, entry_from_row
from croupier.engine.metrics import EngineMetrics
from croupier.engine.news import NoNews
from croupier.engine.reports import Report, Reporter, ReportRejected, ResultReport
from croupier.engine.services import EngineServices
from croupier.engine.store import SequenceTaken, StoredTable, TableMark
from croupier.engine.thinkers import ProcessThinkers
from tests.waiting import SettlingLoop

START = 1_790_000_000_000


class FakeClock:
    """Milliseconds since 1970 UTC that stand still until they are advanced; a driven event loop jumps along."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        return self.now

    def advance(self, milliseconds: int) -> None:
        self.now += milliseconds

    def drive(self) -> None:
        """Let the running loop's time be this clock's."""
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SettlingLoop)
        # Small numbers, of which floating point keeps every millisecond apart.
        loop.follow(lambda: (self.now - START) / 1000)


class Outcome(Enum):
    """What a store does with an append."""

    STORES = "stores"
    FAILS_BEFORE = "fails before the commit"
    FAILS_AFTER = "fails after the commit"


class StoreDown(Exception):
    """The fake store's own failure."""


@dataclass
class Kept:
    """A table in memory."""

    config: TableConfig
    status: str = "prepared"
    entries: list[Entry] = field(default_factory=list)
    looked_at: int = 0
    finished_at: int = 0
    reports_due: int = 0
    reports_done: int = 0
    reports_at: int = 0


class MemoryTableStore:
    """TableStore in memory: appends are committed in their order, also when who waits for one has gone."""

    def __init__(self) -> None:
        self.tables: dict[str, Kept] = {}
        self.outcomes: deque[Outcome] = deque()
        self.reads_fail = False
        self.loads = 0
        self.held = asyncio.Event()
        """Set when an append waits at a closed gate."""
        self.gate = asyncio.Event()
        self.gate.set()
        self._order = asyncio.Lock()

    async def append(self, table_id: str, entries: Sequence[Entry], mark: TableMark | None) -> None:
        outcome = self.outcomes.popleft() if self.outcomes else Outcome.STORES
        committing = asyncio.ensure_future(self._commit(table_id, entries, mark, outcome))
        await asyncio.shield(committing)

    async def _commit(self, table_id: str, entries: Sequence[Entry], mark: TableMark | None, outcome: Outcome) -> None:
        async with self._order:
            if not self.gate.is_set():
                self.held.set()
                await self.gate.wait()
            if outcome is Outcome.FAILS_BEFORE:
                raise StoreDown
            kept = self.tables[table_id]
            if entries[0].sequence != len(kept.entries) + 1:
                raise SequenceTaken
            kept.entries += [_through_json(entry) for entry in entries]
            kept.looked_at = entries[-1].deadline
            if mark:
                kept.reports_due, kept.status = mark.reports_due, "finished" if mark.finished else "open"
                kept.finished_at = entries[-1].at
            if outcome is Outcome.FAILS_AFTER:
                raise StoreDown

    async def prepare(self, config: TableConfig, at: int) -> TableConfig:
        return self.tables.setdefault(config.table_id, Kept(config)).config

    async def open(self, config: TableConfig, entries: Sequence[Entry]) -> bool:
        kept = self.tables.setdefault(config.table_id, Kept(config))
        if kept.status != "prepared":
            return False
        kept.config, kept.status, kept.entries = config, "open", list(entries)
        kept.looked_at = entries[-1].deadline
        return True

    async def load(self, table_id: str) -> StoredTable | None:
        self.loads += 1
        await asyncio.sleep(0)
        self._read()
        kept = self.tables.get(table_id)
        return StoredTable(kept.status, kept.config, tuple(kept.entries)) if kept else None

    async def entries_after(self, table_id: str, sequence: int) -> tuple[Entry, ...]:
        self._read()
        return tuple(self.tables[table_id].entries[sequence:])

    async def entries_beyond(self, heads: Mapping[str, int]) -> dict[str, tuple[Entry, ...]]:
        self._read()
        grown = {table_id: tuple(self.tables[table_id].entries[after:]) for table_id, after in heads.items()}
        return {table_id: entries for table_id, entries in grown.items() if entries}

    def _read(self) -> None:
        if self.reads_fail:
            raise StoreDown

    async def claim_overdue(self, before: int, until: int, limit: int) -> list[str]:
        self._read()
        due = [name for name, kept in self.tables.items() if kept.status == "open" and kept.looked_at < before]
        for table_id in due[:limit]:
            self.tables[table_id].looked_at = until
        return due[:limit]

    async def open_counts(self) -> dict[str, int]:
        return dict(Counter(kept.config.game for kept in self.tables.values() if kept.status == "open"))

    async def statuses(self, table_ids: Sequence[str]) -> dict[str, str]:
        return {table_id: self.tables[table_id].status for table_id in table_ids if table_id in self.tables}

    async def claim_unreported(self, now: int, until: int, limit: int) -> list[str]:
        self._read()
        waiting = [
            table_id
            for table_id, kept in self.tables.items()
            if kept.reports_done < kept.reports_due and kept.reports_at < now
        ]
        for table_id in waiting[:limit]:
            self.tables[table_id].reports_at = until
        return waiting[:limit]

    async def reports_done(self, table_id: str) -> int:
        return self.tables[table_id].reports_done

    async def set_reports_done(self, table_id: str, count: int) -> None:
        kept = self.tables[table_id]
        kept.reports_done = max(kept.reports_done, count)

    async def compact(self, before: int, limit: int) -> int:
        return 0

    forget = forget_prepared = compact


class FakeRoll:
    """AttendanceStore in memory."""

    def __init__(self) -> None:
        self.interruptions: list[Interruption] = []
        self.certain_until: int | None = None
        """Set to say that another engine was not heard of since."""
        self.down = False
        self.asked = 0

    async def attend(self, engine_id: str, now: int) -> Roll:
        self.asked += 1
        if self.down:
            raise StoreDown
        return Roll(now if self.certain_until is None else self.certain_until, tuple(self.interruptions))

    async def leave(self, engine_id: str, now: int) -> None:
        self.interruptions.append(Interruption(now, now + RETURN_MILLISECONDS))


def _through_json(entry: Entry) -> Entry:
    return entry_from_row(entry.sequence, entry.at, entry.deadline, body_to_json(entry))


class FakeScoring:
    """ScoringPort that remembers what it took; it can be down, and refuse tables."""

    def __init__(self) -> None:
        self.down = False
        self.rejected_tables: set[str] = set()
        self.broken_tables: set[str] = set()
        self.got: list[tuple[str, int | str]] = []
        self.tried = asyncio.Event()

    async def send(self, report: Report) -> None:
        self.tried.set()
        table_id = report.config.table_id
        if self.down or table_id in self.broken_tables:
            raise ConnectionError("scoring is away")
        if table_id in self.rejected_tables:
            raise ReportRejected("no such game")
        self.got.append((table_id, "result" if isinstance(report, ResultReport) else report.round.round_number))


class RecordingLogger:
    """Keeps what was logged."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str, dict[str, Any]]] = []

    def info(self, event: str, **fields: Any) -> None:
        self.lines.append(("info", event, fields))

    def warning(self, event: str, **fields: Any) -> None:
        self.lines.append(("warning", event, fields))

    def error(self, event: str, **fields: Any) -> None:
        self.lines.append(("error", event, fields))

    def events(self, level: str) -> list[str]:
        return [event for at, event, _ in self.lines if at == level]


@dataclass
class Bench:
    """What an engine is made of here."""

    clock: FakeClock
    store: MemoryTableStore
    scoring: FakeScoring
    logger: RecordingLogger
    services: EngineServices
    roll: FakeRoll

    def another_engine(self) -> "Bench":
        """A second replica on the same store and clock."""
        return bench(self.clock, self.store, self.scoring, self.roll)

    def count(self, name: str, **labels: str) -> float:
        """The value of a metric, 0 if it was never touched."""
        return self.services.metrics.registry.get_sample_value(name, labels) or 0.0


def bench(clock: FakeClock, store: MemoryTableStore, scoring: FakeScoring, roll: FakeRoll | None = None) -> Bench:
    """An engine's services on these fakes; chance is always 0."""
    logger, metrics, roll = RecordingLogger(), EngineMetrics(CollectorRegistry()), roll or FakeRoll()
    services = EngineServices(
        store=store,
        encoder=StreamEncoder(),
        metrics=metrics,
        clock=clock,
        choose=lambda bound: 0,
        logger=logger,
        background=Background(logger),
        reporter=Reporter(store, scoring, clock, metrics, logger),
        thinkers=ProcessThinkers(0, metrics, logger),
        attendance=Attendance(roll, "e", lambda: True, clock, logger),
        news=NoNews(),
    )
    return Bench(clock, store, scoring, logger, services, roll)
