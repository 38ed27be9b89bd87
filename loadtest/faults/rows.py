"""Adds the databases' rows of a table to its record, read by SQL without any service."""

import asyncio
import json
import time
import zlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import asyncpg
from sqlalchemy import NullPool, make_url, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from croupier_api.v1 import scoring_pb2
from loadtest.judge.violations import Invariant
from loadtest.record import Ledger, Outage, ReportedViolation, StoredEntry, StoredTable, TableRecord

READ_SECONDS = 60.0
AVAILABLE_SECONDS = 120.0
"""A database that a fault has stopped is available again within this time."""
REPORT_SECONDS = 60.0
"""Reports reach scoring within this time while all services run."""
RETRY_SECONDS = 0.5
ERRORS = (OSError, SQLAlchemyError, asyncpg.PostgresError, asyncpg.InterfaceError)
_ENTRIES = "SELECT sequence, at, deadline, body FROM entries WHERE table_id = :id ORDER BY sequence"
_TABLE = "SELECT status, game, rules_version, config, seed FROM tables WHERE table_id = :id"
_ARCHIVE = "SELECT 'finished', game, rules_version, config, seed, log FROM archive WHERE table_id = :id"
_REPORTS = "SELECT reports_due - reports_done FROM tables WHERE table_id = :id"
_OUTAGES = "SELECT began, ended FROM outages ORDER BY began"
_ROUNDS = "SELECT round, points, totals FROM rounds WHERE table_id = :id ORDER BY round"
_RESULTS = "SELECT ranking, totals, end_milliseconds, conduct FROM results WHERE table_id = :id"
_PLAYERS = "SELECT player_id, place FROM result_players WHERE table_id = :id"
_COUNTS = "SELECT seat, name, amount FROM seat_counts WHERE table_id = :id"


class Databases(NamedTuple):
    """URLs of the engines' database and of the ledger."""

    engine: str
    scoring: str


@asynccontextmanager
async def snapshot_of(database: str) -> AsyncIterator[AsyncConnection]:
    """Open a connection whose queries all see one snapshot, so that nothing is stored or archived in between."""
    url = make_url(database)
    is_sqlite = url.get_backend_name() == "sqlite"
    arguments = {"isolation_level": None} if is_sqlite else {"timeout": READ_SECONDS, "command_timeout": READ_SECONDS}
    url = url.set(drivername="sqlite+aiosqlite" if is_sqlite else "postgresql+asyncpg")
    engine = create_async_engine(url, poolclass=NullPool, connect_args=arguments)
    try:
        async with engine.connect() as connection:
            if is_sqlite:
                # Without it every SELECT is a transaction of its own.
                await connection.exec_driver_sql("BEGIN")
            else:
                await connection.execution_options(isolation_level="REPEATABLE READ")
            yield connection
    finally:
        await engine.dispose()


async def _rows(snapshot: AsyncConnection, query: str, table_id: str) -> Sequence[Any]:
    return (await snapshot.execute(text(query), {"id": table_id})).all()


async def stored_table(snapshot: AsyncConnection, table_id: str) -> StoredTable | None:
    """Return a table with its entries, from the log or the archive; None if the database does not have it."""
    entries = [StoredEntry(*row) for row in await _rows(snapshot, _ENTRIES, table_id)]
    for status, game, rules_version, config, seed, *log in (
        *await _rows(snapshot, _TABLE, table_id),
        *await _rows(snapshot, _ARCHIVE, table_id),
    ):
        # A table is in one place only: the judge reports entries in both as repeated.
        for packed in log:
            content = json.loads(zlib.decompress(packed))
            if content["v"] != 1:
                raise ValueError(f"unknown version {content['v']!r} of an archived log: expected 1")
            entries += [StoredEntry(*entry) for entry in content["entries"]]
        entries.sort(key=lambda entry: entry.sequence)
        return StoredTable(status, game, rules_version, config, bytes(seed), tuple(entries))
    return None


async def ledger_of(snapshot: AsyncConnection, table_id: str) -> Ledger:
    """Return all rows of a table in scoring's database."""
    rounds, results, players, counts = [
        await _rows(snapshot, query, table_id) for query in (_ROUNDS, _RESULTS, _PLAYERS, _COUNTS)
    ]
    return Ledger(
        tuple((number, json.loads(points), json.loads(totals)) for number, points, totals in rounds),
        tuple((json.loads(ranking), json.loads(totals)) for ranking, totals, _, _ in results),
        tuple((player_id, place) for player_id, place in players),
        tuple((seat, name, amount) for seat, name, amount in counts),
        max((end for _, _, end, _ in results), default=None),
        tuple((timeouts, by_engine) for *_, conduct in results for timeouts, by_engine in json.loads(conduct)),
    )


def add_rows(databases: Databases, record: TableRecord) -> None:
    """Add the rows of a record's table; raises one of ERRORS if the databases stay unavailable.

    To be called after the last message of the record: then everything in it must be stored.
    """
    deadline = time.monotonic() + AVAILABLE_SECONDS
    while True:
        try:
            asyncio.run(_add_rows(databases, record))
        except ERRORS:
            if time.monotonic() > deadline:
                raise
            time.sleep(RETRY_SECONDS)
        else:
            return


async def _add_rows(databases: Databases, record: TableRecord) -> None:
    # Acting late is no violation while services are down or the machine is busy.
    record.late_milliseconds = None
    async with snapshot_of(databases.engine) as snapshot:
        record.stored = await stored_table(snapshot, record.table_id)
        if record.stored is None:
            record.viewers[0].reported.append(
                ReportedViolation(Invariant.TABLE_LOST, 0, "the database does not know this table")
            )
        record.outages = tuple(Outage(*row) for row in await _rows(snapshot, _OUTAGES, record.table_id))
    if record.is_finished:
        await _wait_until_reported(databases.engine, record.table_id)
        async with snapshot_of(databases.scoring) as snapshot:
            record.ledger = await ledger_of(snapshot, record.table_id)
        sheet = scoring_pb2.GetScoreSheetResponse.FromString(record.sheet or b"")
        if len(sheet.rounds) < len(record.ledger.rounds):
            # Rounds and results may arrive in any order when engines die: this sheet was read in between.
            record.sheet = None


async def _wait_until_reported(database: str, table_id: str) -> None:
    """Wait until the engines have reported all rounds and the result to scoring, REPORT_SECONDS at most."""
    deadline = time.monotonic() + REPORT_SECONDS
    while time.monotonic() < deadline:
        async with snapshot_of(database) as snapshot:
            if not any(due for (due,) in await _rows(snapshot, _REPORTS, table_id)):
                return
        await asyncio.sleep(RETRY_SECONDS)
