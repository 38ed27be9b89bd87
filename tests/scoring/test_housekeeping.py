"""Old results and rounds are deleted, and standings keep their sums."""

import asyncio
import dataclasses
import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, update

from croupier.runtime.database.database import Database
from croupier.runtime.table_access import SEATED
from croupier.scoring.housekeeping import BATCH_SIZE, DAY_MILLISECONDS, delete_expired
from croupier.scoring.ledger import Ledger
from croupier.scoring.schema import METADATA, RESULTS, ROUNDS, SEAT_COUNTS, SHEETS
from croupier.scoring.standings import Scope
from croupier.scoring.standings_store import StandingsStore
from tests.databases import execute, held_transaction, on_both_databases, on_postgresql
from tests.query_plans import before_each_statement, plan_of, scanned
from tests.scoring.test_ledger import FIRST, RESULT, SECOND, SHEET, opened, record

OLD = 2 * BATCH_SIZE + 40


async def record_tables(ledger: Ledger) -> None:
    """Record a table that ends each day, the last with a round only."""
    for number in range(OLD + 3):
        access = SHEET.access if number % 2 or number >= OLD else SEATED
        sheet = dataclasses.replace(SHEET, table_id=f"t{number}", access=access)
        await record(ledger, FIRST, sheet)
        if number < OLD + 2:
            await record(ledger, dataclasses.replace(RESULT, end_milliseconds=(number + 1) * DAY_MILLISECONDS), sheet)


async def left(database: Database) -> list[int]:
    counts = [select(func.count()).select_from(table) for table in (SHEETS, ROUNDS, SEAT_COUNTS, RESULTS)]
    return [(await execute(database, count))[0][0] for count in counts]


async def standings_of(database: Database) -> list[object]:
    standings = StandingsStore(database)
    statistics = [await standings.statistics("anna", scope) for scope in Scope]
    return [statistics, await standings.leaderboard("solo", None, 10)]


@on_both_databases
async def test_results_are_deleted_some_days_after_their_end(database_url: str) -> None:
    async with opened(database_url) as one, opened(database_url) as other:
        await record_tables(one)
        before = await standings_of(one.database)
        now = (OLD + 11) * DAY_MILLISECONDS
        await asyncio.gather(*(delete_expired(each.database, 10, lambda: now) for each in (one, other)))
        assert await left(one.database) == [3, 3, 9, 2]
        listed = await StandingsStore(one.database).results("", "anna", None, 10, caller_id="ben")
        assert [sheet.table_id for sheet, _ in listed] == [f"t{OLD + 1}", f"t{OLD}"]
        assert await standings_of(one.database) == before


@on_both_databases
async def test_rounds_without_result_are_deleted_some_days_after_the_last_report(database_url: str) -> None:
    day = 0

    def clock() -> int:
        return day * DAY_MILLISECONDS

    async with opened(database_url, clock) as one, opened(database_url, clock) as other:
        for number in range(OLD):
            await record(one, FIRST, dataclasses.replace(SHEET, table_id=f"left{number}"))
        for table_id in ("repeats", "plays", "ends"):
            await record(one, FIRST, dataclasses.replace(SHEET, table_id=table_id))
        day = 6
        assert not await record(one, FIRST, dataclasses.replace(SHEET, table_id="repeats"))
        assert await record(one, SECOND, dataclasses.replace(SHEET, table_id="plays"))
        # The clock of the engine is two days ahead.
        ends = dataclasses.replace(RESULT, end_milliseconds=clock() + 2 * DAY_MILLISECONDS)
        assert await record(one, ends, dataclasses.replace(SHEET, table_id="ends"))
        for day, sheets in ((10, OLD + 3), (11, 3), (16, 3), (17, 1), (18, 1), (19, 0)):
            await asyncio.gather(*(delete_expired(each.database, 10, clock) for each in (one, other)))
            assert (await left(one.database))[0] == sheets, day
        assert await left(one.database) == [0, 0, 0, 0]


@on_postgresql
async def test_a_table_that_is_reported_during_the_deletion_is_kept(database_url: str) -> None:
    async with opened(database_url, lambda: 0) as ledger:
        await record(ledger, FIRST)
        async with held_transaction(ledger.database) as report:
            await report.execute(update(SHEETS).values(reported_milliseconds=11 * DAY_MILLISECONDS))
            await delete_expired(ledger.database, 10, lambda: 11 * DAY_MILLISECONDS)
        assert await left(ledger.database) == [1, 1, 3, 0]


async def test_sqlite_lets_no_report_in_between_choice_and_deletion(database_url: str, database_file: Path) -> None:
    def report(*arguments: Any) -> None:
        if arguments[2].startswith("DELETE") and "sheets" not in arguments[2]:
            refused = pytest.raises(sqlite3.OperationalError, match="locked")
            with closing(sqlite3.connect(database_file, timeout=0)) as other, refused:
                other.execute("UPDATE sheets SET reported_milliseconds = 0")
            refused_statements.append(arguments[2])

    refused_statements: list[str] = []
    async with opened(database_url, lambda: 0) as ledger:
        await record(ledger, FIRST)
        with before_each_statement(report):
            await delete_expired(ledger.database, 10, lambda: 11 * DAY_MILLISECONDS)
        assert len(refused_statements) == 4
        assert await left(ledger.database) == [0, 0, 0, 0]


async def test_no_deletion_scans_a_table(database_url: str) -> None:
    async with opened(database_url, lambda: 0) as ledger:
        await record(ledger, FIRST)
        delete = partial(delete_expired, ledger.database, 10, lambda: 11 * DAY_MILLISECONDS)
        steps = await plan_of(ledger.database, delete)
        assert await left(ledger.database) == [0, 0, 0, 0]
        assert not scanned(steps, METADATA.tables)
