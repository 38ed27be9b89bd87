"""The sensible player of 101: what it does in plain positions, how it fares against chance; and what is imagined."""

from random import Random
from typing import Any

import pytest

from croupier.games.actions import action_to_json
from croupier.games.cards import cards
from croupier.games.facts import Seat
from croupier.games.hands import cards_in
from croupier.games.one_oh_one import OneOhOneState
from tests.games.positions_one_oh_one import ONE_OH_ONE, acts, ended, legal, new, position
from tests.games.seats import seen


def chosen(state: OneOhOneState, seat: Seat, **options: Any) -> str:
    """What the sensible player does, as in a line of play."""
    action = ONE_OH_ONE.bots["sensible"](seen(ONE_OH_ONE, state, seat, options), Random(1).randrange)
    written = action_to_json(action)
    word = str(written.get("card", written["type"]))
    return f"{word}/{written['suit']}" if "suit" in written else word


@pytest.mark.parametrize(
    ("held", "others", "top", "options", "expected"),
    [
        pytest.param("AC JC 9D", ["8D 8H 8S", "7D 7H 7S"], "TC", {}, "AC", id="sheds-what-costs-most"),
        pytest.param("8C QD 9H", ["8D 8H 8S", "7D 7H 7S"], "TC", {}, "8C", id="keeps-its-queen"),
        pytest.param("7C TC 9D", ["8D", "7D 7H 7S"], "KC", {}, "7C", id="hits-a-neighbour-who-is-nearly-out"),
        pytest.param("KS JS TS", ["8D 8H 8S", "7D 7H 7S"], "9S", {}, "KS", id="hits-hard"),
        pytest.param("QD 8H 9H AH JS", ["8D 8C 8S", "7D 7H 7S"], "TC", {}, "QD/H", id="orders-its-longest-suit"),
        pytest.param("6C JC 9D", ["8D 8H 8S", "7D 7H 7S"], "TC", {}, "6C", id="a-six-with-its-cover"),
        pytest.param("6C 9C QS", ["8D 8H 8S", "7D 7H 7S"], "TC", {}, "6C", id="a-six-and-two-more"),
        pytest.param("6S 9S 9D", ["8D 8H 8S", "7D 7H 7S"], "6H", {}, "6S", id="covers-with-the-nine"),
        pytest.param("6D 9S 8S", ["8D 8H 8S", "7D 7H 7S"], "9D", {}, "9S", id="no-six-without-a-cover"),
        pytest.param("QC", ["8D 8H 8S", "7D 7H 7S"], "TC", {}, "QC/C", id="ends-the-round"),
        pytest.param("6C 8C", ["8D 8H", "7D 7H 7S"], "TC", {}, "6C", id="a-six-before-the-end"),
        pytest.param("8D 9H", ["8D 8H", "7D 7H 7S"], "TC", {}, "draw", id="draws-when-it-must"),
        pytest.param("2C 9H", ["8D 8H", "7D 7H 7S"], "TC", {"may_draw_instead": True}, "2C", id="and-only-then"),
    ],
)
def test_sensible_play_in_plain_positions(
    held: str, others: list[str], top: str, options: dict[str, Any], expected: str
) -> None:
    state = position([held, *others], f"2D {top}", "3C 3D 3H", deck=52, **options)
    assert chosen(state, 0, deck=52, **options) == expected


def test_101_D17_it_never_draws_while_it_can_play() -> None:
    options: dict[str, Any] = {"may_draw_instead": True}
    for number in range(200):
        random = Random(number)
        deck = random.sample(new(2).table.deck, 12)
        state = position(["", ""], "9C", "TC", **options)
        state = state._replace(hands=(sum(1 << value for value in deck[:6]), sum(1 << value for value in deck[6:])))
        assert (chosen(state, 0, **options) == "draw") == (legal(state, 0) == "draw")


def test_what_is_imagined_is_dealt_by_chance_from_what_is_not_seen() -> None:
    state = position(["8D KH", "6D 9C", "AS"], "TC JC", "7C 7D", deck=104)
    look = seen(ONE_OH_ONE, state, 0, {"deck": 104})
    look = look._replace(
        view=look.view._replace(piles=(*look.view.piles[:1], look.view.piles[1]._replace(card_count=97)))
    )
    random = Random(3)
    imagined = [ONE_OH_ONE.imagine(look, random.randrange) for _ in range(20)]
    assert len({table.hands for table in imagined}) > 15
    for table in imagined:
        assert table.hands[0] == state.hands[0]
        lying = [*table.stock, *(value for held in table.hands for value in cards_in(held)), *cards("TC JC")]
        assert tuple(sorted(lying)) == table.table.deck


def test_a_round_is_rated_by_its_cost_among_the_others() -> None:
    start = position(["9C", "KD", "AD TD"], "TC", scores=(10, 20, 30))
    after, _ = ended(start, "0:9C")
    best, middle, worst = ONE_OH_ONE.rate(start, after)
    assert 1 > best > middle > worst > 0
    lost, _ = ended(start._replace(match=start.match._replace(totals=(10, 20, 90))), "0:9C")
    assert ONE_OH_ONE.rate(start, lost)[2] == 0


def test_an_open_round_is_rated_by_what_the_hands_would_cost() -> None:
    start = position(["9C 8C", "KD", "AD TD"], "TC")
    assert ONE_OH_ONE.rate(start, start)[1] > ONE_OH_ONE.rate(start, start)[0] > ONE_OH_ONE.rate(start, start)[2]
    after = acts(start, "0:9C")
    assert ONE_OH_ONE.rate(start, after)[0] > ONE_OH_ONE.rate(start, start)[0]


def test_who_dropped_out_before_is_rated_nought() -> None:
    start = position(["9C", "KD", ""], "TC", scores=(0, 0, 104), dropped=((2,),), elimination=True)
    after, _ = ended(start, "0:9C")
    best, worst, out = ONE_OH_ONE.rate(start, after)
    assert (best > worst, out) == (True, 0)
