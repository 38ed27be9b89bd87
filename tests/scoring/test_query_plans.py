"""Every page is read through indexes, so that it costs the same with any number of results."""

from collections.abc import Awaitable, Callable

import pytest

from croupier.runtime.database.database import Database
from croupier.scoring.ledger import Ledger
from croupier.scoring.schema import METADATA
from croupier.scoring.standings import Scope, Statistics
from croupier.scoring.standings_store import LeaderboardEntry, StandingsStore
from tests.databases import execute
from tests.query_plans import plan_of, scanned
from tests.scoring.test_ledger import FIRST, RESULT, record

ENTRY = LeaderboardEntry("anna", "Anna", Statistics("solo", 3, 1, 5))
PAGES: dict[str, Callable[[StandingsStore], Awaitable[object]]] = {
    "leaderboard": lambda store: store.leaderboard("solo", None, 50),
    "leaderboard after an entry": lambda store: store.leaderboard("solo", ENTRY, 50),
    "statistics": lambda store: store.statistics("anna", Scope.PUBLIC),
    "results": lambda store: store.results("", "", None, 50, caller_id="ben"),
    "results after one": lambda store: store.results("", "", (10, "t"), 50, caller_id="ben"),
    "results of a game": lambda store: store.results("solo", "", (10, "t"), 50, caller_id="ben"),
    "results of a player": lambda store: store.results("", "anna", (10, "t"), 50, caller_id="ben"),
    "own results of a game": lambda store: store.results("solo", "anna", (10, "t"), 50, caller_id="anna"),
}


@pytest.mark.parametrize("page", PAGES)
async def test_no_page_scans_a_table(ledger: Ledger, page: str) -> None:
    await record(ledger, FIRST)
    await record(ledger, RESULT)
    steps = await plan_of(ledger.database, lambda: PAGES[page](StandingsStore(ledger.database)))
    assert steps
    assert not scanned(steps, METADATA.tables)


async def test_a_scan_is_found(database: Database) -> None:
    steps = await plan_of(database, lambda: execute(database, "SELECT * FROM results WHERE totals = ''"))
    assert scanned(steps, METADATA.tables) == {"results"}
