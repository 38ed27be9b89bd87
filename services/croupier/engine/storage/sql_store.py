"""Logs in a database, through SQLAlchemy with group commit."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from opentelemetry.trace import Span
from sqlalchemy import ARRAY, Integer, Row, Select, Text, and_, func, insert, literal, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from croupier.engine.core.log import Entry, TableConfig
from croupier.engine.core.log_codec import decode_config, decode_entry, decode_log, encode_body, encode_config
from croupier.engine.metrics import EngineMetrics
from croupier.engine.storage import archive
from croupier.engine.storage.port import SequenceTaken, StoredTable, TableMark
from croupier.engine.storage.schema import ARCHIVE, DEADLINES, ENTRIES, TABLES
from croupier.engine.storage.work_claims import claim
from croupier.engine.storage.writer import Append, EntryWriter, open_table
from croupier.runtime.database import transaction
from croupier.runtime.tracing import SEQUENCE, TABLE_ID, open_shared_span, open_span

MAX_COMMIT_APPENDS = 500
STUCK_SECONDS = 1.0
"""A commit that takes longer keeps players waiting: their engine is as good as gone."""


class _Waiting(NamedTuple):
    append: Append
    stored: asyncio.Future[None]
    span: Span


def append_of(table_id: str, entries: Sequence[Entry], mark: TableMark | None) -> Append:
    """An append as rows."""
    rows = [(table_id, entry.sequence, entry.at, entry.deadline, encode_body(entry)) for entry in entries]
    return Append(table_id, rows, entries[-1].at, entries[-1].deadline, mark)


class SqlTableStore:
    """The store in a database; one task commits all that is waiting, so that at load one fsync carries many tables.

    Where it says nothing else, everything raises Unavailable while the database cannot be used.
    """

    def __init__(self, engine: AsyncEngine, writer: EntryWriter, metrics: EngineMetrics) -> None:
        self._engine = engine
        self._writer = writer
        self._metrics = metrics
        self._waiting: list[_Waiting] = []
        self._wake = asyncio.Event()
        self._closing = False
        self._committing_since: float | None = None
        self.ended = asyncio.Event()
        """Set when run() has ended."""

    # Appending

    @property
    def pending(self) -> int:
        """How many appends wait."""
        return len(self._waiting)

    async def append(self, table_id: str, entries: Sequence[Entry], mark: TableMark | None) -> None:
        """Store entries durably, all or none; raises SequenceTaken, or what the database raises."""
        started = time.perf_counter()
        append, stored = append_of(table_id, entries, mark), asyncio.get_running_loop().create_future()
        with open_span("append", {TABLE_ID: table_id, SEQUENCE: append.head}) as span:
            self._waiting.append(_Waiting(append, stored, span))
            self._wake.set()
            await stored
        self._metrics.append_seconds.observe(time.perf_counter() - started)

    async def run(self) -> None:
        """Commit what is waiting, again and again, until close() was called and nothing waits."""
        try:
            while self._waiting or not self._closing:
                await self._wake.wait()
                batch = self._next_batch()
                if not self._waiting and not self._closing:
                    self._wake.clear()
                if batch:
                    await self._commit(batch)
            await self._writer.close()
        finally:
            self.ended.set()

    def close(self) -> None:
        """Let run() end when everything is stored."""
        self._closing = True
        self._wake.set()

    def _next_batch(self) -> list[_Waiting]:
        """What goes into the next commit: one append of each table, and no more than a commit may carry.

        Two of one table want the same sequence, as when a client went while its action waited and came again at once.
        """
        batch: dict[str, _Waiting] = {}
        later = []
        for waiting in self._waiting:
            if waiting.append.table_id in batch or len(batch) == MAX_COMMIT_APPENDS:
                later.append(waiting)
            else:
                batch[waiting.append.table_id] = waiting
        self._waiting = later
        return list(batch.values())

    def is_flowing(self) -> bool:
        """Whether no commit has been under way for suspiciously long."""
        since = self._committing_since
        return since is None or asyncio.get_running_loop().time() - since < STUCK_SECONDS

    async def _commit(self, batch: list[_Waiting]) -> None:
        while batch:
            self._committing_since = asyncio.get_running_loop().time()
            try:
                with open_shared_span("commit", [waiting.span for waiting in batch]):
                    late = await self._writer.write([waiting.append for waiting in batch])
            except Exception as error:  # noqa: BLE001 - whoever waits has to hear of it
                _settle(batch, error)
                return
            finally:
                self._committing_since = None
            if not late:
                self._metrics.commit_rows.observe(sum(len(waiting.append.rows) for waiting in batch))
                _settle(batch, None)
                return
            # Nothing was stored: those that lost a race hear of it, and the others are written without them.
            losers = set(late)
            _settle([batch[place] for place in losers], SequenceTaken())
            batch = [waiting for place, waiting in enumerate(batch) if place not in losers]

    # Opening

    async def prepare(self, config: TableConfig, at: int) -> TableConfig:
        """Keep a prepared table, or give the one that has this id already."""
        values = {
            "table_id": config.table_id,
            "status": "prepared",
            "game": config.game,
            "rules_version": config.rules_version,
            "config": encode_config(config),
            "seed": config.seed,
            "created_at": at,
        }
        if stored := await self.load(config.table_id):
            return stored.config
        try:
            async with transaction(self._engine) as connection:
                await connection.execute(insert(TABLES).values(values))
        except IntegrityError:
            stored = await self.load(config.table_id)
            return stored.config if stored else config
        return config

    async def open(self, config: TableConfig, entries: Sequence[Entry]) -> bool:
        """Open a prepared table with its first entries; False if it was not prepared any more."""
        append = append_of(config.table_id, entries, None)
        async with transaction(self._engine) as connection:
            return await connection.run_sync(open_table, append, encode_config(config))

    # Reading

    async def load(self, table_id: str) -> StoredTable | None:
        """A table with its whole log, None if there is none."""
        async with transaction(self._engine) as connection:
            entries = await _entries(connection, table_id, 0)
            row = (await connection.execute(select(TABLES).where(TABLES.c.table_id == table_id))).one_or_none()
            if row is not None:
                if not entries and row.status != "prepared":
                    # It was opened between the two questions.
                    entries = await _entries(connection, table_id, 0)
                return StoredTable(row.status, _config(row), entries)
            archived = select(ARCHIVE).where(ARCHIVE.c.table_id == table_id)
            row = (await connection.execute(archived)).one_or_none()
            return StoredTable("finished", _config(row), decode_log(table_id, row.log)) if row else None

    async def entries_after(self, table_id: str, sequence: int) -> tuple[Entry, ...]:
        """The entries beyond a sequence, in order."""
        return (await self.entries_beyond({table_id: sequence})).get(table_id, ())

    async def entries_beyond(self, heads: Mapping[str, int]) -> dict[str, tuple[Entry, ...]]:
        """The entries beyond a sequence of each table, in order; tables without any are left out."""
        if not heads:
            return {}
        found: dict[str, tuple[Entry, ...]] = {}
        async with transaction(self._engine) as connection:
            rows = await connection.execute(_beyond(connection, heads))
            for table_id, mine in groupby(rows, lambda row: row.table_id):
                found[table_id] = tuple(_entry(row) for row in mine)
            silent = heads.keys() - found.keys()
            if silent:
                archived = select(ARCHIVE.c.table_id, ARCHIVE.c.log).where(ARCHIVE.c.table_id.in_(silent))
                for row in await connection.execute(archived):
                    found[row.table_id] = decode_log(row.table_id, row.log)[heads[row.table_id] :]
        return {table_id: entries for table_id, entries in found.items() if entries}

    async def statuses(self, table_ids: Sequence[str]) -> dict[str, str]:
        """The status of each table that exists."""
        async with transaction(self._engine) as connection:
            archived = select(ARCHIVE.c.table_id).where(ARCHIVE.c.table_id.in_(table_ids))
            found = dict.fromkeys((await connection.execute(archived)).scalars(), "finished")
            query = select(TABLES.c.table_id, TABLES.c.status).where(TABLES.c.table_id.in_(table_ids))
            return found | {row.table_id: row.status for row in await connection.execute(query)}

    async def open_counts(self) -> dict[str, int]:
        """How many tables of each game are open."""
        query = (
            select(TABLES.c.game, func.count().label("open")).where(TABLES.c.status == "open").group_by(TABLES.c.game)
        )
        async with transaction(self._engine) as connection:
            return {row.game: row.open for row in await connection.execute(query)}

    # Looking for what nobody does

    async def claim_overdue(self, before: int, until: int, limit: int) -> list[str]:
        """Open tables whose deadlines passed before `before`, longest first; others do not get them until `until`."""
        return await claim(self._engine, DEADLINES.c.table_id, DEADLINES.c.at, DEADLINES.c.at < before, until, limit)

    async def claim_unreported(self, now: int, until: int, limit: int) -> list[str]:
        """Tables of which reports are due since long enough; others do not get them until `until`."""
        is_due = and_(TABLES.c.reports_done < TABLES.c.reports_due, TABLES.c.reports_at < now)
        return await claim(self._engine, TABLES.c.table_id, TABLES.c.reports_at, is_due, until, limit)

    async def reports_done(self, table_id: str) -> int:
        """How many reports of a table were handed over; 0 for one that is not known."""
        query = select(TABLES.c.reports_done).where(TABLES.c.table_id == table_id)
        async with transaction(self._engine) as connection:
            return int((await connection.execute(query)).scalar() or 0)

    async def set_reports_done(self, table_id: str, count: int) -> None:
        """Note how many reports were handed over; the number never goes back."""
        change = update(TABLES).where(TABLES.c.table_id == table_id, TABLES.c.reports_done < count)
        async with transaction(self._engine) as connection:
            await connection.execute(change.values(reports_done=count))

    # Tidying up

    async def compact(self, finished_before: int, limit: int) -> int:
        """Archive tables that ended before a moment and have handed over all reports; gives how many."""
        async with transaction(self._engine) as connection:
            return await archive.compact(connection, finished_before, limit)

    async def forget(self, finished_before: int, limit: int) -> int:
        """Remove archived tables that ended before a moment; gives how many."""
        async with transaction(self._engine) as connection:
            return await archive.forget(connection, finished_before, limit)

    async def forget_prepared(self, prepared_before: int, limit: int) -> int:
        """Remove tables that were prepared before a moment and never opened; gives how many."""
        async with transaction(self._engine) as connection:
            return await archive.forget_prepared(connection, prepared_before, limit)


async def _entries(connection: AsyncConnection, table_id: str, after: int) -> tuple[Entry, ...]:
    return tuple(_entry(row) for row in await connection.execute(_beyond(connection, {table_id: after})))


def _beyond(connection: AsyncConnection, heads: Mapping[str, int]) -> Select[Any]:
    ordered = select(ENTRIES).order_by(ENTRIES.c.table_id, ENTRIES.c.sequence)
    if connection.dialect.name == "sqlite":
        beyond = (and_(ENTRIES.c.table_id == name, ENTRIES.c.sequence > sequence) for name, sequence in heads.items())
        return ordered.where(or_(*beyond))
    # One statement for any number of tables, so that it is neither written nor planned anew for each.
    names = literal(list(heads), ARRAY(Text))
    sequences = literal(list(heads.values()), ARRAY(Integer))
    known = func.unnest(names, sequences).table_valued("table_id", "sequence").render_derived()
    return ordered.join(known, and_(ENTRIES.c.table_id == known.c.table_id, ENTRIES.c.sequence > known.c.sequence))


def _entry(row: Row[Any]) -> Entry:
    return decode_entry(row.table_id, row.sequence, row.at, row.deadline, row.body)


def _config(row: Row[Any]) -> TableConfig:
    return decode_config(row.table_id, row.game, row.rules_version, row.seed, row.config)


def _settle(batch: Sequence[_Waiting], error: Exception | None) -> None:
    for waiting in batch:
        if waiting.stored.done():
            continue
        if error is None:
            waiting.stored.set_result(None)
        else:
            waiting.stored.set_exception(error)
