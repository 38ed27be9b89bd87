"""The referee's solo beside the worked positions and the perft of its page."""

import copy
from collections.abc import Callable
from typing import TypeAlias

import pytest

from loadtest.judge.rules.interface import Act, Illegal
from loadtest.judge.rules.solo import SoloTable
from loadtest.judge.rules.solo.bidding import calls
from loadtest.judge.rules.solo.hand import Hand, no_cards
from tests.loadtest.rules.solo_hands import EX_3, EX_5, EX_7, EX_8, EX_9, EX_11, EX_12, dealt, froke, play, say

Begin: TypeAlias = Callable[[], SoloTable]


def lines(tables: list[SoloTable], depth: int) -> list[int]:
    """How many lines of actions there are to each depth; one that ended with its hand counts once at all others."""
    counts = []
    for _ in range(depth):
        after = []
        for table in tables:
            if not table.to_act:
                after.append(table)
            for seat in table.to_act:
                for action in table.legal(seat).actions:
                    after.append(copy.deepcopy(table))
                    after[-1].act(seat, action)
        counts.append(len(after))
        tables = after
    return counts


@pytest.mark.parametrize(
    ("cards", "trump", "allowed"),
    [
        ("7D 8D AD KD 8H KC JS TS", "D", "AC AH AS"),
        ("7D 8D AD KD QD AH KC JS", "D", "AC AS"),
        ("7D 8D AD KD AC AH 8S QC", "D", "AS"),
        ("7D 8D AD KD QD QS KH JH", "D", "AH"),
        ("7D 8D AD KD QC AH 8H AC", "D", "unknown"),
        ("7D 8D 9D AC AH AS KC 8H", "D", "KH KS"),
        ("7D 8D AC KC AH KH AS KS", "D", "QH"),
        ("7D AC KC AH KH QH AS KS", "D", "JC JH JS"),
        ("7C 8C AD KD AH KH AS KS", "C", "QD QH"),
        ("7D 8D 9D TD QC JD AH KH", "D", "AC AS"),
        ("7D 8D 9D TD QC JD AD KD", "D", "AC AH AS"),
        ("QC QS AC KC AD AH JH 7D", "", "AS"),
        ("QC QS AC KC AD AH AS 7D", "", "KD KH KS"),
        ("QC QS 7D 8D 7H 8H 7S 8S", "", "AD AH AS"),
    ],
)
def test_what_can_be_called(cards: str, trump: str, allowed: str) -> None:
    contract = "froke" if trump else "wedding"
    hand = Hand(no_cards(), [cards.split(), [], [], []], declarer=0, contract=contract, trump=trump)
    assert sorted(calls(hand)[1]) == sorted(allowed.split())


MOST_LINES = 700
"""Depths with more lines than this are left out, for they take minutes."""

PERFT = [
    (lambda: dealt(EX_3), "7, 28, 50, 144, 271, 1923, 7663"),
    (lambda: dealt(EX_3, solo_keep=True, partner_do=False), "7, 28, 50, 144, 268, 1675, 6751"),
    (lambda: dealt(EX_5, wedding_trump="any_suit"), "7, 28, 50, 143, 244, 1890, 7191"),
    (lambda: froke(EX_8, "H", "AC"), "8, 16, 28, 56, 382, 781, 1374, 2236, 13094"),
    (
        lambda: play(froke(EX_8, "H", "AC", called_card_rule="penalty"), "9S KS JS 7S"),
        "7, 13, 25, 59, 354, 767, 1424, 2398, 11990",
    ),
    (lambda: froke(EX_7, "D", "unknown"), "8, 11, 51, 151, 1045, 1537, 5213, 11461"),
    (
        lambda: play(froke(EX_7, "D", "unknown"), "8D AD QD JD 8H TC 9H KH QC JS QS JC 7D 7H KD TH"),
        "4, 5, 14, 42, 162, 362, 882, 1938, 3834, 6474, 11754",
    ),
    (
        lambda: play(froke(EX_12, "H", "AC"), "QC 8H JH TH 7H 9H QS JD 8C TC AC QD AS 7S 9C 7D"),
        "4, 10, 28, 100, 396, 792, 1914, 5226, 10032",
    ),
]


@pytest.mark.parametrize(("begin", "page"), PERFT)
def test_lines_to_each_depth_are_those_of_the_page(begin: Begin, page: str) -> None:
    counts = [int(count) for count in page.split(",")]
    counts = [count for count in counts if count <= MOST_LINES]
    assert lines([begin()], len(counts)) == counts


@pytest.mark.parametrize(
    ("begin", "cards", "scores"),
    [
        (
            lambda: froke(EX_9, "H", "AC"),
            "KH TH 8H 7S AH 7D 9H 8S QC 8D JH JS 7H KC QH TS TD KD JD AD",
            [0, 2, 0, 2],
        ),
        (
            lambda: froke(EX_11, "H", "AC"),
            "8H QC JH QH AS 9S 7S 7D KS TS 8S 8D AH QS 7H 9H KC 8C 9C AC",
            [0, 2, 0, 2],
        ),
        (lambda: froke(EX_8, "H", "AC", do=True), "9S KS JS 7S JC AC TC 8C", [0, 6, 0, 6]),
        (lambda: froke(EX_8, "H", "AC", do=True, fail_value="base"), "9S KS JS 7S JC AC TC 8C", [0, 2, 0, 2]),
        (
            lambda: froke(EX_12, "H", "AC"),
            "QC 8H JH TH 7H 9H QS JD 8C TC AC QD AS 7S 9C 7D KS 8S JC 8D TS 9S AH 9D KH TD 7C KD QH KC JS AD",
            [4, 0, 4, 0],
        ),
    ],
)
def test_worked_hands_score_as_on_the_page(begin: Begin, cards: str, scores: list[int]) -> None:
    table = begin()
    *before, last = cards.split()
    play(table, " ".join(before))
    assert table.rounds == []
    play(table, last)
    assert table.scores == scores


def test_the_last_card_of_the_called_suit_is_not_thrown_away() -> None:
    hands = [hand.replace("9C", "?").replace("9D", "9C").replace("?", "9D") for hand in EX_8]
    table = play(froke(hands, "H", "AC"), "9S KS JS 7S AS TS 8S")
    with pytest.raises(Illegal) as refused:
        play(table, "8C")
    assert refused.value.rule == "SOLO-CARD-5"
    assert {action["card"] for action in table.legal(0).actions} == {"9D", "TD", "7H", "JH", "KH", "AH"}


@pytest.mark.parametrize(
    ("scores", "option", "is_played"),
    [
        ([30, 36, 34, 36], "declarers", False),
        ([36, 30, 36, 34], "declarers", True),
        ([36, 30, 36, 34], "either_pair", False),
    ],
)
def test_the_last_two_are_no_pair(scores: list[int], option: str, is_played: bool) -> None:
    table = dealt(EX_8, last_two=option)
    table.scores = list(scores)
    say(table, {"type": "bid", "bid": "froke"}, *[{"type": "pass"}] * 3)
    say(table, {"type": "name_trump", "trump": "H", "do": False}, {"type": "call", "card": "AC"})
    assert (table.hand.phase == "play") == is_played
    assert table.scores == scores


@pytest.mark.parametrize(
    ("begin", "action", "rule"),
    [
        (lambda: dealt(EX_3), {"type": "bid", "bid": "froke", "trump": "C"}, "SOLO-BID-2"),
        (lambda: dealt(EX_3), {"type": "throw_down"}, "SOLO-BID-1"),
        (lambda: froke(EX_8, "H", "AC"), {"type": "play", "card": "2C"}, "SOLO-PLAY-2"),
        (lambda: froke(EX_8, "H", "AC"), {"type": "play"}, "SOLO-PLAY-2"),
        (
            lambda: say(dealt(EX_8), {"type": "bid", "bid": "froke"}, *[{"type": "pass"}] * 3),
            {"type": "name_trump", "trump": "H", "do": 1},
            "SOLO-TRUMP-3",
        ),
    ],
)
def test_what_nobody_could_say_is_refused(begin: Begin, action: Act, rule: str) -> None:
    with pytest.raises(Illegal) as refused:
        say(begin(), action)
    assert refused.value.rule == rule
