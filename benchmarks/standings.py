"""`python -m benchmarks.standings --results 1000000`: database time of pages with few and with many results.

Pages of leaderboards, statistics, results and the lobby's tables are read with 1,000 results and tables, and again with
as many as named, on SQLite and PostgreSQL. Each figure is the time of all statements of a page, from the service to the
database and back: the fastest of many, because other load of the machine can only add to it.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import structlog
from sqlalchemy import Engine, event, select

from benchmarks.stored_results import FIRST_END, HEAVY_PLAYER, fill
from croupier.lobby.storage.seat_store import TableLimits
from croupier.lobby.storage.store import Store
from croupier.lobby.storage.table_store import TableStore
from croupier.lobby.tables.forming_table import TableState
from croupier.lobby.tables.table_service import FORMING
from croupier.runtime.database.database import Database, open_database, sqlite_url
from croupier.runtime.database.schema_versions import MIGRATION_SECONDS, migrate_database
from croupier.runtime.server.service import now_milliseconds
from croupier.runtime.table_access import OPEN
from croupier.scoring.ledger import Ledger, Result, Seat, SeatConduct, Sheet
from croupier.scoring.schema import STANDINGS
from croupier.scoring.standings import Scope, Statistics
from croupier.scoring.standings_store import LeaderboardEntry, StandingsStore
from croupier_loadtest.postgres import postgres_server

FEW = 1_000
REPEATS = 100
PAGE = 51
"""A page of the default size, and one more row to know whether there is another."""
GAME = "game_2"
PACKAGES = ("croupier.scoring", "croupier.lobby")
Call = Callable[[], Awaitable[object]]
Figures = Mapping[str, float]
"""Milliseconds by page."""


@dataclass(slots=True)
class StatementTimer:
    """The seconds of statements since the last reset."""

    seconds: float = 0.0
    _began: list[float] = field(default_factory=list)

    def listen(self) -> None:
        """Time all statements of this process from now on."""
        event.listen(Engine, "before_cursor_execute", self._begin)
        event.listen(Engine, "after_cursor_execute", self._end)

    def _begin(self, *_: Any) -> None:
        self._began.append(time.perf_counter())

    def _end(self, *_: Any) -> None:
        self.seconds += time.perf_counter() - self._began.pop()


async def pages_of(database: Database, results: int, random: Random) -> Mapping[str, Call]:
    """Return calls that read a page each, or store a result."""
    standings, tables = (
        StandingsStore(database),
        TableStore(Store(database, structlog.get_logger()), TableLimits(20, 500)),
    )
    ledger = Ledger(database, now_milliseconds)
    middle = await _middle_of_board(database)
    half = (FIRST_END + results // 2 * 1000, "")
    every_state = [TableState.FORMING, TableState.OPENING, TableState.PLAYING, TableState.FINISHED]

    async def store_result() -> None:
        seats = tuple(Seat(f"p{seat}-{random.randrange(results)}", "Player", "") for seat in range(4))
        sheet = Sheet(f"new {random.getrandbits(64)}", GAME, seats, OPEN)
        result = Result(((0,), (1,), (2,), (3,)), (0,) * 4, FIRST_END, (SeatConduct(0, False),) * 4)
        await ledger.record_result(sheet, result)

    def results_of(game: str, player_id: str, after: tuple[int, str] | None, caller_id: str = "") -> Call:
        return lambda: standings.results(game, player_id, after, PAGE, caller_id=caller_id)

    return {
        "leaderboard, first page": lambda: standings.leaderboard(GAME, None, PAGE),
        "leaderboard, from the middle": lambda: standings.leaderboard(GAME, middle, PAGE),
        "statistics of a player": lambda: standings.statistics(HEAVY_PLAYER, Scope.ALL),
        "results, first page": results_of("", "", None),
        "results of a game, from the middle": results_of(GAME, "", half),
        "results of a player, by others": results_of("", HEAVY_PLAYER, None),
        "own results, from the middle": results_of("", HEAVY_PLAYER, half, HEAVY_PLAYER),
        "results of a game that nobody plays": results_of("canasta", HEAVY_PLAYER, None),
        "lobby's tables, all states": lambda: tables.list_public("", every_state, None, PAGE),
        "lobby's tables of a game, from the middle": lambda: tables.list_public(GAME, every_state, half, PAGE),
        "lobby's forming tables": lambda: tables.list_public("", FORMING, None, PAGE),
        "storing a result of four players": store_result,
    }


async def _middle_of_board(database: Database) -> LeaderboardEntry:
    columns = STANDINGS.c
    on_board = select(STANDINGS).where(columns.scope == Scope.RANKED.value, columns.game == GAME)
    ordered = on_board.order_by(columns.minus_figure, columns.average_place)
    rows = await database.read(lambda connection: connection.execute(ordered).all())
    row = rows[len(rows) // 2]
    done = Statistics(GAME, -row.minus_games, row.games_counted, row.place_sum)
    return LeaderboardEntry(row.player_id, "", done)


async def figures(database: Database, results: int, random: Random) -> Figures:
    """Return the figures of all pages."""
    timer, found = StatementTimer(), {}
    pages = await pages_of(database, results, random)
    timer.listen()
    for name, call in pages.items():
        times = []
        for _ in range(REPEATS):
            timer.seconds = 0.0
            await call()
            times.append(timer.seconds * 1000)
        found[name] = min(times)
    return found


async def compare(url: str, results: int, seed: int) -> tuple[Figures, Figures]:
    """Return the figures with few results and with many, on one database."""
    await migrate_database(url, PACKAGES)
    database = open_database(url, command_seconds=MIGRATION_SECONDS)
    await fill(database, 1, FEW)
    few = await figures(database, FEW, Random(seed))
    began = time.monotonic()
    await fill(database, FEW + 1, results)
    print(f"  {results:,} results are stored after {time.monotonic() - began:.0f} s", flush=True)
    many = await figures(database, results, Random(seed + 1))
    await database.close()
    return few, many


def report(results: int, by_database: Mapping[str, tuple[Figures, Figures]]) -> None:
    """Print a table of all figures."""
    columns = [f"{name}, {count:,}" for name in by_database for count in (FEW, results)]
    print(f"| Milliseconds of the database | {' | '.join(columns)} |")
    print("|---|" + "---|" * len(columns))
    first, _ = next(iter(by_database.values()))
    for page in first:
        values = [f"{found[page]:.2f}" for both in by_database.values() for found in both]
        print(f"| {page} | {' | '.join(values)} |")


def main() -> None:
    """Measure and print all pages."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.standings", description=__doc__)
    parser.add_argument("--results", type=int, default=100_000, help="the number of results, and of lobby tables")
    parser.add_argument("--seed", type=int, default=1, help="the seed of stored results")
    options = parser.parse_args()
    found = {}
    with tempfile.TemporaryDirectory(prefix="croupier-standings-") as folder, postgres_server({}) as server:
        sqlite, postgres = sqlite_url(Path(folder) / "standings.db"), server.create_database("standings")
        for name, url in {"SQLite": sqlite, "PostgreSQL": postgres}.items():
            print(f"{name}:", flush=True)
            found[name] = asyncio.run(compare(url, options.results, options.seed))
    report(options.results, found)


if __name__ == "__main__":
    main()
