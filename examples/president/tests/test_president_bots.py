"""Bots of President, and the tables that searching ones imagine."""

from collections import Counter
from random import Random

import pytest

from croupier.conformance.attempts import fits
from croupier.conformance.tables import decisions, observation
from croupier.games.actions import SwapCards
from croupier.games.facts import Seat
from croupier.games.hands import cards_in
from croupier.games.interface import SeatActed, resolve_options
from croupier.games.search import SearchBot
from croupier_president.bots import sensible
from croupier_president.exchange import best_cards
from croupier_president.state import PresidentState, rank_of
from president_positions import (
    DOUBLE,
    FINISH,
    FOUR,
    LAST_CARDS,
    LEADING,
    PRESIDENT,
    RETURNING,
    SINGLE,
    action,
    acts,
    dealt_at_random,
    exchanging,
    finished,
    new,
    played,
    position,
)


@pytest.mark.parametrize(
    ("state", "line", "expected"),
    [
        pytest.param(position("4C 4D 9C KD | 3H 5H 6H 7H | 3S 5S 6S 7S"), "", "0:4C+4D", id="leads-its-lowest-set"),
        pytest.param(position("3C 2D 2S | 5H 5S 6H 7H | 6S 7S 8S 9S"), "", "0:2D+2S", id="leads-sure-sets-at-the-end"),
        pytest.param(position("5C 8C 9C | 6D 9H 9S 4D TD | 5S 6S 7S 8S"), "0:5C", "1:6D", id="beats-as-low-as-it-can"),
        pytest.param(position("6C 8C 9C TC | 9H 9S TD 4D 4H | 5S 6S 7S 8S"), "0:6C", "1:TD", id="keeps-its-pair"),
        pytest.param(position("5C 8C 9C TC JC | 2H 3S 4D 4H 5H | 5S 6S 7S 8S"), "0:5C", "1:pass", id="keeps-its-two"),
        pytest.param(position("5C 8C | 2H 3S 4D 4H 5H | 5S 6S 7S 8S"), "0:5C", "1:2H", id="stops-who-is-nearly-out"),
        pytest.param(played(exchanging(FOUR), "3:swap:2D,AS"), "", "0:swap:5H,6H", id="returns-its-lowest"),
        pytest.param(exchanging(FOUR), "", "3:swap:2D,AS", id="gives-what-it-must"),
    ],
)
def test_sensible_decisions(state: PresidentState, line: str, expected: str) -> None:
    state, seat = acts(state, line), int(expected[0])
    assert sensible(observation(PRESIDENT, state, seat, {}), Random(1).randrange) == action(expected[2:])


def test_search_decides_on_choices_and_on_listed_actions(seed: int) -> None:
    for state, seat in ((LEADING, 0), (SINGLE, 1), (DOUBLE, 1), (RETURNING, 0)):
        given = observation(PRESIDENT, state, seat, {})
        assert fits(given.legal, SearchBot(PRESIDENT, max_iterations=30)(given, Random(seed).randrange))


def test_a_determinized_scum_holds_nothing_better_than_what_it_gave(seed: int) -> None:
    state, random = second_round(seed), Random(seed)
    scum, president, _ = state.pairs[0]
    given = best_cards(state.hands[scum], 2)
    state, _ = PRESIDENT.apply(state, SeatActed(scum, SwapCards(given)))
    for table in determinized(state, president, random):
        assert max(map(rank_of, cards_in(table.hands[scum]))) <= min(map(rank_of, given))


def test_a_determinized_scum_holds_what_was_returned_to_it(seed: int) -> None:
    state, random = second_round(seed), Random(seed)
    scum, president, _ = state.pairs[0]
    state, _ = PRESIDENT.apply(state, SeatActed(scum, SwapCards(best_cards(state.hands[scum], 2))))
    returned = cards_in(state.hands[president])[:2]
    state, _ = PRESIDENT.apply(state, SeatActed(president, SwapCards(returned)))
    for table in determinized(state, president, random):
        assert {*returned} <= {*cards_in(table.hands[scum])}


def second_round(seed: int) -> PresidentState:
    """Return a table whose second deal was random, before its exchange."""
    random = Random(seed)
    return dealt_at_random(finished(dealt_at_random(new(4, rounds=9), random)), random)


def determinized(state: PresidentState, seat: Seat, random: Random) -> list[PresidentState]:
    """Return tables that a seat imagines."""
    given = observation(PRESIDENT, state, seat, {})
    return [PRESIDENT.determinize(given, random.randrange) for _ in range(20)]


def test_the_sensible_bot_is_placed_better_than_random_ones(seed: int) -> None:
    random, options = Random(seed), resolve_options(PRESIDENT, 4, {"rounds": 10})
    bots = [PRESIDENT.bots["sensible"], *[PRESIDENT.bots["random"]] * 3]
    scores = Counter[int]()
    for _ in range(8):
        *_, (last, _) = decisions(PRESIDENT, PRESIDENT.new(4, options), options, bots, random)
        scores.update(dict(enumerate(PRESIDENT.scores(last))))
    assert all(scores[0] > scores[other] * 1.2 for other in range(1, 4)), scores


def test_evaluation_follows_the_places() -> None:
    before = position(LAST_CARDS)
    assert PRESIDENT.evaluate(before, acts(before, FINISH)) == pytest.approx((1, 1 / 3, 2 / 3, 0))
    assert PRESIDENT.evaluate(before, acts(before, "0:KC"))[0] == 1
