"""The referee's 101 in the worked positions and the tables of points of its rules page."""

import copy
from typing import Any

import pytest

from loadtest.judge.rules.interface import Act, Illegal
from loadtest.judge.rules.one_oh_one import OneOhOneTable
from tests.loadtest.rules.one_oh_one_positions import DEFAULTS, played, position


def goes(table: OneOhOneTable) -> str:
    """The cards that seat 0 may play, each once, and `draw`, in the order of the alphabet."""
    return " ".join(sorted({act.get("card", "draw") for act in table.legal(0).actions}))


def test_deals_go_singly_round_from_the_starter() -> None:
    table = OneOhOneTable(2, DEFAULTS)
    wanted = table.shuffle_wanted
    assert wanted is not None
    assert wanted.cards[:10] == ["6C", "7C", "8C", "9C", "TC", "JC", "QC", "KC", "AC", "6D"]
    assert wanted[1:] == ([2], 1, 1)

    event = table.shuffled(wanted.cards, [1])

    assert event["starter"] == 1
    assert event["hands"] == [["7C", "9C", "JC", "KC", "6D"], ["6C", "8C", "TC", "QC", "AC"]]
    assert event["stock"] == wanted.cards[10:]
    assert table.to_act == [1]
    assert (table.round_number, table.shuffle_wanted) == (1, None)


@pytest.mark.parametrize(
    ("hand", "pile", "stock", "options", "expected"),
    [
        ("8C 9D 9S KC QH AS", "9C", "", {}, "8C 9D 9S KC QH"),
        ("8D KH", "AC 9C", "", {}, "draw"),
        ("QD 8H", "9C", "TD", {}, "QD"),
        ("QD 8H", "9C", "TD", {"may_draw_instead": True}, "QD draw"),
        ("QD 8H", "9C", "", {"may_draw_instead": True}, "QD"),
        ("9C 6D QS 8H", "6C", "", {}, "6D 9C QS"),
        ("7C 9D QS KH 6C", "", "TD", {}, "6C 7C 9D KH QS"),
        ("7C 9D QS KH 6C", "", "TD", {"first_move_any": False}, "6C"),
    ],
)
def test_cards_go_as_the_page_says(hand: str, pile: str, stock: str, options: dict[str, Any], expected: str) -> None:
    assert goes(position([hand, "AH", "AH"], pile, stock, **options)) == expected


@pytest.mark.parametrize(
    ("hand", "options", "expected"),
    [
        ("8C 6D QH KS", {}, "8C QH"),
        ("8C 6D QH KS", {"queen_covers_six": False}, "8C"),
        ("QC 6D QH KS", {}, "QC QH"),
        ("QC 6D QH KS", {"queen_covers_six": False}, "QC"),
        ("8D 6D KS", {}, "draw"),
        ("8C KS", {"may_draw_instead": True}, "8C"),
    ],
)
def test_own_sixes_are_covered(hand: str, options: dict[str, Any], expected: str) -> None:
    table = played(position([f"6C {hand}", "AH", "AH"], "TC", "TD", **options), "0:6C")

    assert table.to_act == [0]
    assert goes(table) == expected


@pytest.mark.parametrize(("suit", "hand", "expected"), [("H", "QD 8H 9S KC", "8H QD"), ("C", "6H KC", "KC")])
def test_ordered_suits_are_to_be_followed(suit: str, hand: str, expected: str) -> None:
    table = played(position([f"QS {hand}", "9D", "9D"], "TC", "TD TH"), f"0:QS/{suit}", "1:draw", "2:draw")

    assert goes(table) == expected


@pytest.mark.parametrize(
    ("hands", "pile", "stock", "moves", "after", "to_act"),
    [
        (["7C 8D", "9C", "9D"], "TC", "TD JD JH", ["0:7C"], ["8D", "9C TD JD", "9D"], 2),
        (["7C 8D", "9C"], "TC", "TD JD JH", ["0:7C"], ["8D", "9C TD JD"], 0),
        (["AC 8D", "9C", "9D", "9H"], "TC", "TD", ["0:AC"], ["8D", "9C", "9D", "9H"], 2),
        (["KS 9D", "6D", "7D"], "AC JC TH 9S", "8H", ["0:KS"], ["9D", "6D 8H AC JC TH 9S", "7D"], 2),
        (["8D KH", "6D"], "AC JC TH 9C", "", ["0:draw"], ["8D KH AC", "6D"], 1),
        (["7C KH", "6D 9C", "6H"], "TC", "", ["0:7C"], ["KH", "6D 9C TC", "6H"], 2),
        (["8D KH", "6D 9C"], "TC", "", ["0:draw"], ["8D KH", "6D 9C"], 1),
        (["6C", "9C 9D"], "TC", "TD JD", ["0:6C", "0:draw"], ["TD", "9C 9D"], 1),
        (
            ["6C 7C 8D", "9C 9D", "9H 9S"],
            "TC",
            "TD JD JH",
            ["0:6C", "0:7C"],
            ["8D", "9C 9D TD JD", "9H 9S"],
            2,
        ),
    ],
)
def test_effects_are_those_of_the_page(
    hands: list[str], pile: str, stock: str, moves: list[str], after: list[str], to_act: int
) -> None:
    table = played(position(hands, pile, stock), *moves)

    assert [" ".join(hand) for hand in table.hands] == after
    assert table.to_act == [to_act]


def test_shuffles_of_the_pile_come_in_the_middle_of_a_penalty() -> None:
    table = played(position(["KS 9D", "6D", "7D"], "AC JC TH 9S", "8H", recycle="shuffle"), "0:KS")

    assert table.shuffle_wanted is not None
    assert table.shuffle_wanted[:] == (["JC", "AC", "TH", "9S"], [], 1, 2)
    assert table.hands[1] == ["6D", "8H"]
    assert table.to_act == []
    assert table.shuffled(["TH", "9S", "JC", "AC"], []) == {"type": "reshuffle", "stock": ["TH", "9S", "JC", "AC"]}
    assert table.hands[1] == ["6D", "8H", "TH", "9S", "JC", "AC"]
    assert table.to_act == [2]


@pytest.mark.parametrize(
    ("scores", "hands", "move", "options", "expected"),
    [
        ([10, 0, 30], ["9C", "JC QD KH AS", "QC QS"], "0:9C", {}, [10, 20, 70]),
        ([10, 0], ["QC", "9D"], "0:QC/S", {}, [-10, 9]),
        ([50, 0], ["QH", "9D"], "0:QH/H", {}, [10, 9]),
        ([10, 0], ["QH", "9D"], "0:QH/H", {"floor_zero": True}, [0, 9]),
        ([0, 0, 0], ["7C", "9D", "TD"], "0:7C", {}, [0, 19, 10]),
        ([0, 0, 0], ["7C", "9D", "TD"], "0:7C", {"last_card_effects": False}, [0, 9, 10]),
        ([0, 0], ["7C", "QD"], "0:7C", {}, [0, 13]),
        ([0, 0], ["9C", "QC QH QS"], "0:9C", {}, [0, 80]),
        ([0, 0], ["9C", "QH 6C"], "0:9C", {}, [0, 9]),
        ([0, 0], ["6C", "9C 9D"], "0:6C", {"finish_on_six": True}, [0, 18]),
    ],
)
def test_rounds_are_scored_as_on_the_page(
    scores: list[int], hands: list[str], move: str, options: dict[str, Any], expected: list[int]
) -> None:
    table = position(hands, "TC", "8D JS", **options)
    table.scores = list(scores)
    played(table, move)

    assert table.scores == expected
    assert table.rounds[0].totals == expected
    assert table.shuffle_wanted is not None
    assert table.starter == 0


@pytest.mark.parametrize(
    ("before", "options", "after", "lost"),
    [
        (80, {}, 100, False),
        (81, {}, 101, True),
        (82, {}, 102, True),
        (81, {"exact_101_reset": True}, 0, False),
        (82, {"exact_101_reset": True}, 102, True),
        (81, {"lose_at": "exceed"}, 101, False),
        (82, {"lose_at": "exceed"}, 102, True),
    ],
)
def test_games_are_lost_as_on_the_page(before: int, options: dict[str, Any], after: int, lost: bool) -> None:
    table = position(["9C", "AS 9S"], "TC", "", **options)
    table.scores = [0, before]
    played(table, "0:9C")

    assert table.scores == [0, after]
    assert table.ranking == ([[0], [1]] if lost else None)


def test_losers_are_ranked_last_and_those_who_dropped_out_first_behind_the_others() -> None:
    table = position(["9C", "AS", "AD", "KH"], "TC", "")
    table.scores = [50, 95, 39, 99]
    played(table, "0:9C")
    assert table.ranking == [[0, 2], [3], [1]]

    table = position(["9C", "AS", "AD", "KH"], "TC", "", elimination=True)
    table.scores = [50, 95, 39, 99]
    played(table, "0:9C")
    assert table.ranking is None
    dealt = table.shuffled(table.shuffle_wanted.cards, []) if table.shuffle_wanted else {}
    assert [len(hand) for hand in dealt["hands"]] == [5, 0, 5, 0]
    table.hands = [["9C"], [], ["AS"], []]
    table.scores[2] = 95
    played(table, "0:9C")
    assert table.ranking == [[0], [2], [3], [1]]


@pytest.mark.parametrize(
    ("seat", "act", "rule"),
    [
        (1, {"type": "draw"}, "101-PLAY-2"),
        (0, {"type": "draw"}, "101-DRAW-1"),
        (0, {"type": "draw", "suit": "H"}, "101-PLAY-1"),
        (0, {"type": "pass"}, "101-PLAY-1"),
        (0, {"type": "play"}, "101-PLAY-1"),
        (0, {"type": "play", "card": "9H"}, "101-PLAY-1"),
        (0, {"type": "play", "card": "8D"}, "101-PLAY-1"),
        (0, {"type": "play", "card": "9C", "suit": "H"}, "101-QUEEN-2"),
        (0, {"type": "play", "card": "QS"}, "101-QUEEN-2"),
        (0, {"type": "play", "card": "QS", "suit": "X"}, "101-QUEEN-2"),
    ],
)
def test_what_is_not_legal_is_refused_and_changes_nothing(seat: int, act: Act, rule: str) -> None:
    table = position(["9C QS 8D", "9D", "9S"], "TC", "TD")
    before = copy.deepcopy(vars(table))

    with pytest.raises(Illegal) as refused:
        table.act(seat, act)

    assert refused.value.rule == rule
    assert vars(table) == before
