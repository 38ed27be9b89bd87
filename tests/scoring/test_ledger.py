"""The ledger on real databases: nothing changes, nothing is lost, order does not matter."""

import asyncio
import dataclasses
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from croupier.runtime.database import open_database
from croupier.runtime.errors import AlreadyExists, Unavailable
from croupier.scoring.ledger import Count, Ledger, Result, Round, Seat, Sheet
from croupier.scoring.records import LeaderboardLine, Records
from croupier.scoring.standings import Statistics
from tests.databases import on_both_databases

SHEET = Sheet("t1", "solo", (Seat("anna", "Anna", ""), Seat("", "Computer", "random"), Seat("ben", "Ben", "")))
FIRST = Round(
    1,
    *((3, 0, -3), (3, 0, -3), ("won", "", "lost")),
    headline="solo in spades",
    details=(("declarer", "0"), ("trump", "S")),
    counts=(Count("solos", 0, 1), Count("tricks", 2, 5), Count("tricks", 0, 7), Count("tricks", 2, 1)),
)
SECOND = Round(2, (-1, 1, 0), (2, 1, -3), (), counts=(Count("tricks", 1, 4), Count("tricks", 0, 2)))
RESULT = Result(((0,), (1, 2)), (2, 1, -3), 1_790_000_000_000)
ALL: tuple[Round | Result, ...] = (FIRST, SECOND, RESULT)
ORDERS = list(itertools.permutations(ALL))


@pytest.fixture
async def ledger(database_url: str) -> AsyncIterator[Ledger]:
    async with opened(database_url) as ledger:
        yield ledger


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Ledger]:
    database = open_database(url)
    yield Ledger(database)
    await database.dispose()


async def enter(ledger: Ledger, entry: Round | Result, sheet: Sheet = SHEET) -> bool:
    if isinstance(entry, Round):
        return await ledger.enter_round(sheet, entry)
    return await ledger.enter_result(sheet, entry)


@on_both_databases
@pytest.mark.parametrize("order", ORDERS)
async def test_any_order_and_any_repetition_gives_the_same(ledger: Ledger, order: tuple[Round | Result, ...]) -> None:
    assert [await enter(ledger, entry) for entry in (*order, *order[::-1], *order)] == [True] * 3 + [False] * 6
    found = await ledger.score_sheet("t1")
    assert (found.sheet, found.rounds, found.result) == (SHEET, (FIRST, SECOND), RESULT)
    records = Records(ledger.database)
    anna = Statistics("solo", 1, 1, 1, (("solos", 1), ("tricks", 9)))
    ben = Statistics("solo", 1, 0, 2, (("tricks", 6),))
    assert [await records.statistics(player_id) for player_id in ("anna", "ben", "")] == [(anna,), (ben,), ()]
    assert [line.statistics for line in await records.leaderboard("solo", None, 10)] == [anna, ben]


@on_both_databases
async def test_counts_are_those_of_the_seat_over_the_finished_tables_of_the_game(ledger: Ledger) -> None:
    swapped = dataclasses.replace(SHEET, table_id="t2", seats=SHEET.seats[::-1])
    other_game = dataclasses.replace(SHEET, table_id="t3", game="jossing")
    unfinished = dataclasses.replace(SHEET, table_id="t4")
    for sheet in (SHEET, swapped, other_game, unfinished):
        await enter(ledger, FIRST, sheet)
    for sheet in (SHEET, swapped, other_game):
        await enter(ledger, RESULT, sheet)
    anna = [done.counts for done in await Records(ledger.database).statistics("anna")]
    assert anna == [(("solos", 1), ("tricks", 7)), (("solos", 1), ("tricks", 13))]
    lines = await Records(ledger.database).leaderboard("solo", None, 10)
    assert [line.statistics.counts for line in lines] == [(("solos", 1), ("tricks", 13))] * 2
    assert await Records(ledger.database).leaderboard("solo", lines[0], 10) == lines[1:]


CHANGES: list[tuple[Round | Result, Sheet]] = [
    (dataclasses.replace(FIRST, points=(2, 0, -2)), SHEET),
    (dataclasses.replace(FIRST, totals=(2, 0, -2)), SHEET),
    (dataclasses.replace(FIRST, notes=()), SHEET),
    (dataclasses.replace(FIRST, headline=""), SHEET),
    (dataclasses.replace(FIRST, details=FIRST.details[1:]), SHEET),
    (dataclasses.replace(FIRST, counts=FIRST.counts[1:]), SHEET),
    (dataclasses.replace(RESULT, ranking=((0, 1, 2),)), SHEET),
    (dataclasses.replace(RESULT, totals=(2, 2, -4)), SHEET),
    (dataclasses.replace(RESULT, finished=RESULT.finished + 1), SHEET),
    (FIRST, dataclasses.replace(SHEET, game="thulla")),
    (SECOND, dataclasses.replace(SHEET, game="thulla")),
    (RESULT, dataclasses.replace(SHEET, seats=SHEET.seats[::-1])),
    (SECOND, dataclasses.replace(SHEET, seats=(Seat("anna", "Annie", ""), *SHEET.seats[1:]))),
]


@pytest.mark.parametrize(("entry", "sheet"), CHANGES)
async def test_something_else_changes_nothing(ledger: Ledger, entry: Round | Result, sheet: Sheet) -> None:
    await enter(ledger, FIRST)
    await enter(ledger, RESULT)
    records = Records(ledger.database)
    before = await ledger.score_sheet("t1"), await records.leaderboard("solo", None, 10)
    with pytest.raises(AlreadyExists) as refused:
        await enter(ledger, entry, sheet)
    assert refused.value.reason == "LEDGER_CONFLICT"
    assert (await ledger.score_sheet("t1"), await records.leaderboard("solo", None, 10)) == before


@on_both_databases
async def test_the_same_from_two_replicas_at_once_is_entered_once(database_url: str) -> None:
    """Every entry of ten tables, twice at each replica, all at the same moment."""
    sheets = [dataclasses.replace(SHEET, table_id=f"t{number}") for number in range(10)]
    async with opened(database_url) as one, opened(database_url) as other:
        calls = [
            enter(ledger, entry, sheet) for sheet in sheets for entry in ALL for ledger in (one, other, other, one)
        ]
        news = await asyncio.gather(*calls)
        groups = [news[start : start + 4] for start in range(0, len(news), 4)]
        assert [sum(group) for group in groups] == [1] * len(groups)
        for sheet in sheets:
            found = await one.score_sheet(sheet.table_id)
            assert (found.sheet, found.rounds, found.result) == (sheet, (FIRST, SECOND), RESULT)
        assert await Records(other.database).statistics("ben") == (Statistics("solo", 10, 0, 20, (("tricks", 60),)),)


@on_both_databases
async def test_of_two_different_entries_at_once_one_is_refused(database_url: str) -> None:
    async with opened(database_url) as one, opened(database_url) as other:
        changed = dataclasses.replace(FIRST, headline="something else")
        calls = [enter(ledger, entry) for ledger, entry in [(one, FIRST), (other, changed)] * 3]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert sum(outcome is True for outcome in outcomes) == 1
        assert sum(isinstance(outcome, AlreadyExists) for outcome in outcomes) == 3
        assert sum(outcome is False for outcome in outcomes) == 2


async def test_a_database_that_cannot_be_reached_is_unavailable(tmp_path: Path) -> None:
    nowhere = Ledger(open_database(f"sqlite:///{tmp_path}/missing/scoring.db"))
    with pytest.raises(Unavailable) as refused:
        await enter(nowhere, FIRST)
    assert refused.value.retry_after_seconds


CAREERS = {
    "most_wins": (1, 1, 1, 4, 4, 4),
    "two_wins_better_average": (1, 1, 2),
    "two_wins_more_games": (1, 1, 4, 2, 2, 2),
    "two_wins_fewer_games": (1, 1, 4),
    "two_wins_fewer_games_too": (1, 1, 4),
    "never": (2,),
}
"""Places by player, in the order of the leaderboard; they are entered in another."""


async def enter_careers(ledger: Ledger) -> None:
    for number, (player_id, career) in enumerate(sorted(CAREERS.items(), reverse=True)):
        for game, place in enumerate(career):
            computers = (Seat("", "Computer", "random"),) * 3
            seats = (Seat(player_id, f"{player_id} {game}", ""), *computers)
            above = tuple((seat,) for seat in range(1, place))
            below = tuple((seat,) for seat in range(place, 4))
            result = Result((*above, (0,), *below), (0, 0, 0, 0), 1_000 + game)
            await ledger.enter_result(Sheet(f"t{number}-{game}", "solo", seats), result)


@on_both_databases
async def test_the_order_of_the_leaderboard_which_goes_on_after_any_line(ledger: Ledger) -> None:
    await enter_careers(ledger)
    records = Records(ledger.database)
    lines = await records.leaderboard("solo", None, 10)
    assert [line.player_id for line in lines] == list(CAREERS)
    expected = LeaderboardLine("two_wins_more_games", "two_wins_more_games 5", Statistics("solo", 6, 2, 12))
    assert lines[2] == expected
    for number, line in enumerate(lines, 1):
        assert await records.leaderboard("solo", line, 10) == lines[number:]
        assert await records.leaderboard("solo", line, 1) == lines[number : number + 1]


@on_both_databases
async def test_the_name_is_that_of_the_last_table_of_any_game(ledger: Ledger) -> None:
    for table_id, game, name, finished in (("a", "solo", "Newest", 30), ("b", "jossing", "Old", 10)):
        sheet = Sheet(table_id, game, (Seat("anna", name, ""),))
        await ledger.enter_result(sheet, Result(((0,),), (0,), finished))
    lines = await Records(ledger.database).leaderboard("jossing", None, 10)
    assert [line.name for line in lines] == ["Newest"]
