"""Results of tables with a watch delay: what all players see has them once the delay is over."""

import asyncio
import dataclasses

import pytest

from croupier.runtime.database.database import Database
from croupier.runtime.table_access import OPEN, SEATED, TableAccess
from croupier.scoring.housekeeping import DAY_MILLISECONDS, delete_expired
from croupier.scoring.ledger import Ledger, Result
from croupier.scoring.publication import publish_due
from croupier.scoring.schema import METADATA
from croupier.scoring.standings import Scope
from croupier.scoring.standings_store import StandingsStore
from tests.databases import on_both_databases
from tests.query_plans import plan_of, scanned
from tests.scoring.test_ledger import FIRST, RESULT, SECOND, SHEET, record

DELAYED = dataclasses.replace(SHEET, access=dataclasses.replace(OPEN, watch_delay_seconds=60))
MATCHED = TableAccess(SEATED.visibility, SEATED.watch_policy, 60, is_matched=True)
END = RESULT.end_milliseconds
OVER = END + 60_000
Seen = tuple[list[int], int, int]


@pytest.fixture
def ledger(database: Database) -> Ledger:
    return Ledger(database, lambda: END)


async def publish(ledger: Ledger, now: int = OVER) -> None:
    await publish_due(ledger.database, lambda: now)


async def seen(ledger: Ledger) -> Seen:
    """Return Anna's games in each scope, the length of the leaderboard, and of the list that another player gets."""
    store = StandingsStore(ledger.database)
    statistics = [await store.statistics("anna", scope) for scope in Scope]
    listed = await store.results("", "", None, 10, caller_id="carl")
    return [len(games) for games in statistics], len(await store.leaderboard("solo", None, 10)), len(listed)


@on_both_databases
async def test_all_players_see_a_result_once_the_watch_delay_is_over(ledger: Ledger) -> None:
    # A repeated report is no conflict, and changes nothing.
    assert [await record(ledger, RESULT, DELAYED) for _ in range(2)] == [True, False]
    assert await seen(ledger) == ([1, 0, 0], 0, 0)
    await publish(ledger, OVER - 1)
    assert await seen(ledger) == ([1, 0, 0], 0, 0)
    # Its players see it at once in their own list.
    assert len(await StandingsStore(ledger.database).results("", "anna", None, 10, caller_id="anna")) == 1
    await asyncio.gather(*(publish(ledger) for _ in range(3)))
    assert not await record(ledger, RESULT, DELAYED)
    await publish(ledger)
    assert await seen(ledger) == ([1, 1, 1], 2, 1)
    games = await StandingsStore(ledger.database).statistics("anna", Scope.RANKED)
    assert games == await StandingsStore(ledger.database).statistics("anna", Scope.ALL)


@on_both_databases
async def test_the_counts_of_rounds_are_published_whenever_they_arrive(ledger: Ledger) -> None:
    await record(ledger, RESULT, DELAYED)
    await record(ledger, FIRST, DELAYED)
    await publish(ledger)
    await record(ledger, SECOND, DELAYED)
    store = StandingsStore(ledger.database)
    (all_games,) = await store.statistics("anna", Scope.ALL)
    assert dict(all_games.counts) == {"solos": 1, "tricks": 9}
    for scope in (Scope.PUBLIC, Scope.RANKED):
        assert await store.statistics("anna", scope) == (all_games,)


async def test_a_result_that_is_reported_after_the_delay_is_seen_at_once(database: Database) -> None:
    ledger = Ledger(database, lambda: OVER)
    await record(ledger, RESULT, DELAYED)
    assert await seen(ledger) == ([1, 1, 1], 2, 1)


@pytest.mark.parametrize(
    ("access", "result", "expected"),
    [
        (MATCHED, RESULT, ([1, 0, 1], 2, 0)),
        (dataclasses.replace(MATCHED, is_matched=False), RESULT, ([1, 0, 0], 0, 0)),
        (DELAYED.access, dataclasses.replace(RESULT, is_void=True), ([0, 0, 0], 0, 1)),
    ],
    ids=["matched", "seated", "void"],
)
async def test_publication_keeps_the_access_of_the_table(
    ledger: Ledger, access: TableAccess, result: Result, expected: Seen
) -> None:
    await record(ledger, result, dataclasses.replace(SHEET, access=access))
    await publish(ledger)
    assert await seen(ledger) == expected


@on_both_databases
async def test_a_result_is_not_deleted_before_its_publication(ledger: Ledger) -> None:
    await record(ledger, RESULT, DELAYED)
    now = END + 2 * DAY_MILLISECONDS
    await delete_expired(ledger.database, 1, lambda: now)
    await publish(ledger, now)
    await delete_expired(ledger.database, 1, lambda: now)
    assert await seen(ledger) == ([1, 1, 1], 2, 0)


async def test_no_publication_scans_a_table(ledger: Ledger) -> None:
    await record(ledger, RESULT, DELAYED)
    steps = await plan_of(ledger.database, lambda: publish(ledger))
    assert not scanned(steps, METADATA.tables)
