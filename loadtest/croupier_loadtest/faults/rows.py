"""Adds the databases' rows of a table to its record, read by SQL without any service."""

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import asyncpg
from sqlalchemy import URL, Connection, NullPool, create_engine, make_url, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import create_async_engine

from croupier_api.v1 import scoring_pb2
from croupier_loadtest.judge.rows import archived_entries
from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.record import Ledger, Outage, ReportedViolation, StoredEntry, StoredTable, TableRecord

Result = TypeVar("Result")
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
_PLAYERS = "SELECT player_id, place, outcome FROM result_players WHERE table_id = :id"
_COUNTS = "SELECT seat, name, amount FROM seat_counts WHERE table_id = :id"


class Databases(NamedTuple):
    """URLs of the engines' database and of the ledger."""

    engine: str
    scoring: str


def in_snapshot(database: str, query: Callable[[Connection], Result]) -> Result:
    """Call a function with a connection whose queries all see one snapshot: nothing is stored or archived in between.

    Not to be called where an event loop runs.
    """
    url = make_url(database)
    if url.get_backend_name() == "postgresql":
        return asyncio.run(_in_postgres_snapshot(url.set(drivername="postgresql+asyncpg"), query))
    engine = create_engine(url, poolclass=NullPool, connect_args={"isolation_level": None})
    with engine.connect() as connection:
        # Without it every SELECT is a transaction of its own.
        connection.exec_driver_sql("BEGIN")
        return query(connection)


async def _in_postgres_snapshot(url: URL, query: Callable[[Connection], Result]) -> Result:
    arguments = {"timeout": READ_SECONDS, "command_timeout": READ_SECONDS}
    engine = create_async_engine(url, poolclass=NullPool, connect_args=arguments)
    try:
        async with engine.connect() as connection:
            await connection.execution_options(isolation_level="REPEATABLE READ")
            return await connection.run_sync(query)
    finally:
        await engine.dispose()


def _rows(snapshot: Connection, query: str, table_id: str) -> Sequence[Any]:
    return snapshot.execute(text(query), {"id": table_id}).all()


def stored_table(snapshot: Connection, table_id: str) -> StoredTable | None:
    """Return a table with its entries, from the log or the archive; None if the database does not have it."""
    entries = [StoredEntry(*row) for row in _rows(snapshot, _ENTRIES, table_id)]
    for status, game, rules_version, config, seed, *log in (
        *_rows(snapshot, _TABLE, table_id),
        *_rows(snapshot, _ARCHIVE, table_id),
    ):
        # A table is in one place only: the judge reports entries in both as repeated.
        entries += [entry for packed in log for entry in archived_entries(packed)]
        entries.sort(key=lambda entry: entry.sequence)
        return StoredTable(status, game, rules_version, config, bytes(seed), tuple(entries))
    return None


def ledger_of(snapshot: Connection, table_id: str) -> Ledger:
    """Return all rows of a table in scoring's database."""
    rounds, results, players, counts = [
        _rows(snapshot, query, table_id) for query in (_ROUNDS, _RESULTS, _PLAYERS, _COUNTS)
    ]
    return Ledger(
        tuple((number, json.loads(points), json.loads(totals)) for number, points, totals in rounds),
        tuple((json.loads(ranking), json.loads(totals)) for ranking, totals, _, _ in results),
        tuple((player_id, place, outcome) for player_id, place, outcome in players),
        tuple((seat, name, amount) for seat, name, amount in counts),
        max((end for _, _, end, _ in results), default=None),
        tuple(
            (timeouts, by_engine, any(left))
            for *_, conduct in results
            for timeouts, by_engine, *left in json.loads(conduct)
        ),
    )


def add_rows(databases: Databases, record: TableRecord) -> None:
    """Add the rows of a record's table; raises one of ERRORS if the databases stay unavailable.

    To be called after the last message of the record: then everything in it must be stored.
    """
    deadline = time.monotonic() + AVAILABLE_SECONDS
    while True:
        try:
            _add_rows(databases, record)
        except ERRORS:
            if time.monotonic() > deadline:
                raise
            time.sleep(RETRY_SECONDS)
        else:
            return


def _add_rows(databases: Databases, record: TableRecord) -> None:
    # Acting late is no violation while services are down or the machine is busy.
    record.late_milliseconds = None
    record.stored, outages = in_snapshot(
        databases.engine,
        lambda snapshot: (stored_table(snapshot, record.table_id), _rows(snapshot, _OUTAGES, record.table_id)),
    )
    if record.stored is None:
        record.viewers[0].reported.append(
            ReportedViolation(Invariant.TABLE_LOST, 0, "the database does not know this table")
        )
    record.outages = tuple(Outage(*row) for row in outages)
    if record.is_finished:
        _wait_until_reported(databases.engine, record.table_id)
        record.ledger = in_snapshot(databases.scoring, lambda snapshot: ledger_of(snapshot, record.table_id))
        sheet = scoring_pb2.GetScoreSheetResponse.FromString(record.sheet or b"")
        if len(sheet.rounds) < len(record.ledger.rounds):
            # Rounds and results may arrive in any order when engines die: this sheet was read in between.
            record.sheet = None


def _wait_until_reported(database: str, table_id: str) -> None:
    """Wait until the engines have reported all rounds and the result to scoring, REPORT_SECONDS at most."""
    deadline = time.monotonic() + REPORT_SECONDS
    while time.monotonic() < deadline:
        if not any(due for (due,) in in_snapshot(database, lambda snapshot: _rows(snapshot, _REPORTS, table_id))):
            return
        time.sleep(RETRY_SECONDS)
