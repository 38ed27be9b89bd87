"""The league of bots: seatings, deals, standings and confidence intervals."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from benchmarks import matches
from benchmarks.league import LeaguePlan, league_of, plans, run_league
from benchmarks.matches import League, Outcome, Standing, comparisons, margin, seatings, standings, student_quantile
from croupier.cli.faults import MISUSED, CommandFault
from croupier.games.bots import random_legal
from croupier.games.interface import GameOver, Observation, RandomSource
from croupier.games.registry import OWN_GAMES
from tests.cli.conftest import printed

PLAN = LeaguePlan("thulla", 3, {}, ("sensible", "random"), 7, "5", 200, None)


@pytest.mark.parametrize(
    ("bots", "seats", "expected"),
    [
        (("a", "b"), 2, {"ab", "ba"}),
        (("a", "b"), 3, {"aab", "aba", "baa"}),
        (("a", "b"), 4, {"aabb", "abab", "abba", "baab", "baba", "bbaa"}),
        (("a", "b", "c"), 3, {"".join(order) for order in permutations("abc")}),
        (("a", "b", "b", "b"), 4, {"abbb", "babb", "bbab", "bbba"}),
        (("a",), 2, {"aa"}),
    ],
)
def test_every_distinct_order_of_the_players_is_seated_once(
    bots: Sequence[str], seats: int, expected: set[str]
) -> None:
    found = ["".join(seating) for seating in seatings(bots, seats)]
    assert Counter(found) == Counter(expected)


def test_quantiles_are_those_of_the_tables_and_the_margin_is_that_of_known_numbers() -> None:
    known = {4: 2.776, 5: 2.571, 9: 2.262, 19: 2.093, 60: 2.000, 1000: 1.962}
    assert {degrees: student_quantile(0.975, degrees) for degrees in known} == pytest.approx(known, abs=0.004)
    # Mean 3, standard deviation 1.5811, standard error 0.7071, times 2.776.
    assert margin([1, 2, 3, 4, 5]) == pytest.approx(1.963, abs=0.003)
    assert margin([2.0] * 8) == 0
    assert margin([1, 2, 3, 4]) is None


def outcomes(text: str) -> tuple[Outcome, ...]:
    """Return outcomes of a text such as "a1 b2": player and place; the first has 10 points."""
    return tuple(
        Outcome(word[0], float(word[1:]), float(word[1:] == "1"), 10 * (word[1:] == "1")) for word in text.split()
    )


def test_a_deal_counts_as_one_observation_in_any_number_of_seatings() -> None:
    deals = [outcomes("a1 b2 a1 b2"), outcomes("a2 b1 a2 b1")] * 3
    twice = [deal * 2 for deal in deals]
    once, again = standings(deals), standings(twice)
    assert [standing.margin for standing in once] == [standing.margin for standing in again]
    assert once[0].margin == pytest.approx(margin([1, 2, 1, 2, 1, 2]))
    assert [standing.games for standing in again] == [24, 24]


def test_standings_of_known_outcomes() -> None:
    deals = [outcomes("a1 b2 a2 b1"), outcomes("a1 b2 a1 b2"), *[outcomes("a1 b2 b1 a2")] * 3]
    assert standings(deals) == [
        Standing("a", 10, 1.4, margin([1.5, 1, 1.5, 1.5, 1.5]), 0.6, 6.0),
        Standing("b", 10, 1.6, margin([1.5, 2, 1.5, 1.5, 1.5]), 0.4, 4.0),
    ]


@pytest.mark.parametrize(
    ("margins", "expected"),
    [
        ((0.1, 0.1), "a plays better than b: the intervals are apart"),
        ((0.2, 0.3), "a and b: the intervals overlap"),
        ((None, None), "a and b: too few deals to tell, 5 are the fewest"),
    ],
)
def test_a_comparison_reports_whether_intervals_are_apart(
    margins: tuple[float | None, float | None], expected: str
) -> None:
    ranked = [Standing("a", 9, 1.2, margins[0], 0.5, 0.0), Standing("b", 9, 1.6, margins[1], 0.5, 0.0)]
    assert comparisons(ranked) == [expected]


def test_ties_share_places_and_the_first_place() -> None:
    over = GameOver(((2,), (0, 3), (1,)), "")
    assert [o.place for o in matches.outcomes_of(("a", "b", "c", "d"), over, (0,) * 4)] == [1, 2.5, 2.5, 4]
    shared = [*matches.outcomes_of(("a", "b", "c"), GameOver(((0, 1), (2,)), ""), (5, 6, 7))]
    assert shared == [Outcome("a", 1.5, 0.5, 5), Outcome("b", 1.5, 0.5, 6), Outcome("c", 3.0, 0.0, 7)]


def hands_dealt(league: League, number: int) -> list[tuple[object, ...]]:
    """Return the observation of each seat at the first decision of each table of a deal."""
    found: list[tuple[object, ...]] = []

    def watching(seen: Observation, choose: RandomSource) -> object:
        if all(seat.card_count == 17 for seat in seen.view.seats):
            found.append((seen.seat, seen.view.seats[seen.seat].cards))
        return random_legal(seen, choose)

    bots = dict.fromkeys(league.bots, watching)
    League(league.game, league.options, bots, league.seatings, league.seed).deal(number)  # type: ignore[arg-type]
    return found


def test_a_deal_has_the_same_cards_in_every_seating() -> None:
    league = league_of(PLAN)
    dealt = hands_dealt(league, 3)
    assert len(dealt) == len(league.seatings) == 3
    assert len(set(dealt)) == 1
    assert set(dealt) != set(hands_dealt(league, 4))


def shown(plan: LeaguePlan, processes: int = 1) -> str:
    return printed(lambda console: run_league([plan], processes, console))


def test_a_league_is_repeatable_with_any_number_of_processes_and_plays_whole_deals() -> None:
    text = shown(PLAN)
    assert text == shown(PLAN, processes=2) != shown(replace(PLAN, seed="6"))
    assert "Thulla, 3 seats: 3 deals, each in 3 seatings, 9 tables; seed 5" in text
    assert "too few deals to tell" in text


def test_a_searching_player_is_repeatable_by_iterations() -> None:
    plan = replace(PLAN, bots=("search", "random"), iterations=2, tables=3)
    assert shown(plan) == shown(plan)


def test_sensible_bots_are_better_than_random_ones() -> None:
    assert "sensible plays better than random: the intervals are apart" in shown(replace(PLAN, tables=90))


def test_all_games_are_played_with_the_options_that_they_have() -> None:
    asked = plans(replace(PLAN, game="all", options={"best_of": "3", "max_rounds": "2"}), None)
    assert [plan.game for plan in asked] == list(OWN_GAMES)
    assert {plan.game: plan.options for plan in asked if "best_of" in plan.options} == {"thulla": {"best_of": "3"}}
    assert all(plan.seats in OWN_GAMES[plan.game].seats for plan in asked)


@pytest.mark.parametrize(
    ("changes", "seats", "message"),
    [
        ({"game": "poker"}, None, "there is no game 'poker'"),
        ({"bots": ("sensible", "clever")}, None, "no bot 'clever': choose out of sensible, random, search"),
        ({"bots": ("random",) * 3}, 2, "3 bots do not fit 2 seats"),
        ({"options": {"best_off": "3"}}, None, "invalid option 'best_off'"),
        ({"game": "all", "options": {"best_off": "3"}}, None, "no game has an option 'best_off'"),
        ({}, 9, "2 to 6 seats"),
    ],
)
def test_impossible_leagues_are_refused(changes: dict[str, Any], seats: int | None, message: str) -> None:
    with pytest.raises(CommandFault, match=message) as refusal:
        plans(replace(PLAN, **changes), seats)
    assert refusal.value.exit_code == MISUSED


def test_a_table_without_end_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matches, "MAX_ACTIONS", 20)
    with pytest.raises(CommandFault, match="deal 0 of Thulla has no end after 20 actions: bound it with an option"):
        shown(PLAN)
