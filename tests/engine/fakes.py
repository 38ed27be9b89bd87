"""Fakes of the engine's ports: a clock, a store in memory that can fail, a scoring service, a logger."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from prometheus_client import CollectorRegistry

from croupier.engine.api.outbox import Outbox, ReportRejected
from croupier.engine.api.servicer import EngineServicer
from croupier.engine.api.stream_codec import StreamEncoder
from croupier.engine.bots.worker_pool import BotWorkerPool, BotWorkers
from croupier.engine.cluster.catch_up import CatchUp
from croupier.engine.cluster.housekeeping import Housekeeper, RetentionPolicy
from croupier.engine.cluster.liveness import RECONNECT_MILLISECONDS, EngineLiveness, LivenessReport
from croupier.engine.cluster.notifier import NullNotifier
from croupier.engine.core.compensation import Outage
from croupier.engine.core.decide import TableLimits
from croupier.engine.core.fold import Turn
from croupier.engine.core.folded_table import FoldedTable
from croupier.engine.core.history import PackedLog
from croupier.engine.core.living_games import EngineGames, LivingGames, installed_versions
from croupier.engine.core.log import Entry, TableConfig
from croupier.engine.core.log_codec import LogPart, UnreadableLog, decode_entry, encode_body, row_of
from croupier.engine.core.reports import Report, ResultReport
from croupier.engine.metrics import EngineMetrics
from croupier.engine.storage.port import (
    NO_TURN,
    SequenceTaken,
    StoredTable,
    TableChange,
    TableStatus,
    TableStore,
)
from croupier.engine.tables.call_timeouts import CallTimeouts
from croupier.engine.tables.entry_rate import EntryLimit
from croupier.engine.tables.failing_rules import FailingRules
from croupier.engine.tables.loading import LoadQueue
from croupier.engine.tables.presence import Announce
from croupier.engine.tables.registry import Tables
from croupier.engine.tables.replays import ReplayCache
from croupier.engine.tables.subscribers import Subscribers
from croupier.engine.tables.subscription import MAX_QUEUE_MESSAGES, Encoder
from croupier.engine.tables.table import Table
from croupier.engine.tables.turn_scheduler import TurnScheduler
from croupier.engine.tasks import Background
from croupier.games.registry import installed_games
from croupier.runtime.admission.budget import Budget
from croupier.runtime.errors import Unavailable
from croupier.runtime.fair_queue import SendingLoop
from croupier.runtime.identity.links import Links, links_by
from croupier.runtime.outcomes import Callback, call_back
from croupier_api.v1 import errors_pb2
from tests.calls import FREE
from tests.waiting import SettlingLoop

NO_LIMITS = TableLimits(max_entries=1_000_000, max_rounds=1_000_000)
NO_ENTRY_LIMIT = EntryLimit(per_second=0, burst=1)
UNPACED = 1_000_000
START = 1_790_000_000_000
LINK_KEY = Ed25519PrivateKey.generate()


class FakeClock:
    """A clock in milliseconds since 1970 UTC that a test advances, with the event loop if it is driven."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        return self.now

    def advance(self, milliseconds: int) -> None:
        self.now += milliseconds

    def drive(self) -> None:
        """Let the running loop follow this clock."""
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SettlingLoop)
        # Small numbers, with which floating point distinguishes every millisecond.
        loop.follow(lambda: (self.now - START) / 1000)


class AppendOutcome(Enum):
    STORES = "stores"
    FAILS_BEFORE = "fails before the commit"
    FAILS_AFTER = "fails after the commit"


class StoreDown(Unavailable):
    def __init__(self) -> None:
        super().__init__(errors_pb2.ERROR_REASON_STORE_UNAVAILABLE, "the fake store is down")


@dataclass
class MemoryTable:
    config: TableConfig
    status: str = "prepared"
    network: str = ""
    entries: list[Entry] = field(default_factory=list)
    due_at: int = 0
    turn: Turn = NO_TURN
    finished_at: int = 0
    archive_at: int = 0
    reports_due: int = 0
    reports_done: int = 0
    reports_at: int = 0


class MemoryTableStore:
    """TableStore in memory: appends are committed in order, also when their callers have been cancelled."""

    def __init__(self) -> None:
        self.tables: dict[str, MemoryTable] = {}
        self.replays: dict[str, bytes] = {}
        self.outcomes: deque[AppendOutcome] = deque()
        self.reads_fail = False
        self.unreadable: set[str] = set()
        """Tables of whose logs the format is unknown."""
        self.log_reads = 0
        self.held = asyncio.Event()
        """Set when an append waits at a closed gate."""
        self.gate = asyncio.Event()
        self.gate.set()
        self._order = asyncio.Lock()

    version = None

    def append(
        self, table_id: str, entries: Sequence[Entry], change: TableChange | None, turn: Turn, done: Callback[None]
    ) -> None:
        outcome = self.outcomes.popleft() if self.outcomes else AppendOutcome.STORES
        call_back(self._commit(table_id, entries, change, turn, outcome), done)

    async def _commit(
        self, table_id: str, entries: Sequence[Entry], change: TableChange | None, turn: Turn, outcome: AppendOutcome
    ) -> None:
        async with self._order:
            if not self.gate.is_set():
                self.held.set()
                await self.gate.wait()
            if outcome is AppendOutcome.FAILS_BEFORE:
                raise StoreDown
            kept = self.tables[table_id]
            if entries[0].sequence != len(kept.entries) + 1:
                raise SequenceTaken
            kept.entries += [_through_json(table_id, entry) for entry in entries]
            kept.due_at, kept.turn = entries[-1].deadline, turn
            if change:
                kept.reports_due, kept.status = change.reports_due, "finished" if change.finished else "open"
                kept.finished_at = entries[-1].at
            if outcome is AppendOutcome.FAILS_AFTER:
                raise StoreDown

    async def prepare(self, config: TableConfig, at: int, network: str = "") -> TableConfig:
        return self.tables.setdefault(config.table_id, MemoryTable(config, network=network)).config

    async def open(self, config: TableConfig, entries: Sequence[Entry], turn: Turn = NO_TURN) -> bool:
        kept = self.tables.setdefault(config.table_id, MemoryTable(config))
        if kept.status != "prepared":
            return False
        kept.config, kept.status, kept.entries = config, "open", list(entries)
        kept.due_at, kept.turn = entries[-1].deadline, turn
        return True

    async def find(self, table_id: str) -> StoredTable | None:
        await asyncio.sleep(0)
        self._read(table_id)
        kept = self.tables.get(table_id)
        return StoredTable(kept.status, kept.config, kept.finished_at or None, kept.network) if kept else None

    async def log_after(self, table_id: str, sequence: int, limit: int) -> LogPart:
        self.log_reads += 1
        await asyncio.sleep(0)
        self._read(table_id)
        return LogPart(rows=tuple(map(row_of, self.tables[table_id].entries[sequence : sequence + limit])))

    async def entries_beyond(self, heads: Mapping[str, int], limit: int) -> dict[str, tuple[Entry, ...]]:
        self._read(*heads)
        grown: dict[str, tuple[Entry, ...]] = {}
        for table_id, after in sorted(heads.items()):
            if entries := tuple(self.tables[table_id].entries[after : after + limit]):
                grown[table_id] = entries
                limit -= len(entries)
        return grown

    def _read(self, *table_ids: str) -> None:
        if self.reads_fail:
            raise StoreDown
        for table_id in self.unreadable.intersection(table_ids):
            raise UnreadableLog(table_id, "log entry 2", "unknown type 'foo' version 2")

    async def find_replay(self, table_id: str) -> bytes | None:
        self._read(table_id)
        return self.replays.get(table_id)

    async def store_replay(self, table_id: str, replay: bytes) -> None:
        self.replays[table_id] = replay

    async def claim_overdue(self, before: int, until: int, limit: int) -> list[str]:
        self._read()
        return self._claim("due_at", lambda kept: kept.status == "open" and kept.due_at < before, until, limit)

    def _claim(self, at: str, is_due: Callable[[MemoryTable], bool], until: int, limit: int) -> list[str]:
        due = [table_id for table_id, kept in self.tables.items() if is_due(kept)][:limit]
        for table_id in due:
            setattr(self.tables[table_id], at, until)
        return due

    async def ended_after(self, position: tuple[int, str], limit: int) -> list[tuple[int, str]]:
        self._read()
        ended = [(kept.finished_at, table_id) for table_id, kept in self.tables.items() if kept.status == "finished"]
        return [one for one in sorted(ended) if one > position][:limit]

    async def postpone(self, table_ids: Sequence[str], until: int) -> None:
        for table_id in table_ids:
            self.tables[table_id].due_at = max(self.tables[table_id].due_at, until)

    async def open_counts(self) -> dict[tuple[str, int], int]:
        configs = (kept.config for kept in self.tables.values() if kept.status == "open")
        return dict(Counter((config.game, config.rules_version) for config in configs))

    async def acted_players(self, table_ids: Sequence[str]) -> dict[str, list[str]]:
        over = [table_id for table_id in table_ids if self.tables[table_id].status == "finished"]
        return {table_id: [one.player_id for one in self.tables[table_id].config.seats] for table_id in over}

    async def statuses(self, table_ids: Sequence[str]) -> dict[str, TableStatus]:
        found = {table_id: self.tables[table_id] for table_id in table_ids if table_id in self.tables}
        return {
            table_id: TableStatus("open", kept.entries[-1].deadline, kept.turn)
            if kept.status == "open"
            else TableStatus(kept.status)
            for table_id, kept in found.items()
        }

    async def claim_unreported(self, now: int, until: int, limit: int) -> list[str]:
        self._read()
        return self._claim(
            "reports_at", lambda kept: kept.reports_done < kept.reports_due and kept.reports_at < now, until, limit
        )

    async def reports_done(self, table_id: str) -> int:
        return self.tables[table_id].reports_done

    async def set_reports_done(self, table_id: str, count: int) -> None:
        kept = self.tables[table_id]
        kept.reports_done = max(kept.reports_done, count)

    async def claim_finished(self, finished_before: int, now: int, until: int, limit: int) -> list[str]:
        def is_due(kept: MemoryTable) -> bool:
            return kept.status == "finished" and kept.finished_at < finished_before and kept.archive_at < now

        return self._claim("archive_at", is_due, until, limit)

    async def archive(self, table_id: str, packed: PackedLog) -> None:
        self.tables[table_id].status = "archived"

    async def delete_archived(self, before: int, limit: int) -> int:
        return 0

    delete_prepared = delete_archived

    async def discard_prepared(self, table_ids: Sequence[str]) -> int:
        chosen = [each for each in table_ids if each in self.tables and self.tables[each].status == "prepared"]
        for table_id in chosen:
            del self.tables[table_id]
        return len(chosen)


def living(engines: int) -> frozenset[str]:
    """Return the ids of so many living engines."""
    return frozenset(["e", *(f"e{number}" for number in range(2, engines + 1))][:engines])


class FakeLivenessStore:
    def __init__(self) -> None:
        self.outages: list[Outage] = []
        self.certain_until: int | None = None
        """The last heartbeat of another engine, which has sent none since."""
        self.down = False
        self.engines = 1
        """The number of living engines: "e", "e2" and so on."""
        self.others: list[EngineGames | None] = []
        """The games of the living engines beside this one."""
        self.own: EngineGames | None = None
        """The games of this engine; None for all that are installed."""
        self.asked = 0

    async def record_heartbeat(self, engine_id: str, now: int) -> LivenessReport:
        self.asked += 1
        if self.down:
            raise StoreDown
        certain_until = now if self.certain_until is None else self.certain_until
        return LivenessReport(certain_until, tuple(self.outages), living(self.engines))

    async def living_games(self, now: int) -> LivingGames:
        own = self.own or EngineGames("games", installed_versions(), list(installed_games()))
        return LivingGames((own, *self.others))

    async def leave(self, engine_id: str, now: int) -> None:
        self.outages.append(Outage(now, now + RECONNECT_MILLISECONDS))


def _through_json(table_id: str, entry: Entry) -> Entry:
    return decode_entry(table_id, entry.sequence, entry.at, entry.deadline, encode_body(entry))


class FakeScoring:
    """ScoringPort that records reports; it can be down, and reject tables."""

    def __init__(self) -> None:
        self.down = False
        self.rejected_tables: set[str] = set()
        self.broken_tables: set[str] = set()
        self.received: list[tuple[str, int | str]] = []
        self.removed_names: list[tuple[str, tuple[str, ...], str]] = []
        self.tried = asyncio.Event()

    async def send(self, report: Report) -> None:
        self.tried.set()
        table_id = report.config.table_id
        if self.down or table_id in self.broken_tables:
            raise Unavailable(errors_pb2.ERROR_REASON_SERVICE_UNAVAILABLE, "scoring is down")
        if table_id in self.rejected_tables:
            raise ReportRejected("no such game")
        self.received.append((table_id, "result" if isinstance(report, ResultReport) else report.score.round_number))

    async def remove_player_name(self, player_id: str, playing: Sequence[str], after: str) -> Sequence[str]:
        self.removed_names.append((player_id, tuple(playing), after))
        if self.down:
            raise Unavailable(errors_pb2.ERROR_REASON_SERVICE_UNAVAILABLE, "scoring is down")
        return () if after else ("t1",)


class RecordingLogger:
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
class EngineHarness:
    """An engine on fakes: its parts, and the tables and services made of them. The random source returns 0."""

    clock: FakeClock
    store: MemoryTableStore
    scoring: FakeScoring
    liveness_store: FakeLivenessStore = field(default_factory=FakeLivenessStore)
    logger: RecordingLogger = field(default_factory=RecordingLogger)
    encoder: Encoder = field(default_factory=StreamEncoder)
    limits: TableLimits = NO_LIMITS
    entry_limit: EntryLimit = NO_ENTRY_LIMIT
    networks: Budget = FREE
    announce: Announce = NullNotifier().presence_announced

    def __post_init__(self) -> None:
        self.metrics = EngineMetrics(CollectorRegistry())
        self.background = Background(self.logger)
        self.timeouts = CallTimeouts()
        self.bot_workers: BotWorkers = BotWorkerPool(0, self.metrics, self.logger)
        self.spectator_sending = SendingLoop(UNPACED)
        self.max_queue_messages = MAX_QUEUE_MESSAGES
        self.failing = FailingRules(self.clock, self.metrics, self.logger)
        self.outbox = Outbox(self.store, self.scoring, self.failing, self.clock, self.metrics, self.logger)
        self.liveness = EngineLiveness(self.liveness_store, "e", lambda: True, self.clock, self.logger)

    def another_engine(self) -> "EngineHarness":
        """Return another replica on the same store and clock."""
        return EngineHarness(self.clock, self.store, self.scoring, self.liveness_store)

    def links(self) -> Links:
        """Return the links of this engine, which are valid for a day."""
        return links_by(LINK_KEY, 1, self.clock)

    def count(self, name: str, **labels: str) -> float:
        """Return the value of a metric, 0 without samples."""
        return self.metrics.registry.get_sample_value(name, labels) or 0.0

    def table(self, folded: FoldedTable, network: str = "", store: TableStore | None = None) -> Table:
        """Return a table in memory, by default on the store in memory."""
        return Table(
            folded,
            network,
            new_subscribers=partial(
                Subscribers,
                encoder=self.encoder,
                sending=self.spectator_sending,
                announce=self.announce,
                clock=self.clock,
                metrics=self.metrics,
                max_queue_messages=self.max_queue_messages,
            ),
            new_scheduler=partial(
                TurnScheduler,
                bot_workers=self.bot_workers,
                liveness=self.liveness,
                background=self.background,
                networks=self.networks,
                clock=self.clock,
                random=lambda bound: 0,
                metrics=self.metrics,
            ),
            limits=self.limits,
            entry_limit=self.entry_limit,
            store=store or self.store,
            report=self.outbox.report,
            notify_reaction=NullNotifier().seat_reacted,
            liveness=self.liveness,
            background=self.background,
            timeouts=self.timeouts,
            clock=self.clock,
            metrics=self.metrics,
            logger=self.logger,
        )

    def load_queue(self, max_loads: int = 4) -> LoadQueue:
        return LoadQueue(max_loads, self.metrics)

    def replays(self, load_queue: LoadQueue, max_bytes: int = 10**8, store: TableStore | None = None) -> ReplayCache:
        return ReplayCache(
            store or self.store, load_queue, self.background, self.encoder, self.failing, self.metrics, max_bytes
        )

    def tables(
        self,
        max_open_tables: int = 100,
        new_seed: Callable[[int], bytes] = bytes,
        store: TableStore | None = None,
        min_bot_delay_milliseconds: int = 0,
        abandoned_milliseconds: int = 0,
    ) -> Tables:
        load_queue = self.load_queue()
        return Tables(
            store or self.store,
            partial(self.table, store=store),
            load_queue,
            self.replays(load_queue, store=store),
            self.clock,
            new_seed,
            self.logger,
            max_open_tables,
            self.liveness.living_games,
            self.failing,
            min_bot_delay_milliseconds,
            abandoned_milliseconds,
        )

    def servicer(self, tables: Tables) -> EngineServicer:
        return EngineServicer(tables, self.links(), self.clock, self.metrics)

    def catch_up(self, tables: Tables) -> CatchUp:
        return CatchUp(tables, self.store, self.liveness, self.background, self.logger)

    def housekeeper(self, tables: Tables, retention: RetentionPolicy, store: TableStore | None = None) -> Housekeeper:
        return Housekeeper(tables, store or self.store, self.liveness, retention, self.clock, self.metrics, self.logger)
