"""The ledger on real databases: entries never change or get lost, and their order does not matter."""

import asyncio
import dataclasses
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from croupier.runtime.admission.budget import Budget
from croupier.runtime.admission.costs import ROUNDS_PER_UNIT
from croupier.runtime.database.database import Database, open_database
from croupier.runtime.errors import AlreadyExists, Unavailable
from croupier.runtime.identity.links import LinkVerifier
from croupier.runtime.identity.tokens import Clock
from croupier.runtime.server.service import now_milliseconds
from croupier.runtime.table_access import OPEN, SEATED, TableAccess, Visibility, WatchPolicy
from croupier.scoring.ledger import Ledger, Result, Round, Seat, SeatConduct, SeatCount, Sheet
from croupier.scoring.schema import METADATA
from croupier.scoring.servicer import ScoringServicer
from croupier.scoring.standings import MAX_RANKED_GAMES_OF_A_PAIR, WON_OR_LOST, Scope, Standing, Statistics
from croupier.scoring.standings_store import LeaderboardEntry, StandingsStore
from croupier_api.v1 import scoring_pb2
from croupier_api.v1.facts_pb2 import Phrase, RoundScore
from tests.calls import call_of, limits
from tests.databases import execute, on_both_databases
from tests.query_plans import plan_of, scanned
from tests.scoring.deployment import score_sheet

SHEET = Sheet("t1", "solo", (Seat("anna", "Anna", ""), Seat("", "Computer", "random"), Seat("ben", "Ben", "")), OPEN)
FIRST = Round(
    1,
    *((3, 0, -3), (3, 0, -3)),
    texts=RoundScore(headline=[Phrase(word="solo")]).SerializeToString(),
    counts=(SeatCount("solos", 0, 1), SeatCount("tricks", 2, 5), SeatCount("tricks", 0, 7), SeatCount("tricks", 2, 1)),
)
OTHER_TEXTS = RoundScore(headline=[Phrase(word="wedding")]).SerializeToString()
SECOND = Round(2, (-1, 1, 0), (2, 1, -3), counts=(SeatCount("tricks", 1, 4), SeatCount("tricks", 0, 2)))
PRESENT = SeatConduct(0, False)
RESULT = Result(((0,), (1, 2)), (2, 1, -3), 1_790_000_000_000, (SeatConduct(2, False), PRESENT, PRESENT))
RANKED_RESULT = dataclasses.replace(RESULT, is_ranked=True)
"""The same result as the ledger has it."""
ALL: tuple[Round | Result, ...] = (FIRST, SECOND, RESULT)
ORDERS = list(itertools.permutations(ALL))


@asynccontextmanager
async def opened(url: str, clock: Clock = now_milliseconds) -> AsyncIterator[Ledger]:
    database = open_database(url)
    yield Ledger(database, clock)
    await database.close()


async def record(ledger: Ledger, entry: Round | Result, sheet: Sheet = SHEET, standing: Standing | None = None) -> bool:
    if isinstance(entry, Round):
        return await ledger.record_round(sheet, entry)
    return await ledger.record_result(sheet, entry, standing)


@on_both_databases
@pytest.mark.parametrize("order", ORDERS)
async def test_order_and_repetition_of_entries_do_not_matter(ledger: Ledger, order: tuple[Round | Result, ...]) -> None:
    assert [await record(ledger, entry) for entry in (*order, *order[::-1], *order)] == [True] * 3 + [False] * 6
    sheet = await score_sheet(ledger, "t1")
    assert (sheet.sheet, sheet.rounds, sheet.result) == (SHEET, (FIRST, SECOND), RANKED_RESULT)
    standings = StandingsStore(ledger.database)
    anna = Statistics("solo", 1, 1, 1, (("solos", 1), ("tricks", 9)))
    ben = Statistics("solo", 1, 0, 2, (("tricks", 6),))
    assert [await standings.statistics(player_id, Scope.PUBLIC) for player_id in ("anna", "ben", "")] == [
        (anna,),
        (ben,),
        (),
    ]
    assert [line.statistics for line in await standings.leaderboard("solo", None, 10)] == [anna, ben]


CHANGES: list[tuple[Round | Result, Sheet]] = [
    (dataclasses.replace(FIRST, points=(2, 0, -2)), SHEET),
    (dataclasses.replace(FIRST, totals=(2, 0, -2)), SHEET),
    (dataclasses.replace(FIRST, texts=OTHER_TEXTS), SHEET),
    (dataclasses.replace(FIRST, counts=FIRST.counts[1:]), SHEET),
    (dataclasses.replace(RESULT, ranking=((0, 1, 2),)), SHEET),
    (dataclasses.replace(RESULT, totals=(2, 2, -4)), SHEET),
    (dataclasses.replace(RESULT, end_milliseconds=RESULT.end_milliseconds + 1), SHEET),
    (FIRST, dataclasses.replace(SHEET, game="thulla")),
    (SECOND, dataclasses.replace(SHEET, game="thulla")),
    (dataclasses.replace(RESULT, conduct=(PRESENT,) * 3), SHEET),
    (dataclasses.replace(RESULT, is_void=True), SHEET),
    (RESULT, dataclasses.replace(SHEET, access=SEATED)),
    (RESULT, dataclasses.replace(SHEET, access=dataclasses.replace(OPEN, is_matched=True))),
    (FIRST, dataclasses.replace(SHEET, access=dataclasses.replace(OPEN, removed_players=("carl",)))),
    (FIRST, dataclasses.replace(SHEET, access=TableAccess(Visibility.PUBLIC, WatchPolicy.NOBODY))),
    (FIRST, dataclasses.replace(SHEET, access=dataclasses.replace(OPEN, watch_delay_seconds=1))),
    (RESULT, dataclasses.replace(SHEET, seats=SHEET.seats[::-1])),
    (SECOND, dataclasses.replace(SHEET, seats=(Seat("anna", "Annie", ""), *SHEET.seats[1:]))),
]


@pytest.mark.parametrize(("entry", "sheet"), CHANGES)
async def test_a_conflicting_entry_changes_nothing(ledger: Ledger, entry: Round | Result, sheet: Sheet) -> None:
    await record(ledger, FIRST)
    await record(ledger, RESULT)
    standings = StandingsStore(ledger.database)
    before = await score_sheet(ledger, "t1"), await standings.leaderboard("solo", None, 10)
    with pytest.raises(AlreadyExists) as refused:
        await record(ledger, entry, sheet)
    assert refused.value.reason_name == "LEDGER_CONFLICT"
    assert (await score_sheet(ledger, "t1"), await standings.leaderboard("solo", None, 10)) == before


@on_both_databases
async def test_the_same_entry_from_two_replicas_at_once_is_recorded_once(database_url: str) -> None:
    """Every entry of ten tables is recorded twice at each replica, all at the same time."""
    sheets = [dataclasses.replace(SHEET, table_id=f"t{number}") for number in range(10)]
    async with opened(database_url) as one, opened(database_url) as other:
        calls = [
            record(ledger, entry, sheet) for sheet in sheets for entry in ALL for ledger in (one, other, other, one)
        ]
        outcomes = await asyncio.gather(*calls)
        groups = [outcomes[start : start + 4] for start in range(0, len(outcomes), 4)]
        assert [sum(group) for group in groups] == [1] * len(groups)
        found = [await score_sheet(one, sheet.table_id) for sheet in sheets]
        assert [(each.sheet, each.rounds) for each in found] == [(sheet, (FIRST, SECOND)) for sheet in sheets]
        # Of the results of one pair only so many are ranked.
        ranked = Counter(each.result for each in found)
        assert ranked == {RANKED_RESULT: MAX_RANKED_GAMES_OF_A_PAIR, RESULT: len(sheets) - MAX_RANKED_GAMES_OF_A_PAIR}
        ben = Statistics("solo", 10, 0, 20, (("tricks", 60),))
        assert await StandingsStore(other.database).statistics("ben", Scope.ALL) == (ben,)


@on_both_databases
async def test_of_two_different_entries_at_once_one_is_refused(database_url: str) -> None:
    async with opened(database_url) as one, opened(database_url) as other:
        changed = dataclasses.replace(FIRST, texts=OTHER_TEXTS)
        calls = [record(ledger, entry) for ledger, entry in [(one, FIRST), (other, changed)] * 3]
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert sum(outcome is True for outcome in outcomes) == 1
        assert sum(isinstance(outcome, AlreadyExists) for outcome in outcomes) == 3
        assert sum(outcome is False for outcome in outcomes) == 2


async def test_a_database_that_cannot_be_reached_is_unavailable(tmp_path: Path) -> None:
    unreachable = Ledger(open_database(f"sqlite:///{tmp_path}/missing/scoring.db"), now_milliseconds)
    with pytest.raises(Unavailable) as refused:
        await record(unreachable, FIRST)
    assert refused.value.retry_after_seconds


CAREERS = {
    "max_wins": (1, 1, 1, 4, 4, 4),
    "two_wins_better_average": (1, 1, 2),
    "two_wins_more_games": (1, 1, 4, 2, 2, 2),
    "two_wins_fewer_games": (1, 1, 4),
    "two_wins_fewer_games_too": (1, 1, 4),
    "never": (2,),
}
"""Places by player, in the order of the leaderboard; they are recorded in another order."""


async def record_careers(ledger: Ledger) -> None:
    for number, (player_id, career) in enumerate(sorted(CAREERS.items(), reverse=True)):
        for game, place in enumerate(career):
            others = (Seat(f"other {number}-{game}", "Other", ""), *(Seat("", "Computer", "random"),) * 2)
            seats = (Seat(player_id, f"{player_id} {game}", ""), *others)
            above = tuple((seat,) for seat in range(1, place))
            below = tuple((seat,) for seat in range(place, 4))
            # The other person left the game, and is therefore below all others.
            conduct = (PRESENT, SeatConduct(1, True), PRESENT, PRESENT)
            result = Result((*above, (0,), *below), (0, 0, 0, 0), 1_000 + game, conduct)
            await ledger.record_result(Sheet(f"t{number}-{game}", "solo", seats, OPEN), result)


@on_both_databases
async def test_a_leaderboard_is_in_order_and_continues_after_any_entry(ledger: Ledger) -> None:
    await record_careers(ledger)
    standings = StandingsStore(ledger.database)
    lines = await standings.leaderboard("solo", None, 100)
    assert [line.player_id for line in lines][: len(CAREERS)] == list(CAREERS)
    assert {line.statistics for line in lines[len(CAREERS) :]} == {Statistics("solo", 1, 0, 4, games_left=1)}
    expected = LeaderboardEntry("two_wins_more_games", "two_wins_more_games 5", Statistics("solo", 6, 2, 12))
    assert lines[2] == expected
    for number, line in enumerate(lines, 1):
        assert await standings.leaderboard("solo", line, 100) == lines[number:]
        assert await standings.leaderboard("solo", line, 1) == lines[number : number + 1]


@on_both_databases
async def test_conduct_that_is_not_known_is_no_conflict(ledger: Ledger) -> None:
    """Results of earlier versions have none; the first entry stays as it is."""
    unknown = dataclasses.replace(RESULT, conduct=())
    other = dataclasses.replace(SHEET, table_id="t2")
    assert [await record(ledger, unknown), await record(ledger, RESULT)] == [True, False]
    assert [await record(ledger, RESULT, other), await record(ledger, unknown, other)] == [True, False]
    assert [(await score_sheet(ledger, sheet.table_id)).result for sheet in (SHEET, other)] == [unknown, RANKED_RESULT]
    line, *_ = await StandingsStore(ledger.database).leaderboard("solo", None, 10)
    assert line.statistics.games_finished == 1


CARL = Seat("carl", "Carl", "")
MATCHED = dataclasses.replace(SEATED, is_matched=True)
LINK = TableAccess(Visibility.LINK, WatchPolicy.LINK)
RANKED: dict[str, tuple[Sheet, Result, bool]] = {
    "a public table": (SHEET, RESULT, True),
    "a matched table": (dataclasses.replace(SHEET, access=MATCHED), RESULT, True),
    "a seated table": (dataclasses.replace(SHEET, access=SEATED), RESULT, False),
    "a table with links": (dataclasses.replace(SHEET, access=LINK), RESULT, False),
    "a void result": (SHEET, dataclasses.replace(RESULT, is_void=True), False),
    "conduct that is not known": (SHEET, dataclasses.replace(RESULT, conduct=()), False),
    "one player and computers": (
        dataclasses.replace(SHEET, seats=(CARL, SHEET.seats[1], SHEET.seats[1])),
        RESULT,
        False,
    ),
    "a player who left": (SHEET, dataclasses.replace(RESULT, conduct=(SeatConduct(5, True), PRESENT, PRESENT)), True),
}


@pytest.mark.parametrize("case", RANKED)
async def test_which_results_are_ranked(ledger: Ledger, case: str) -> None:
    sheet, result, expected = RANKED[case]
    await record(ledger, result, sheet)
    recorded = (await score_sheet(ledger, sheet.table_id)).result
    assert recorded == dataclasses.replace(result, is_ranked=expected)


LEFT = SeatConduct(5, True)
TEAMS = tuple(Seat(player_id, player_id, "") for player_id in ("anna", "ben", "carl", "dora"))


@on_both_databases
async def test_a_game_that_a_player_left_is_not_won_and_has_the_last_place(ledger: Ledger) -> None:
    """Anna and Carl win as a team, but Carl left; Ben left too, and Dora shares the place of the losers."""
    sheet = dataclasses.replace(SHEET, seats=TEAMS)
    conduct = (PRESENT, LEFT, LEFT, PRESENT)
    await record(ledger, Result(((0, 2), (1, 3)), (1, 0, 1, 0), 1_000, conduct), sheet)
    standings = StandingsStore(ledger.database)
    expected = {
        "anna": Statistics("solo", 1, 1, 1),
        "ben": Statistics("solo", 1, 0, 4, games_left=1),
        "carl": Statistics("solo", 1, 0, 4, games_left=1),
        "dora": Statistics("solo", 1, 0, 3),
    }
    for scope in Scope:
        assert {player: (await standings.statistics(player, scope))[0] for player in expected} == expected
    board = await standings.leaderboard("solo", None, 10)
    assert [line.player_id for line in board] == ["anna", "dora", "ben", "carl"]


NO_WINNERS = Standing(("escaped", "buck"), has_winners=False, figure="escape_rate", is_share=True, places_decide=False)
ESCAPED = dataclasses.replace(RESULT, outcomes=("escaped", "escaped", "buck"))


@on_both_databases
async def test_a_result_without_outcomes_counts_nowhere(ledger: Ledger) -> None:
    """Nor do the counts of its rounds, whenever they are recorded."""
    await record(ledger, FIRST)
    assert await record(ledger, RESULT, standing=NO_WINNERS)
    await record(ledger, SECOND)
    assert (await score_sheet(ledger, "t1")).result == RESULT
    standings = StandingsStore(ledger.database)
    assert [await standings.statistics("anna", scope) for scope in Scope] == [(), (), ()]
    assert await standings.leaderboard("solo", None, 10) == ()


@on_both_databases
async def test_outcomes_that_are_not_known_are_no_conflict_and_others_are(ledger: Ledger) -> None:
    assert await record(ledger, ESCAPED, standing=NO_WINNERS)
    assert not await record(ledger, RESULT, standing=NO_WINNERS)
    changed = dataclasses.replace(ESCAPED, outcomes=ESCAPED.outcomes[::-1])
    with pytest.raises(AlreadyExists):
        await record(ledger, changed, standing=NO_WINNERS)
    (anna,) = await StandingsStore(ledger.database).statistics("anna", Scope.RANKED)
    assert anna == Statistics("solo", 1, 1, 1, standing=NO_WINNERS)


@on_both_databases
async def test_an_engine_of_an_earlier_version_reports_no_game_without_winners(ledger: Ledger) -> None:
    """It does not say the outcomes; those of other games follow from the ranking."""
    other = dataclasses.replace(SHEET, table_id="t2")
    assert await record(ledger, ESCAPED, standing=NO_WINNERS)
    with pytest.raises(Unavailable, match="later version of the engine"):
        await record(ledger, RESULT, other)
    assert await record(ledger, ESCAPED, other, NO_WINNERS)
    later = dataclasses.replace(SHEET, table_id="t3", game="jossing")
    assert await record(ledger, dataclasses.replace(RESULT, outcomes=("won", "lost", "lost")), later, WON_OR_LOST)
    assert await record(ledger, RESULT, dataclasses.replace(later, table_id="t4"))
    (jossing, solo) = await StandingsStore(ledger.database).statistics("anna", Scope.ALL)
    assert (jossing, solo) == (Statistics("jossing", 2, 2, 2), Statistics("solo", 2, 2, 2, standing=NO_WINNERS))


@on_both_databases
async def test_a_game_that_a_player_left_has_the_last_outcome(ledger: Ledger) -> None:
    conduct = (LEFT, PRESENT, PRESENT)
    await record(ledger, dataclasses.replace(ESCAPED, conduct=conduct), standing=NO_WINNERS)
    (anna,) = await StandingsStore(ledger.database).statistics("anna", Scope.RANKED)
    assert anna == Statistics("solo", 1, 0, 3, games_left=1, standing=NO_WINNERS)
    assert anna.outcomes == {"escaped": 0, "buck": 1}
    # The result itself is as it was reported.
    assert (await score_sheet(ledger, "t1")).result == dataclasses.replace(ESCAPED, conduct=conduct, is_ranked=True)


async def test_a_score_sheet_is_paid_by_its_rounds(ledger: Ledger) -> None:
    for number in range(1, 26):
        await ledger.record_round(SHEET, dataclasses.replace(FIRST, number=number))
    budget = Budget("player_calls", 1, 1000, lambda: 0)
    links = LinkVerifier(Ed25519PrivateKey.generate().public_key(), now_milliseconds)
    servicer = ScoringServicer(ledger, StandingsStore(ledger.database), links, now_milliseconds, ())
    request = scoring_pb2.GetScoreSheetRequest(table_id=SHEET.table_id)
    await servicer.GetScoreSheet(request, call_of("p0", limits(player=budget)))
    assert budget.wait("p0", 1000) == 25 // ROUNDS_PER_UNIT * 10**9 > 0


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
