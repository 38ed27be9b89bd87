"""The worked positions of the rules page, 101-EX-1 to 101-EX-22, its tables of scores, and effects of cards."""

from typing import Any

import pytest

from croupier.games.cards import cards
from croupier.games.facts import SPECTATOR, Seat
from croupier.games.interface import CardsShuffled
from tests.games import dispatch
from tests.games.positions import acts, acts_with_facts, deal, due, ended, hand, legal, may, pile, ranking_text, to_act
from tests.games.positions_one_oh_one import new, position, stock

HEARTS, CLUBS, COVERS = {"ordered": "H"}, {"ordered": "C"}, {"covers": True}
STRICT = COVERS | {"queen_covers_six": False}
FREE = {"may_draw_instead": True}
BOTH = {"floor_zero": True, "exact_101_reset": True}
OUT: dict[str, Any] = {"elimination": True}
LAST: dict[str, Any] = {"max_rounds": 1}
FOUR, FOUR_LEFT = (50, 95, 39, 99), "AS | AD | KH"
"""Scores of four seats and three hands with which two of them lose."""
ALONE: Any = OUT | {"dropped": ((3,), (1,))}
ALONE_BEFORE, ALONE_AFTER = (50, 106, 50, 103), (50, 106, 108, 103, "0 > 2 > 3 > 1")


@pytest.mark.parametrize(
    ("held", "top", "options", "expected"),
    [
        pytest.param("8C 9D 9S KC QH AS", "TC 9C", {}, "8C 9D 9S KC QH", id="101-EX-1 101-QUEEN-1 101-PLAY-1"),
        pytest.param("8D KH", "TC 9C", {}, "draw", id="101-EX-2"),
        pytest.param("QD 8H", "TC 9C", {}, "QD", id="101-EX-3 101-DRAW-1"),
        pytest.param("QD 8H", "TC 9C", FREE, "QD draw", id="101-EX-3 101-DRAW-3"),
        pytest.param("QD 8H 9S KC", "TC QS", HEARTS, "8H QD", id="101-EX-4 101-QUEEN-3 101-D18"),
        pytest.param("6H KC", "TC QS", CLUBS, "KC", id="101-EX-5"),
        pytest.param("8C 6D QH KS", "TC 6C", COVERS, "8C QH", id="101-EX-6 101-D8"),
        pytest.param("8C 6D QH KS", "TC 6C", STRICT, "8C", id="101-EX-6 101-SIX-3"),
        pytest.param("QC 6D QH KS", "TC 6C", COVERS, "QC QH", id="101-EX-7"),
        pytest.param("QC 6D QH KS", "TC 6C", STRICT, "QC", id="101-EX-7 strict"),
        pytest.param("8D 6D KS", "TC 6C", COVERS, "draw", id="101-EX-8"),
        pytest.param("8D 6D KS", "TC 6C", STRICT, "draw", id="101-EX-8 strict"),
        pytest.param("8C 6C KS", "TC 6C", COVERS | {"deck": 104}, "6C 8C", id="101-SIX-2 the twin covers"),
        pytest.param("8C KH", "TC 6C", COVERS | FREE, "8C", id="101-SIX-4 a cover that is held must be played"),
        pytest.param("9C 6D QS 8H", "TC 6C", {}, "9C 6D QS", id="101-EX-9"),
        pytest.param("7C 9D QS KH 6C", "", {}, "7C 9D QS KH 6C", id="101-EX-10 101-LEAD-1"),
        pytest.param("8C KH", "", FREE, "8C KH", id="101-LEAD-3 the starter cannot draw"),
    ],
)
def test_which_cards_are_legal(held: str, top: str, options: dict[str, Any], expected: str) -> None:
    assert may(position(f"{held} | 9D | 9H", top, "TD JD", **options)) == set(expected.split())


def test_101_EX_10_101_LEAD_2_101_D4_only_the_card_that_was_dealt_last() -> None:
    state = new(2, first_move_any=False)
    deck = [*cards("7C 8C 9D 8D QS 8H KH 8S 6C TC")]
    deck += [value for value in due(state).cards if value not in deck]
    state, _ = dispatch.apply(state, CardsShuffled(tuple(deck), (0,)))
    assert (legal(state), may(acts(state, "6C"))) == ("6C", {"7C", "QS"})


@pytest.mark.parametrize(
    ("hands", "lying", "line", "options", "seat", "held", "next_seat"),
    [
        pytest.param("7C 8D | 9C | 9D", "TC", "7C", {}, 1, "9C TD JD", 2, id="101-EX-11 101-SEVEN-1 101-SKIP-2"),
        pytest.param("7C 8D | 9C", "TC", "7C", {}, 1, "9C TD JD", 0, id="101-EX-12 101-SKIP-1 101-D13"),
        pytest.param("AC 8D | 9C | 9D | 9H", "TC", "AC", {}, 1, "9C", 2, id="101-EX-13 101-ACE-1"),
        pytest.param("AC 8D | 9C", "TC", "AC", {}, 1, "9C", 0, id="101-SKIP-1 an ace between two"),
        pytest.param("9C | 9D | KS 9H", "TS", "2:KS", {}, 0, "9C TD JD JH 8C 8H", 1, id="101-EX-14 101-KING-1"),
        pytest.param("KC 9D | 9C", "TC", "KC", {}, 1, "9C", 1, id="101-KING-1 another king"),
        pytest.param("6C 8C KH | 9C", "TC", "6C", {}, 0, "8C KH", 0, id="101-SIX-1 101-D1"),
        pytest.param("6C 7C 8D | 9C 9D | 9H", "TC", "6C 7C", {}, 1, "9C 9D TD JD", 2, id="101-EX-15 101-SIX-7"),
        pytest.param("6C | 9C 9D", "TC", "6C draw", {}, 0, "TD", 1, id="101-EX-16 101-SIX-5 101-D9"),
        pytest.param("8D KH | 6D", "9C", "draw", {}, 0, "8D KH TD", 1, id="101-DRAW-2 101-D7 101-STOCK-1"),
        pytest.param("8D 6D KS | 9D", "TC 6C", "draw", COVERS, 0, "8D 6D KS TD", 1, id="101-SIX-4 101-D8a"),
        pytest.param("QS 8D | 8S 9S | 6D", "9C", "QS/H draw draw", {}, 2, "6D JD", 0, id="101-EX-21"),
        pytest.param("8C 9D | 8D 8H | 8S 9S", "9C", "8C 8H", {}, 1, "8D", 2, id="101-PLAY-2"),
        pytest.param("7C 8D || 9D |", "TC", "7C", {"dropped": ((1, 3),)}, 2, "9D TD JD", 0, id="101-SKIP-1 101-ELIM-1"),
    ],
)
def test_the_position_after_a_card_or_a_draw(
    hands: str, lying: str, line: str, options: dict[str, Any], seat: Seat, held: str, next_seat: Seat
) -> None:
    turn = int(line[0]) if line[1] == ":" else 0
    state = acts(position(hands, lying, "TD JD JH 8C 8H 8S", turn=turn, **options), line)
    assert (hand(state, seat), to_act(state)) == (set(held.split()), next_seat)


@pytest.mark.parametrize(
    ("hands", "lying", "left", "line", "seat", "held", "stock_left", "pile_left"),
    [
        pytest.param("8D KH | 6D", "AC JC TH 9C", "", "draw", 0, "8D KH AC", "JC TH", "9C", id="101-EX-17 101-STOCK-2"),
        pytest.param("KS 9D | 6D | 7D", "AC JC TH 9S", "8H", "KS", 1, "6D 8H AC JC TH 9S", "", "KS", id="101-EX-18"),
        pytest.param("7C KH | 6D 9C | 6H", "TC", "", "7C", 1, "6D 9C TC", "", "7C", id="101-EX-19 101-STOCK-4"),
        pytest.param("8D KH | 6D 9C", "TC", "", "draw", 0, "8D KH", "", "TC", id="101-EX-20 101-DRAW-4 101-D12"),
    ],
)
def test_the_renewal_of_the_stock(
    hands: str, lying: str, left: str, line: str, seat: Seat, held: str, stock_left: str, pile_left: str
) -> None:
    below = tuple(value for value in cards(lying) if value not in cards(pile_left))
    for recycle in ("flip", "shuffle"):
        state = acts(position(hands, lying, left, recycle=recycle), line)
        if recycle == "shuffle" and below:
            assert due(state).cards == tuple(sorted(below))
            state, _ = dispatch.apply(state, CardsShuffled(below))
        assert (hand(state, seat), stock(state)) == (set(held.split()), stock_left)
        assert pile(state, "pile") == (len(pile_left.split()), pile_left)


@pytest.mark.parametrize(
    ("before", "left", "last", "options", "after"),
    [
        pytest.param((10, 0, 30), "JC QD KH AS | QC QS", "9C", {}, (10, 20, 70), id="example 1 101-POINTS-1"),
        pytest.param((10, 0), "9D", "QC/C", {}, (-10, 9), id="101-EX-22 example 2 101-POINTS-4 101-D14"),
        pytest.param((10, 0), "9D", "QC/H", {}, (-10, 9), id="101-EX-22 101-QUEEN-2"),
        pytest.param((50, 0), "9D", "QH/C", {}, (10, 9), id="example 3 101-POINTS-4"),
        pytest.param((10, 0), "9D", "QH/C", {"floor_zero": True}, (0, 9), id="example 4 101-SCORE-2"),
        pytest.param((0, 0, 0), "9D | TD", "7C", {}, (0, 19, 10), id="example 5 101-LAST-2 101-D10"),
        pytest.param((0, 0, 0), "9D | TD", "7C", {"last_card_effects": False}, (0, 9, 10), id="example 6"),
        pytest.param((0, 0), "9D", "KC", {}, (0, 9), id="101-LAST-1 101-LAST-2 no effect"),
        pytest.param((0, 0), "QD", "7C", {}, (0, 13), id="example 7 101-POINTS-3"),
        pytest.param((0, 0), "QC QH QS", "9C", {}, (0, 80), id="example 8 101-POINTS-3 101-D15"),
        pytest.param((0, 0), "QH 6C", "9C", {}, (0, 9), id="example 9 101-POINTS-3"),
        pytest.param((1, 2, 3), "KS KD | AD 6H", "9C", {}, (1, 10, 20), id="101-POINTS-2"),
        pytest.param((0, 0), "9C 9D", "6C", {"finish_on_six": True}, (0, 18), id="101-EX-16 101-SIX-6"),
        pytest.param((0, 80), "TD TH", "9C", {}, (0, 100), id="101-END-1 80"),
        pytest.param((0, 81), "TD TH", "9C", {}, (0, 101, "0 > 1"), id="101-END-1 101-D5 81"),
        pytest.param((0, 81), "TD TH", "9C", {"exact_101_reset": True}, (0, 0), id="101-SCORE-3 101-D3"),
        pytest.param((0, 82), "TD TH", "9C", {"exact_101_reset": True}, (0, 102, "0 > 1"), id="101-SCORE-3 82"),
        pytest.param((0, 81), "TD TH", "9C", {"lose_at": "exceed"}, (0, 101), id="101-END-1 101-D5 exceed 81"),
        pytest.param((0, 82), "TD TH", "9C", {"lose_at": "exceed"}, (0, 102, "0 > 1"), id="101-END-1 exceed 82"),
        pytest.param((10, 92, 91, 91), "9D | TD | AD", "QH/C", BOTH, (0, 0, 0, 102, "0 = 1 = 2 > 3"), id="101-SCORE-1"),
        pytest.param((99, 95, 90), "AD | AH KH", "9C", {}, (99, 106, 105, "0 > 2 > 1"), id="101-END-2 101-D6 101-D19"),
        pytest.param(FOUR, FOUR_LEFT, "9C", {}, (50, 106, 50, 103, "0 = 2 > 3 > 1"), id="101-END-3"),
        pytest.param(FOUR, FOUR_LEFT, "9C", OUT, (50, 106, 50, 103), id="101-ELIM-1"),
        pytest.param((0, 0, 0), "KD | KH", "9C", LAST, (0, 4, 4, "0 > 1 = 2"), id="101-END-4 101-D17"),
        pytest.param((0, 0, 0), "KD | KH", "9C", {"max_rounds": 2}, (0, 4, 4), id="101-END-4 a round is left"),
        pytest.param((90, 99, 0), "KD | KH", "9C", OUT | LAST, (90, 103, 4, "2 > 0 > 1"), id="101-END-4 101-ELIM-3"),
        pytest.param((100, 95, 95), "AD | AH", "9C", OUT, (100, 106, 106, "0 > 1 = 2"), id="101-ELIM-2"),
        pytest.param(ALONE_BEFORE, "| AS KD AD AH AC TD |", "9C", ALONE, ALONE_AFTER, id="101-ELIM-3 the later"),
    ],
)
def test_the_scores_after_a_round(
    before: tuple[int, ...], left: str, last: str, options: dict[str, Any], after: tuple[Any, ...]
) -> None:
    state = acts(position(f"{last[:2]} | {left}", "TC", "8D JS", scores=before, **options), last)
    ranking = ranking_text(dispatch.view(state, SPECTATOR).ranking)
    assert (*dispatch.scores(state), *([ranking] if ranking else [])) == after
    assert state.phase == ("over" if ranking else "deal")


def test_the_example_round_of_the_page() -> None:
    hands = [cards("8C KH 9D JS 8H"), cards("6C 9C AD QH TD"), cards("AC 8D 7D 9S TH")]
    top = [value for turn in zip(*hands, strict=True) for value in turn] + [*cards("TS JC")]
    rest = tuple(value for value in due(new(3)).cards if value not in top)
    state, _ = dispatch.apply(new(3), CardsShuffled((*top, *rest), (0,)))
    state = acts(state, "0:8C 1:6C 1:9C 2:AC 1:AD 0:9D 1:TD")
    assert (hand(state, 1), to_act(state)) == ({"QH"}, 2)
    state, facts = acts_with_facts(state, "2:7D 1:QH/S")
    assert dict(ended(facts).details)["hand_0"].split() == ["JC", "8H", "KH", "TS", "JS"]
    assert ended(facts).points == dispatch.scores(state) == (26, -40, 27)
    assert to_act(deal(state)) == 1
