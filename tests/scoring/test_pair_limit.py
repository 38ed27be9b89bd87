"""At most five ranked results of a pair of players in a day, in any order of reports, at any replica."""

import asyncio
import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from random import Random

from croupier.runtime.table_access import OPEN, SEATED, TableAccess
from croupier.scoring.ledger import Ledger, Result, Seat, SeatConduct, Sheet
from croupier.scoring.schema import METADATA
from croupier.scoring.standings import MAX_RANKED_GAMES_OF_A_PAIR, PAIR_MILLISECONDS, Scope
from croupier.scoring.standings_store import StandingsStore
from tests.databases import on_both_databases
from tests.query_plans import plan_of, scanned
from tests.scoring.deployment import score_sheet
from tests.scoring.test_ledger import opened

HOUR = 3_600_000
START = 100 * PAIR_MILLISECONDS


async def play(
    ledger: Ledger, table_id: str, people: Sequence[str], end: int, *, access: TableAccess = OPEN, void: bool = False
) -> bool:
    """Record the result of a table and return whether it is ranked."""
    seats = tuple(Seat(player_id, player_id, "") for player_id in people)
    ranking = tuple((seat,) for seat in range(len(seats)))
    result = Result(ranking, (0,) * len(seats), end, (SeatConduct(0, False),) * len(seats), void)
    await ledger.record_result(Sheet(table_id, "solo", seats, access), result)
    stored = (await score_sheet(ledger, table_id)).result
    assert stored is not None
    return stored.is_ranked


async def games_of(ledger: Ledger, player_id: str) -> list[int]:
    """Return a player's number of games in each scope."""
    store = StandingsStore(ledger.database)
    found = [await store.statistics(player_id, scope) for scope in Scope]
    return [games[0].games_finished if games else 0 for games in found]


@on_both_databases
async def test_the_sixth_result_of_a_pair_in_a_day_is_stored_and_not_ranked(ledger: Ledger) -> None:
    numbers = range(7)
    for order in (numbers, reversed(numbers)):
        # A repeated report changes nothing.
        ranked = {number: await play(ledger, f"t{number}", ("anna", "ben"), START + number) for number in order}
        assert ranked == {number: number < 5 for number in numbers}
    assert await games_of(ledger, "anna") == await games_of(ledger, "ben") == [7, 7, 5]
    # Another opponent is another pair, and one pair at its limit is enough at a larger table.
    assert await play(ledger, "other", ("anna", "carl"), START + 10)
    assert not await play(ledger, "larger", ("carl", "ben", "dora", "anna"), START + 11)
    assert await play(ledger, "without ben", ("dora", "carl", "anna"), START + 12)


@on_both_databases
async def test_only_ranked_results_of_the_same_day_count(ledger: Ledger) -> None:
    for number in range(6):
        assert not await play(ledger, f"private {number}", ("anna", "ben"), START, access=SEATED)
        assert not await play(ledger, f"void {number}", ("anna", "ben"), START, void=True)
    ends = [START + hours * HOUR for hours in (0, 1, 2, 3, 4)]
    assert all([await play(ledger, f"t{end}", ("anna", "ben"), end) for end in ends])
    assert not await play(ledger, "a day later, less a moment", ("anna", "ben"), START + 24 * HOUR - 1)
    assert await play(ledger, "a day later", ("anna", "ben"), START + 24 * HOUR)


@on_both_databases
async def test_results_that_are_reported_late_make_no_day_with_more(ledger: Ledger) -> None:
    for number in range(5):
        assert await play(ledger, f"t{number}", ("anna", "ben"), START + number * HOUR)
    assert not await play(ledger, "late", ("anna", "ben"), START - HOUR)
    assert await play(ledger, "of the day before", ("anna", "ben"), START - 24 * HOUR)


def pairs_of(tables: Iterable[Sequence[str]]) -> Counter[tuple[str, ...]]:
    return Counter(pair for people in tables for pair in itertools.combinations(sorted(people), 2))


@on_both_databases
async def test_the_limit_holds_for_results_that_two_replicas_store_at_once(database_url: str, seed: int) -> None:
    random = Random(seed)
    names = ("anna", "ben", "carl", "dora")
    tables = {f"t{number}": random.sample(names, random.choice((2, 2, 2, 3))) for number in range(40)}
    async with opened(database_url) as one, opened(database_url) as other:
        reports = [
            play(ledger, table_id, people, START + random.randrange(HOUR))
            for (table_id, people), ledger in zip(tables.items(), itertools.cycle((one, other)), strict=False)
        ]
        is_ranked = dict(zip(tables, await asyncio.gather(*reports), strict=True))
        pairs = pairs_of(people for table_id, people in tables.items() if is_ranked[table_id])
        assert max(pairs.values()) <= MAX_RANKED_GAMES_OF_A_PAIR
        for table_id, people in tables.items():
            has_full_pair = any(pairs[pair] == MAX_RANKED_GAMES_OF_A_PAIR for pair in pairs_of([people]))
            assert is_ranked[table_id] or has_full_pair
        for name in names:
            expected = sum(is_ranked[table_id] for table_id, people in tables.items() if name in people)
            assert (await games_of(one, name))[-1] == expected


async def test_the_question_is_answered_by_an_index(ledger: Ledger) -> None:
    steps = await plan_of(ledger.database, lambda: play(ledger, "t", ("anna", "ben"), START))
    assert not scanned(steps, METADATA.tables)
