"""The sensible bot, the determinization and the evaluation of 101."""

from random import Random
from typing import Any

import pytest

from croupier.games.actions import Play
from croupier.games.cards import SUITS, cards
from croupier.games.hands import cards_in
from tests.games.positions import acts, word
from tests.games.positions_one_oh_one import ONE_OH_ONE, position
from tests.games.seats import observation


@pytest.mark.parametrize(
    ("held", "others", "top", "expected"),
    [
        pytest.param("AC JC 9D", "8D 8H 8S | 7D 7H 7S", "TC", "AC", id="sheds-what-costs-most"),
        pytest.param("8C QD 9H", "8D 8H 8S | 7D 7H 7S", "TC", "8C", id="keeps-its-queen"),
        pytest.param("7C TC 9D", "8D | 7D 7H 7S", "KC", "7C", id="hits-a-neighbour-who-is-nearly-out"),
        pytest.param("KS JS TS", "8D 8H 8S | 7D 7H 7S", "9S", "KS", id="hits-hard"),
        pytest.param("QD 8H 9H AH JS", "8D 8C 8S | 7D 7H 7S", "TC", "QD/H", id="orders-its-longest-suit"),
        pytest.param("6C JC 9D", "8D 8H 8S | 7D 7H 7S", "TC", "6C", id="a-six-with-its-cover"),
        pytest.param("6C 9C QS", "8D 8H 8S | 7D 7H 7S", "TC", "6C", id="a-six-and-two-more"),
        pytest.param("6S 9S 9D", "8D 8H 8S | 7D 7H 7S", "6H", "6S", id="covers-with-the-nine"),
        pytest.param("6D 9S 8S", "8D 8H 8S | 7D 7H 7S", "9D", "9S", id="no-six-without-a-cover"),
        pytest.param("2C QD QH", "8D 8H 8S | 7D 7H 7S", "TC", "QD/C", id="not-left-with-queens-alone"),
        pytest.param("QC", "8D 8H 8S | 7D 7H 7S", "TC", "QC/C", id="ends-the-round"),
        pytest.param("6C 8C", "8D 8H | 7D 7H 7S", "TC", "6C", id="a-six-before-the-end"),
        pytest.param("8D 9H", "8D 8H | 7D 7H 7S", "TC", "draw", id="draws-when-it-must"),
        pytest.param("2C 9H", "8D 8H | 7D 7H 7S", "TC", "2C", id="and-only-then"),
    ],
)
def test_sensible_play_in_plain_positions(held: str, others: str, top: str, expected: str) -> None:
    for free in (False, True):
        options: dict[str, Any] = {"deck": 52, "may_draw_instead": free}
        state = position(f"{held} | {others}", f"2D {top}", "3C 3D 3H", **options)
        action = ONE_OH_ONE.bots["sensible"](observation(ONE_OH_ONE, state, 0, options), Random(1).randrange)
        ordered = f"/{SUITS[action.suit]}" if isinstance(action, Play) and action.suit is not None else ""
        assert word(action) + ordered == expected


def test_a_determinization_deals_the_unseen_cards_at_random() -> None:
    state = position("8D KH | 6D 9C | AS", "TC JC", "7C 7D", deck=104)
    observed = observation(ONE_OH_ONE, state, 0, {"deck": 104})
    observed = observed._replace(
        view=observed.view._replace(piles=(*observed.view.piles[:1], observed.view.piles[1]._replace(card_count=97)))
    )
    random = Random(3)
    determinized = [ONE_OH_ONE.determinize(observed, random.randrange) for _ in range(20)]
    assert len({table.hands for table in determinized}) > 15
    for table in determinized:
        assert table.hands[0] == state.hands[0]
        lying = [*table.stock, *(value for held in table.hands for value in cards_in(held)), *cards("TC JC")]
        assert tuple(sorted(lying)) == table.options.deck


@pytest.mark.parametrize(
    ("hands", "line", "scores", "best_first"),
    [
        pytest.param("9C | KD | AD TD", "9C", (10, 20, 30), "012", id="by-its-cost"),
        pytest.param("9C 8C | KD | AD TD", "", (0, 0, 0), "102", id="by-what-the-hands-would-cost"),
        pytest.param("9C | KD | AD TD", "9C", (10, 20, 90), "01-", id="nought-for-who-lost"),
    ],
)
def test_evaluation_compares_costs(hands: str, line: str, scores: tuple[int, ...], best_first: str) -> None:
    start = position(hands, "TC", scores=scores)
    values = ONE_OH_ONE.evaluate(start, acts(start, line))
    ordered = [values[int(seat)] for seat in best_first if seat != "-"]
    assert 1 > ordered[0] > ordered[1] > (ordered[2] if len(ordered) > 2 else values[2]) >= 0
    assert (values[2] == 0) == ("-" in best_first)
    after = acts(start, "9C")
    assert ONE_OH_ONE.evaluate(start, after)[0] > ONE_OH_ONE.evaluate(start, start)[0]


def test_seats_that_dropped_out_before_are_evaluated_as_zero() -> None:
    start = position("9C | KD |", "TC", scores=(0, 0, 104), dropped=((2,),), elimination=True)
    best, worst, out = ONE_OH_ONE.evaluate(start, acts(start, "9C"))
    assert (best > worst, out) == (True, 0)
