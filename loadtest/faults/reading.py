"""What the databases say of tables, read by SQL past every service."""

import json
import sqlite3
import zlib
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from typing import Any, NamedTuple, Protocol

import asyncpg

from loadtest.faults.findings import LedgerLines, Line, StoredLog

READ_SECONDS = 60.0
_TABLES = "SELECT table_id, status, game, rules_version, config, seed FROM tables WHERE table_id"
_ARCHIVE = "SELECT table_id, 'finished', game, rules_version, config, seed, log FROM archive WHERE table_id"
_ENTRIES = "SELECT table_id, sequence, at, deadline, body FROM entries WHERE table_id"
_ROUNDS = "SELECT table_id, round, points, totals FROM rounds WHERE table_id"
_RESULTS = "SELECT table_id, ranking, totals FROM results WHERE table_id"
_PLAYERS = "SELECT table_id, player_id, place FROM result_players WHERE table_id"
_COUNTS = "SELECT table_id, seat, name, amount FROM seat_counts WHERE table_id"


class Databases(NamedTuple):
    """Where the engines' tables and the ledger are: one URL of PostgreSQL twice, or paths of two SQLite files."""

    engine: str
    scoring: str


class Reader(Protocol):
    """Runs queries that end in a column which is to be one of some table ids."""

    async def rows(self, query: str, table_ids: Sequence[str]) -> list[tuple[Any, ...]]:
        """All rows of the tables."""

    async def all(self, query: str) -> list[tuple[Any, ...]]:
        """All rows of a query that is whole."""


class _Postgres:
    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection

    async def rows(self, query: str, table_ids: Sequence[str]) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in await self._connection.fetch(f"{query} = ANY($1)", list(table_ids))]

    async def all(self, query: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in await self._connection.fetch(query)]


class _Sqlite:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def rows(self, query: str, table_ids: Sequence[str]) -> list[tuple[Any, ...]]:
        marks = ", ".join("?" * len(table_ids))
        return self._connection.execute(f"{query} IN ({marks})", list(table_ids)).fetchall()

    async def all(self, query: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(query).fetchall()


async def read_logs(database: str, table_ids: Sequence[str]) -> dict[str, StoredLog]:
    """The logs of these tables, as far as the engines' database knows them; also those in the archive."""
    async with _reader(database) as reader:
        return await logs_by(reader, table_ids)


async def read_interruptions(database: str) -> list[tuple[int, int]]:
    """From when to when some engine was missing, as the engines have noted it."""
    async with _reader(database) as reader:
        return [(began, ended) for began, ended in await reader.all("SELECT began, ended FROM interruptions")]


async def read_ledger(database: str, table_ids: Sequence[str]) -> dict[str, LedgerLines]:
    """What the ledger has of these tables."""
    async with _reader(database) as reader:
        return await ledger_by(reader, table_ids)


@asynccontextmanager
async def _reader(database: str) -> AsyncIterator[Reader]:
    if not database.startswith("postgresql"):
        with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=READ_SECONDS)) as connection:
            yield _Sqlite(connection)
        return
    connection = await asyncpg.connect(database, timeout=READ_SECONDS, command_timeout=READ_SECONDS)
    try:
        # One snapshot: a table must not go to the archive between two queries.
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            yield _Postgres(connection)
    finally:
        await connection.close()


async def logs_by(reader: Reader, table_ids: Sequence[str]) -> dict[str, StoredLog]:
    """The logs of these tables, through a reader."""
    lines: Mapping[str, list[Line]] = defaultdict(list)
    for table_id, sequence, at, deadline, body in await reader.rows(_ENTRIES, table_ids):
        lines[table_id].append(Line(sequence, at, deadline, json.loads(body)))
    logs = {row[0]: _log(row, lines[row[0]]) for row in await reader.rows(_TABLES, table_ids)}
    for *row, log in await reader.rows(_ARCHIVE, table_ids):
        archived = [
            Line(number, at, until, json.loads(body)) for number, at, until, body in json.loads(zlib.decompress(log))
        ]
        # A table is in one place only: being in both would count its entries twice.
        logs[row[0]] = _log(row, [*lines[row[0]], *archived])
    return logs


def _log(row: Sequence[Any], lines: Iterable[Line]) -> StoredLog:
    table_id, status, game, rules_version, config, seed = row
    return StoredLog(
        table_id, status, game, rules_version, config, bytes(seed), tuple(sorted(lines, key=lambda line: line.sequence))
    )


async def ledger_by(reader: Reader, table_ids: Sequence[str]) -> dict[str, LedgerLines]:
    """What the ledger has of these tables, through a reader."""
    rounds, results, players, counts = [
        await _by_table(reader, query, table_ids) for query in (_ROUNDS, _RESULTS, _PLAYERS, _COUNTS)
    ]
    return {
        table_id: LedgerLines(
            tuple((number, json.loads(points), json.loads(totals)) for number, points, totals in rounds[table_id]),
            tuple((json.loads(ranking), json.loads(totals)) for ranking, totals in results[table_id]),
            tuple(players[table_id]),
            tuple(counts[table_id]),
        )
        for table_id in table_ids
    }


async def _by_table(reader: Reader, query: str, table_ids: Sequence[str]) -> Mapping[str, list[Any]]:
    rows: Mapping[str, list[Any]] = defaultdict(list)
    for table_id, *row in await reader.rows(query, table_ids):
        rows[table_id].append(tuple(row))
    return rows
