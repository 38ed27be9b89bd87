"""The worked positions of the rules page, 101-EX-1 to 101-EX-22, and its tables of scores."""

from collections.abc import Sequence
from typing import Any

import pytest

from croupier.games.cards import cards
from croupier.games.interface import CardsShuffled
from croupier.games.one_oh_one import OneOhOneState
from tests.games.positions_one_oh_one import (
    acts,
    deal,
    due,
    ended,
    hand,
    legal,
    new,
    over,
    pile,
    position,
    stock,
    to_act,
)


def own_six(held: str, **options: Any) -> OneOhOneState:
    """Seat 0 has just played the six of clubs."""
    return position([held, "9D", "9H"], "TC 6C", "TD JD", covers=True, **options)


def three(held: str, top: str, ordered: str | None = None, **options: Any) -> OneOhOneState:
    """Seat 0 is to act with this hand on this top card."""
    return position([held, "9D", "9H"], f"TC {top}", "TD JD", ordered=ordered, **options)


def test_101_EX_1_101_QUEEN_1_suit_rank_or_queen() -> None:
    assert set(legal(three("8C 9D 9S KC QH AS", "9C"), 0).split()) == {*["8C", "9D", "9S", "KC", "QH"]}


def test_101_EX_2_nothing_fits() -> None:
    state = three("8D KH", "9C")
    assert legal(state, 0) == "draw"
    assert to_act(acts(state, "0:draw")) == 1


def test_101_EX_3_101_DRAW_1_a_queen_must_be_played() -> None:
    assert legal(three("QD 8H", "9C"), 0) == "QD"
    assert legal(three("QD 8H", "9C", may_draw_instead=True), 0) == "QD draw"


def test_101_EX_4_hearts_are_ordered() -> None:
    assert set(legal(three("QD 8H 9S KC", "QS", "H"), 0).split()) == {"8H", "QD"}


def test_101_EX_5_clubs_are_ordered() -> None:
    assert legal(three("6H KC", "QS", "C"), 0) == "KC"


@pytest.mark.parametrize(
    ("held", "covers", "strict"),
    [
        pytest.param("8C 6D QH KS", "8C QH", "8C", id="101-EX-6 101-SIX-3"),
        pytest.param("QC 6D QH KS", "QC QH", "QC", id="101-EX-7"),
        pytest.param("8D 6D KS", "draw", "draw", id="101-EX-8"),
    ],
)
def test_what_covers_the_own_six(held: str, covers: str, strict: str) -> None:
    assert legal(own_six(held), 0) == covers
    assert legal(own_six(held, queen_covers_six=False), 0) == strict


def test_101_EX_8_one_card_and_then_the_next_player() -> None:
    after = acts(own_six("8D 6D KS"), "0:draw")
    assert (hand(after, 0), to_act(after)) == ({"8D", "6D", "KS", "TD"}, 1)


def test_101_EX_9_the_six_of_somebody_else_is_an_ordinary_card() -> None:
    assert set(legal(three("9C 6D QS 8H", "6C"), 0).split()) == {"6D", "9C", "QS"}


def test_101_EX_10_101_LEAD_1_the_first_card() -> None:
    held = "7C 9D QS KH 6C"
    assert set(legal(position([held, "8C"]), 0).split()) == set(held.split())
    deck = [*cards(held), *(value for value in due(deal_of(False)).cards if value not in cards(held))]
    order = [value for pair in zip(deck[:5], deck[5:10], strict=True) for value in pair] + deck[10:]
    state, _ = deal_of(False).apply(CardsShuffled(tuple(order), (0,)))
    assert legal(state, 0) == "6C"


def deal_of(first_move_any: bool) -> OneOhOneState:
    """A table of two before its first deal."""
    return OneOhOneState.before(position(["", ""], first_move_any=first_move_any).table)


def test_101_EX_11_101_SKIP_2_101_D16_a_seven() -> None:
    state = acts(position(["7C 8D", "9C", "9D"], "TC", "TD JD JH"), "0:7C")
    assert (hand(state, 1), to_act(state)) == ({"9C", "TD", "JD"}, 2)


def test_101_EX_12_a_seven_between_two() -> None:
    state = acts(position(["7C 8D", "9C"], "TC", "TD JD JH"), "0:7C")
    assert (hand(state, 1), to_act(state), legal(state, 0)) == ({"9C", "TD", "JD"}, 0, "draw")


def test_101_EX_13_an_ace() -> None:
    state = acts(position(["AC 8D", "9C", "9D", "9H"], "TC", "TD"), "0:AC")
    assert (hand(state, 1), to_act(state)) == ({"9C"}, 2)


def test_101_EX_14_101_KING_1_the_king_of_spades_across_the_end_of_the_circle() -> None:
    state = acts(position(["9C", "9D", "KS 9H"], "TS", "6D 7D 8D TD JD KD", turn=2), "2:KS")
    assert (hand(state, 0), to_act(state)) == ({"9C", "6D", "7D", "8D", "TD", "JD"}, 1)


def test_101_EX_15_101_SIX_7_a_seven_covers_a_six() -> None:
    state = acts(position(["6C 7C 8D", "9C 9D", "9H 9S"], "TC", "TD JD JH"), "0:6C 0:7C")
    assert (hand(state, 1), to_act(state)) == ({"9C", "9D", "TD", "JD"}, 2)


def test_101_EX_16_101_SIX_5_101_SIX_6_101_D9_a_six_as_the_last_card() -> None:
    start = position(["6C", "9C 9D"], "TC", "TD JD")
    state = acts(start, "0:6C")
    assert legal(state, 0) == "draw"
    state = acts(state, "0:draw")
    assert (hand(state, 0), to_act(state)) == ({"TD"}, 1)
    assert acts(position(["6C", "9C 9D"], "TC", "TD JD", finish_on_six=True), "0:6C").scores == (0, 18)


def test_101_EX_17_101_STOCK_1_the_pile_is_turned_over() -> None:
    state = acts(position(["8D KH", "6D"], "AC JC TH 9C"), "0:draw")
    assert ("AC" in hand(state, 0), stock(state), pile(state)) == (True, "JC TH", "9C")


def test_101_EX_18_in_the_middle_of_a_penalty() -> None:
    state = acts(position(["KS 9D", "6D", "7D"], "AC JC TH 9S", "8H"), "0:KS")
    assert (hand(state, 1), pile(state), to_act(state)) == ({*["6D", "8H", "AC", "JC", "TH", "9S"]}, "KS", 2)
    state = acts(position(["KS 9D", "6D", "7D"], "AC JC TH 9S", "8H", recycle="shuffle"), "0:KS")
    assert set(due(state).cards) == set(cards("AC JC TH 9S"))


def test_101_EX_19_less_than_the_penalty() -> None:
    state = acts(position(["7C KH", "6D 9C", "6H"], "TC"), "0:7C")
    assert (hand(state, 1), to_act(state)) == ({"6D", "9C", "TC"}, 2)


def test_101_EX_20_101_DRAW_4_101_D12_nothing_to_draw() -> None:
    state = acts(position(["8D KH", "6D 9C"], "TC"), "0:draw")
    assert (hand(state, 0), to_act(state)) == ({"8D", "KH"}, 1)


def test_101_EX_21_the_order_outlasts_a_draw() -> None:
    state = acts(position(["QS 8D", "8S 9S", "6D"], "9C", "TD TH"), "0:QS/H")
    assert legal(state, 1) == "draw"
    state = acts(state, "1:draw")
    assert legal(state, 2) == "draw"
    assert hand(acts(state, "2:draw"), 2) == {"6D", "TH"}


@pytest.mark.parametrize("suit", "CDHS")
def test_101_EX_22_a_queen_as_the_last_card(suit: str) -> None:
    state = acts(position(["QC", "9D"], "TC", scores=(10, 0)), f"0:QC/{suit}")
    assert state.scores == (-10, 9)
    assert to_act(deal(state)) == 0


@pytest.mark.parametrize(
    ("before", "left", "last", "options", "after"),
    [
        pytest.param((10, 0, 30), ["JC QD KH AS", "QC QS"], "9C", {}, (10, 20, 70), id="example 1 101-POINTS-1"),
        pytest.param((10, 0), ["9D"], "QC/C", {}, (-10, 9), id="example 2 101-POINTS-4 101-D14"),
        pytest.param((50, 0), ["9D"], "QH/C", {}, (10, 9), id="example 3 101-POINTS-4"),
        pytest.param((10, 0), ["9D"], "QH/C", {"floor_zero": True}, (0, 9), id="example 4 101-SCORE-2"),
        pytest.param((0, 0, 0), ["9D", "TD"], "7C", {}, (0, 19, 10), id="example 5 101-LAST-2"),
        pytest.param((0, 0, 0), ["9D", "TD"], "7C", {"last_card_effects": False}, (0, 9, 10), id="example 6"),
        pytest.param((0, 0), ["QD"], "7C", {}, (0, 13), id="example 7 101-POINTS-3"),
        pytest.param((0, 0), ["QC QH QS"], "9C", {}, (0, 80), id="example 8 101-POINTS-3"),
        pytest.param((0, 0), ["QH 6C"], "9C", {}, (0, 9), id="example 9 101-POINTS-3"),
    ],
)
def test_the_table_of_scores(
    before: tuple[int, ...], left: list[str], last: str, options: dict[str, Any], after: tuple[int, ...]
) -> None:
    start = position([last[:2], *left], "TC", "8D JS", scores=before, **options)
    assert acts(start, f"0:{last}").scores == after


@pytest.mark.parametrize(
    ("before", "options", "after", "is_over"),
    [
        pytest.param(80, {}, 100, False, id="101-END-1 80"),
        pytest.param(81, {}, 101, True, id="101-END-1 101-D5 81"),
        pytest.param(82, {}, 102, True, id="101-END-1 82"),
        pytest.param(81, {"exact_101_reset": True}, 0, False, id="101-SCORE-3 101-D3 81"),
        pytest.param(82, {"exact_101_reset": True}, 102, True, id="101-SCORE-3 82"),
        pytest.param(81, {"lose_at": "exceed"}, 101, False, id="101-END-1 101-D5 exceed 81"),
        pytest.param(82, {"lose_at": "exceed"}, 102, True, id="101-END-1 exceed 82"),
    ],
)
def test_the_table_of_losing(before: int, options: dict[str, Any], after: int, is_over: bool) -> None:
    state = acts(position(["9C", "TD TH"], "TC", scores=(0, before), **options), "0:9C")
    assert (state.scores, state.phase) == ((0, after), "over" if is_over else "deal")
    if is_over:
        assert over(state).ranking == ((0,), (1,))


def four(left: Sequence[str], **options: Any) -> OneOhOneState:
    """Scores 50 95 39 99; seat 0 has won the round with the nine of clubs."""
    return ended(position(["9C", *left], "TC", scores=(50, 95, 39, 99), **options), "0:9C")[0]


def test_101_END_3_two_losers_of_four() -> None:
    state = four(["AS", "AD", "KH"])
    assert state.scores == (50, 106, 50, 103)
    assert over(state).ranking == ((0, 2), (3,), (1,))


def test_101_ELIM_3_two_losers_drop_out() -> None:
    state = deal(four(["AS", "AD", "KH"], elimination=True))
    assert [held.bit_count() for held in state.hands] == [5, 0, 5, 0]
    last = position(
        ["9C", "", "AS KD AD AH AC TD", ""],
        "TC",
        scores=(50, 106, 50, 103),
        dropped=((3,), (1,)),
        elimination=True,
    )
    assert over(acts(last, "0:9C")).ranking == ((0,), (2,), (3,), (1,))


def test_the_round_that_the_page_tells() -> None:
    hands = [cards("8C KH 9D JS 8H"), cards("6C 9C AD QH TD"), cards("AC 8D 7D 9S TH")]
    top = [value for turn in zip(*hands, strict=True) for value in turn] + [*cards("TS JC")]
    state = new(3)
    rest = tuple(value for value in due(state).cards if value not in top)
    state, _ = state.apply(CardsShuffled((*top, *rest), (0,)))
    state = acts(state, "0:8C 1:6C 1:9C 2:AC 1:AD 0:9D 1:TD")
    assert (hand(state, 1), to_act(state)) == ({"QH"}, 2)
    state, line = ended(state, "2:7D 1:QH/S")
    assert dict(line.details)["hand_0"].split() == ["JC", "8H", "KH", "TS", "JS"]
    assert line.points == state.scores == (26, -40, 27)
    assert to_act(deal(state)) == 1
