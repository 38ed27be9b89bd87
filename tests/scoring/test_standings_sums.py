"""Standings are sums over the ledger, whatever the order and the repetitions of its entries."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from random import Random

import pytest

from croupier.runtime.table_access import SEATED, TableAccess, Visibility, WatchPolicy
from croupier.scoring import standings
from croupier.scoring.ledger import Ledger, Result, Round, Seat, SeatConduct, SeatCount, Sheet
from croupier.scoring.standings import WON_OR_LOST, Scope, Statistics
from croupier.scoring.standings_store import LeaderboardEntry, StandingsStore
from croupier_loadtest.judge.results import places
from tests.databases import on_both_databases
from tests.scoring.deployment import Entries, score_sheet
from tests.scoring.test_ledger import NO_WINNERS, opened, record

PLAYERS = ("anna", "ben", "carl", "dora", "emil")
GAMES = {"solo": NO_WINNERS, "jossing": WON_OR_LOST}
ACCESSES = (
    TableAccess(Visibility.PUBLIC, WatchPolicy.ANYONE),
    TableAccess(Visibility.PUBLIC, WatchPolicy.NOBODY, is_matched=True),
    TableAccess(Visibility.LINK, WatchPolicy.LINK),
    TableAccess(Visibility.SEATED, WatchPolicy.NOBODY, is_matched=True),
    SEATED,
)
TABLES = 14
MAX_CONCURRENT = 8

Entry = tuple[Sheet, Round | Result]
Totals = dict[tuple[Scope, str, str], Statistics]
"""By scope, game and player."""


def random_sheet(random: Random, number: int) -> Sheet:
    people = random.sample(PLAYERS, random.randint(1, 4))
    seats = [Seat(player_id, f"{player_id} {number}", "") for player_id in people]
    seats += [Seat("", "Computer", "random")] * random.randint(0, 1)
    random.shuffle(seats)
    return Sheet(f"t{number}", random.choice(list(GAMES)), tuple(seats), random.choice(ACCESSES))


def random_entries(random: Random, sheet: Sheet) -> list[Entry]:
    """Return rounds and a result; a few tables have no result yet."""
    seats = list(range(len(sheet.seats)))
    none = (0,) * len(seats)
    entries: list[Entry] = []
    for number in range(1, random.randint(1, 4)):
        counts = [
            SeatCount(random.choice(("wins", "bids")), random.choice(seats), random.randint(1, 9)) for _ in range(5)
        ]
        entries.append((sheet, Round(number, none, none, counts=tuple(counts))))
    random.shuffle(seats)
    first = random.randint(1, len(seats))
    ranking = (tuple(sorted(seats[:first])), *((seat,) for seat in seats[first:]))
    conduct = tuple(SeatConduct(random.randint(0, 3), random.random() < 0.2) for _ in seats)
    known = conduct if random.random() < 0.9 else ()
    if random.random() < 0.9:
        # Several tables end at the same time.
        is_void = random.random() < 0.15
        outcomes = () if is_void else random_outcomes(random, sheet.game, ranking)
        result = Result(ranking, none, random.randint(1, 8), known, is_void, outcomes=outcomes)
        entries.append((sheet, result))
    return entries


def random_outcomes(random: Random, game: str, ranking: tuple[tuple[int, ...], ...]) -> tuple[str, ...]:
    """Return outcomes by the first group, in a game without winners by the last one; some of its games do not count."""
    better, worse = GAMES[game].outcomes
    if GAMES[game].has_winners:
        best = set(ranking[0])
    elif random.random() < 0.2:
        return ()
    else:
        best = {seat for group in ranking[:-1] for seat in group}
    return tuple(better if seat in best else worse for seat in range(sum(map(len, ranking))))


def may_rank(sheet: Sheet, result: Result) -> bool:
    """Return whether a result is on the leaderboard, unless a pair of its players has too many."""
    people = sum(not occupant.bot for occupant in sheet.seats)
    is_open = sheet.access.visibility is Visibility.PUBLIC or sheet.access.is_matched
    return is_open and people > 1 and bool(result.conduct) and bool(result.outcomes)


def sums_of(sheets: Iterable[Entries]) -> Totals:
    """Return the sums over all results that count."""
    sums: dict[tuple[Scope, str, str], Counter[str]] = {}
    for recorded in sheets:
        sheet, result = recorded.sheet, recorded.result
        if result is None or not result.outcomes:
            continue
        assert may_rank(sheet, result) or not result.is_ranked
        left = [seat for seat, one in enumerate(result.conduct) if one.finished_by_engine]
        for seat, place in places(result.ranking, left).items():
            player_id = sheet.seats[seat].player_id
            is_in = {
                Scope.ALL: True,
                Scope.PUBLIC: sheet.access.visibility is Visibility.PUBLIC,
                Scope.RANKED: result.is_ranked,
            }
            is_better = result.outcomes[seat] == GAMES[sheet.game].outcomes[0] and seat not in left
            counts = Counter({"games": 1, "better": int(is_better), "left": int(seat in left)})
            counts["places"] = place
            for count in (count for each in recorded.rounds for count in each.counts if count.seat == seat):
                counts[f"count {count.name}"] += count.amount
            for scope in (scope for scope in Scope if player_id and is_in[scope]):
                sums.setdefault((scope, sheet.game, player_id), Counter()).update(counts)
    return {key: statistics_of(key[1], counts) for key, counts in sums.items()}


def statistics_of(game: str, sums: Counter[str]) -> Statistics:
    counts = [(name.removeprefix("count "), sum_) for name, sum_ in sorted(sums.items()) if name.startswith("count ")]
    numbers = sums["games"], sums["better"], sums["places"]
    return Statistics(game, *numbers, tuple(counts), sums["left"], GAMES[game])


def board_of(game: str, totals: Totals, sheets: Iterable[Entries]) -> tuple[LeaderboardEntry, ...]:
    names = {
        seat.player_id: seat.name
        for _, _, recorded in sorted(
            (each.result.end_milliseconds, each.sheet.table_id, each.sheet) for each in sheets if each.result
        )
        for seat in recorded.seats
    }
    found = [
        LeaderboardEntry(player_id, names[player_id], done)
        for (scope, of_game, player_id), done in totals.items()
        if scope is Scope.RANKED and of_game == game
    ]
    return tuple(sorted(found, key=order_of))


def order_of(entry: LeaderboardEntry) -> tuple[float, float, int, str]:
    done = entry.statistics
    if done.standing == NO_WINNERS:
        return -done.games_counted / done.games_finished, 0, -done.games_finished, entry.player_id
    return -done.games_won, done.average_place or 0.0, -done.games_finished, entry.player_id


async def record_all(ledgers: Sequence[Ledger], entries: Sequence[Entry]) -> None:
    slots = asyncio.Semaphore(MAX_CONCURRENT)

    async def record_one(ledger: Ledger, sheet: Sheet, entry: Round | Result) -> None:
        async with slots:
            await record(ledger, entry, sheet, GAMES[sheet.game])

    await asyncio.gather(*(record_one(ledgers[number % len(ledgers)], *entry) for number, entry in enumerate(entries)))


async def in_pages(store: StandingsStore, game: str, size: int) -> tuple[LeaderboardEntry, ...]:
    board: tuple[LeaderboardEntry, ...] = ()
    while page := await store.leaderboard(game, board[-1] if board else None, size):
        board += page
    return board


@on_both_databases
async def test_standings_are_the_sums_over_the_ledger(database_url: str, seed: int) -> None:
    random = Random(seed)
    sheets = [random_sheet(random, number) for number in range(TABLES)]
    entries = [entry for sheet in sheets for entry in random_entries(random, sheet)]
    repeated = random.sample(entries, len(entries) // 2)
    in_any_order = random.sample([*entries, *repeated], len(entries) + len(repeated))
    async with opened(database_url) as one, opened(database_url) as other:
        await record_all((one, other), in_any_order)
        known = {sheet.table_id for sheet, _ in entries}
        recorded = [await score_sheet(one, table_id) for table_id in sorted(known)]
        assert sum(len(each.rounds) + bool(each.result) for each in recorded) == len(entries)
        totals, store = sums_of(recorded), StandingsStore(other.database)
        for scope in Scope:
            for player_id in PLAYERS:
                expected = [totals[key] for game in sorted(GAMES) if (key := (scope, game, player_id)) in totals]
                assert list(await store.statistics(player_id, scope)) == expected
        for game in GAMES:
            assert await in_pages(store, game, random.randint(1, 4)) == board_of(game, totals, recorded)


@pytest.mark.parametrize(
    ("ranking", "expected"),
    [
        pytest.param(((0,),), (1,), id="alone"),
        pytest.param(((1,), (0,)), (2, 1), id="two in a row"),
        pytest.param(((0, 1),), (1, 1), id="all tied"),
        pytest.param(((2,), (0,), (1, 3)), (2, 3, 1, 3), id="tied for last"),
        pytest.param(((0, 2), (1,), (3,)), (1, 3, 1, 4), id="tied for first, so no seat is second"),
        pytest.param(((4,), (0, 1, 3), (2,)), (2, 2, 5, 2, 1), id="three tied in the middle"),
        pytest.param((), (), id="no seats"),
    ],
)
def test_places(ranking: tuple[tuple[int, ...], ...], expected: tuple[int, ...]) -> None:
    assert standings.places(ranking) == expected


def test_a_player_without_games_has_neither_a_rate_nor_an_average() -> None:
    statistics = Statistics("solo", 0, 0, 0)
    assert (statistics.win_rate, statistics.average_place, statistics.figure) == (None, None, None)
    assert statistics.outcomes == {}
