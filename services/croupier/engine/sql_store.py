"""Logs in a database, through SQLAlchemy with group commit."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from croupier.engine.entry_writer import EntryWriter, Mark, Row, insert_entries
from croupier.engine.log import Entry, TableConfig, body_to_json, config_from_json, config_to_json, entry_from_row
from croupier.engine.metrics import EngineMetrics
from croupier.engine.schema import ENTRIES, TABLES
from croupier.engine.store import SequenceTaken, StoredTable, TableMark

LARGEST_COMMIT_APPENDS = 500


@dataclass(slots=True)
class _Append:
    rows: list[Row]
    mark: Mark | None
    stored: asyncio.Future[None]


def _rows(table_id: str, entries: Sequence[Entry]) -> list[Row]:
    return [(table_id, entry.sequence, entry.at, entry.deadline, body_to_json(entry)) for entry in entries]


class SqlTableStore:
    """The store in a database; one task commits all that is waiting, so that at load one fsync carries many tables."""

    def __init__(self, engine: AsyncEngine, metrics: EngineMetrics) -> None:
        self._engine = engine
        self._writer = EntryWriter(engine)
        self._metrics = metrics
        self._waiting: list[_Append] = []
        self._wake = asyncio.Event()
        self._closing = False

    async def append(self, table_id: str, entries: Sequence[Entry], mark: TableMark | None) -> None:
        """Store entries durably, all or none; raises SequenceTaken, or what the database raises."""
        started = time.perf_counter()
        changed = mark and {
            "marked_table": table_id,
            "new_status": "finished" if mark.finished else "open",
            "new_due": mark.reports_due,
        }
        waiting = _Append(_rows(table_id, entries), changed or None, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self._wake.set()
        await waiting.stored
        self._metrics.append_seconds.observe(time.perf_counter() - started)

    async def run(self) -> None:
        """Commit what is waiting, again and again, until close() was called and nothing waits."""
        while self._waiting or not self._closing:
            await self._wake.wait()
            batch, self._waiting = self._waiting[:LARGEST_COMMIT_APPENDS], self._waiting[LARGEST_COMMIT_APPENDS:]
            if not self._waiting and not self._closing:
                self._wake.clear()
            if batch:
                await self._commit(batch)
        await self._writer.close()

    def close(self) -> None:
        """Let run() end when everything is stored."""
        self._closing = True
        self._wake.set()

    async def _commit(self, batch: list[_Append]) -> None:
        try:
            await self._store(batch)
        except IntegrityError as error:
            if len(batch) == 1:
                _settle(batch, SequenceTaken(str(error.orig)))
            else:
                # Somebody lost a race: all is undone, and each is tried by itself to find out who.
                for waiting in batch:
                    await self._commit([waiting])
        except Exception as error:  # noqa: BLE001 - whoever waits has to hear of it
            _settle(batch, error)
        else:
            _settle(batch, None)

    async def _store(self, batch: list[_Append]) -> None:
        rows = [row for waiting in batch for row in waiting.rows]
        marks = [waiting.mark for waiting in batch if waiting.mark]
        await self._writer.write(rows, marks)
        self._metrics.commit_rows.observe(len(rows))

    async def prepare(self, config: TableConfig, at: int) -> TableConfig:
        """Keep a prepared table, or give the one that has this id already."""
        values = {
            "table_id": config.table_id,
            "status": "prepared",
            "game": config.game,
            "rules_version": config.rules_version,
            "config": config_to_json(config),
            "seed": config.seed,
            "created_at": at,
            "reports_due": 0,
            "reports_done": 0,
        }
        try:
            async with self._engine.begin() as connection:
                await connection.execute(insert(TABLES).values(values))
        except IntegrityError:
            stored = await self.load(config.table_id)
            return stored.config if stored else config
        return config

    async def open(self, config: TableConfig, entries: Sequence[Entry]) -> bool:
        """Open a prepared table with its first entries; False if it was not prepared any more."""
        async with self._engine.begin() as connection:
            opened = await connection.execute(
                update(TABLES)
                .where(TABLES.c.table_id == config.table_id, TABLES.c.status == "prepared")
                .values(status="open", config=config_to_json(config))
            )
            if opened.rowcount == 1:
                await connection.run_sync(insert_entries, _rows(config.table_id, entries))
            return opened.rowcount == 1

    async def load(self, table_id: str) -> StoredTable | None:
        """A table with its whole log, None if there is none."""
        async with self._engine.connect() as connection:
            row = (await connection.execute(select(TABLES).where(TABLES.c.table_id == table_id))).one_or_none()
            if row is None:
                return None
            entries = await _entries(connection, table_id, 0)
        return StoredTable(
            row.status, config_from_json(table_id, row.game, row.rules_version, row.seed, row.config), entries
        )

    async def entries_after(self, table_id: str, sequence: int) -> tuple[Entry, ...]:
        """The entries beyond a sequence, in order."""
        async with self._engine.connect() as connection:
            return await _entries(connection, table_id, sequence)

    async def open_table_ids(self) -> list[str]:
        """The tables whose game is on."""
        return await self._table_ids(TABLES.c.status == "open")

    async def unreported_table_ids(self) -> list[str]:
        """The tables of which reports are due."""
        return await self._table_ids(TABLES.c.reports_done < TABLES.c.reports_due)

    async def _table_ids(self, condition: Any) -> list[str]:
        async with self._engine.connect() as connection:
            rows = await connection.execute(select(TABLES.c.table_id).where(condition).order_by(TABLES.c.created_at))
            return [row.table_id for row in rows]

    async def statuses(self, table_ids: Sequence[str]) -> dict[str, str]:
        """The status of each table that exists."""
        query = select(TABLES.c.table_id, TABLES.c.status).where(TABLES.c.table_id.in_(table_ids))
        async with self._engine.connect() as connection:
            return {row.table_id: row.status for row in await connection.execute(query)}

    async def reports_done(self, table_id: str) -> int:
        """How many reports of a table were handed over."""
        query = select(TABLES.c.reports_done).where(TABLES.c.table_id == table_id)
        async with self._engine.connect() as connection:
            return int((await connection.execute(query)).scalar_one())

    async def set_reports_done(self, table_id: str, count: int) -> None:
        """Note how many reports were handed over; the number never goes back."""
        change = update(TABLES).where(TABLES.c.table_id == table_id, TABLES.c.reports_done < count)
        async with self._engine.begin() as connection:
            await connection.execute(change.values(reports_done=count))


async def _entries(connection: AsyncConnection, table_id: str, after: int) -> tuple[Entry, ...]:
    query = (
        select(ENTRIES.c.sequence, ENTRIES.c.at, ENTRIES.c.deadline, ENTRIES.c.body)
        .where(ENTRIES.c.table_id == table_id, ENTRIES.c.sequence > after)
        .order_by(ENTRIES.c.sequence)
    )
    return tuple(entry_from_row(*row) for row in await connection.execute(query))


def _settle(batch: list[_Append], error: Exception | None) -> None:
    for waiting in batch:
        if waiting.stored.done():
            continue
        if error is None:
            waiting.stored.set_result(None)
        else:
            waiting.stored.set_exception(error)
