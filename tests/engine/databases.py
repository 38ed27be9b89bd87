"""Stores on real databases, SQLite and PostgreSQL."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from prometheus_client import CollectorRegistry

from croupier.engine.assembly import Engine, assemble
from croupier.engine.cluster.housekeeping import packed_log
from croupier.engine.core.log import Entry, TableConfig
from croupier.engine.core.log_codec import decode_entry, rows_of
from croupier.engine.metrics import EngineMetrics
from croupier.engine.settings import EngineSettings
from croupier.engine.storage.postgres_writer import PostgresWriter
from croupier.engine.storage.sql_store import SqlTableStore
from croupier.engine.storage.sqlite_writer import SqliteWriter
from croupier.engine.storage.writer import Append, EntryWriter
from croupier.games.actions import Pass
from croupier.games.interface import SeatActed
from croupier.runtime.database.database import Database, open_database
from croupier.runtime.database.sqlite_threads import SqliteThreads
from croupier.runtime.identity.tokens import Clock
from tests.calls import FREE
from tests.databases import execute
from tests.engine.fakes import START, FakeClock, FakeScoring, RecordingLogger
from tests.engine.play import make_config, within_timeout


def assembled(
    database: Database, clock: Clock | None = None, scoring: FakeScoring | None = None, **settings: Any
) -> Engine:
    """Return an engine as it is wired for a database, of which nothing runs yet."""
    required: dict[str, Any] = {"database": "unused", "scoring_control": "a:1"}
    required |= {"lobby_public_key": Path(), "signing_key": Path()}
    chosen = EngineSettings(bot_processes=0, **required, **settings)
    return assemble(chosen, database, scoring or FakeScoring(), bytes, clock or FakeClock(), FREE, RecordingLogger())


def writer_on(database: Database) -> EntryWriter:
    """Return the writer for this kind of database."""
    threads = database.connections
    return SqliteWriter(database, threads) if isinstance(threads, SqliteThreads) else PostgresWriter(database)


def writing_on(database: Database, appends: Sequence[Append]) -> asyncio.Future[Sequence[int] | Exception]:
    """Return the outcome of a write that begins now, in a connection of its own."""
    outcome: asyncio.Future[Sequence[int] | Exception] = asyncio.get_running_loop().create_future()
    writer_on(database).write(appends, outcome.set_result)
    return outcome


def ignore_stored(_heads: Mapping[str, int]) -> None:
    """Notify no other engine."""


def store_on(
    database: Database,
    metrics: EngineMetrics | None = None,
    on_stored: Callable[[Mapping[str, int]], None] = ignore_stored,
) -> SqlTableStore:
    """Return a store that does not commit before it runs."""
    return SqlTableStore(database, writer_on(database), on_stored, metrics or EngineMetrics(CollectorRegistry()))


@asynccontextmanager
async def running(store: SqlTableStore) -> AsyncIterator[SqlTableStore]:
    """Yield a running store."""
    committing = asyncio.create_task(store.commits.run())
    try:
        yield store
    finally:
        store.commits.close()
        await within_timeout(committing)


@asynccontextmanager
async def another_store(url: str) -> AsyncIterator[SqlTableStore]:
    """Yield a running store of another engine, on its own connections."""
    database = open_database(url)
    try:
        async with running(store_on(database)) as store:
            yield store
    finally:
        await database.close()


@asynccontextmanager
async def without(database: Database, table: str) -> AsyncIterator[None]:
    """Hide a table of the database within the block."""
    await execute(database, f"ALTER TABLE {table} RENAME TO hidden")
    try:
        yield
    finally:
        await execute(database, f"ALTER TABLE hidden RENAME TO {table}")


def entry(sequence: int, request: str = "", at: int = 0, deadline: int = START) -> Entry:
    """Return an arbitrary entry."""
    return Entry(sequence, at or START + sequence, deadline, SeatActed(0, Pass()), request_id=request)


async def opened(store: SqlTableStore, table_id: str = "t1", first: Sequence[Entry] = (entry(1),)) -> TableConfig:
    """Return an opened table with arbitrary first entries."""
    config = make_config(table_id=table_id)
    await store.prepare(config, START)
    assert await store.open(config, first)
    return config


class LoadedTable(NamedTuple):
    """A table with its log."""

    status: str
    config: TableConfig
    entries: tuple[Entry, ...]


async def entries_of(store: SqlTableStore, table_id: str, after: int = 0) -> tuple[Entry, ...]:
    """Return the entries of a log after a sequence."""
    part = await store.log_after(table_id, after, 100_000)
    return tuple(decode_entry(table_id, *row) for row in rows_of(table_id, part) if row[0] > after)


async def archive_finished(store: SqlTableStore, finished_before: int, now: int = START) -> int:
    """Archive finished tables as an engine does; return their number."""
    claimed = await store.claim_finished(finished_before, now, now + 1_000, 100)
    for table_id in claimed:
        await store.archive(table_id, await packed_log(store, table_id))
    return len(claimed)


async def loaded(store: SqlTableStore, table_id: str = "t1") -> LoadedTable:
    """Return a table, which must exist."""
    stored = await store.find(table_id)
    assert stored
    return LoadedTable(stored.status, stored.config, await entries_of(store, table_id))


def sequences(stored: LoadedTable) -> list[int]:
    """Return the numbers of its entries."""
    return [each.sequence for each in stored.entries]
