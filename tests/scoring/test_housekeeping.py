"""Old results are deleted, and standings keep their sums."""

import asyncio
import dataclasses

import structlog
from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.runtime.table_access import SEATED
from croupier.scoring.housekeeping import BATCH_SIZE, DAY_MILLISECONDS, Housekeeper
from croupier.scoring.ledger import Ledger
from croupier.scoring.schema import RESULTS, ROUNDS, SEAT_COUNTS, SHEETS
from croupier.scoring.standings import Scope
from croupier.scoring.standings_store import StandingsStore
from tests.databases import on_both_databases
from tests.scoring.test_ledger import FIRST, RESULT, SHEET, opened, record

OLD = 2 * BATCH_SIZE + 40


async def record_tables(ledger: Ledger) -> None:
    """Record a table that ends each day, the last with a round only."""
    for number in range(OLD + 3):
        access = SHEET.access if number % 2 or number >= OLD else SEATED
        sheet = dataclasses.replace(SHEET, table_id=f"t{number}", access=access)
        await record(ledger, FIRST, sheet)
        if number < OLD + 2:
            await record(ledger, dataclasses.replace(RESULT, end_milliseconds=(number + 1) * DAY_MILLISECONDS), sheet)


async def left(database: AsyncEngine) -> list[int]:
    counts = [select(func.count()).select_from(table) for table in (SHEETS, ROUNDS, SEAT_COUNTS, RESULTS)]
    async with database.connect() as connection:
        return [(await connection.execute(count)).scalar_one() for count in counts]


async def standings_of(database: AsyncEngine) -> list[object]:
    standings = StandingsStore(database)
    statistics = [await standings.statistics("anna", scope) for scope in Scope]
    return [statistics, await standings.leaderboard("solo", None, 10)]


@on_both_databases
async def test_results_are_deleted_some_days_after_their_end(database_url: str) -> None:
    async with opened(database_url) as one, opened(database_url) as other:
        await record_tables(one)
        before = await standings_of(one.database)
        now = (OLD + 11) * DAY_MILLISECONDS
        keepers = [Housekeeper(each.database, 10, lambda: now, structlog.get_logger()) for each in (one, other)]
        await asyncio.gather(*(keeper.delete_expired() for keeper in keepers))
        assert await left(one.database) == [3, 3, 9, 2]
        listed = await StandingsStore(one.database).results("", "anna", None, 10, caller_id="ben")
        assert [sheet.table_id for sheet, _ in listed] == [f"t{OLD + 1}", f"t{OLD}"]
        assert await standings_of(one.database) == before
