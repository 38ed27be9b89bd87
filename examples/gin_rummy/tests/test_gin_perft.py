"""Perft: how many lines of actions there are from small positions, by both implementations and on the page."""

import re

import pytest

from croupier.conformance.perft import by_engine, by_judge, count
from croupier_gin_rummy.state import GinState
from gin_positions import defending, laying, position
from gin_table import GIN_RUMMY, judge_table
from test_gin_page import TEXT

HANDS, STOCK = "2C 3C 5H | 4C KD KH", "KS 4H 6S 3H AH 9D"
ELEVEN = "2C 3C 4C 7D 7H | 5C KD KH 9S QD"
TEN = "4H 4D 4S 5S 6S 7S AC 2C 3C AD | 8S 3S 5H 6H 7H KD"
CASES = {
    "upcard": (position(HANDS, "4D", STOCK, phase="upcard"), "2 6 11 36 80 242 548"),
    "upcard for gin only": (position(HANDS, "4D", STOCK, phase="upcard", knock="gin"), "2 5 10 34 75 224 516"),
    "draw": (position(HANDS, "4D", STOCK[:-3]), "2 9 16 55 104 380 672"),
    "big gin": (position(ELEVEN, "7S", "KS 4H 6S 3H", big_gin=True), "2 13 27 126 211 1024"),
    "lay": (laying(TEN), "4 8 16 44 72 72"),
    "lay off": (defending("AH | 6S 7S 8D 8C 8H 5S", "7C 7D 7H / 8S 9S TS"), "5 12 16 20 20"),
    "lay off after gin": (defending("AH | 3S 4S 8S 9S KD KC KH", knock="gin"), "2 2 2 2"),
}


@pytest.mark.parametrize(("start", "counts"), CASES.values(), ids=CASES)
def test_the_number_of_lines(start: GinState, counts: str) -> None:
    expected = [int(number) for number in counts.split()]
    assert count(start, len(expected), lambda state: by_engine(GIN_RUMMY, state, chooses=False)) == expected
    assert count(judge_table(start), len(expected), lambda table: by_judge(table, chooses=False)) == expected


def test_the_page_has_the_same_numbers() -> None:
    _, _, section = TEXT.partition("## Counting lines")
    assert re.findall(r"\| (\d[\d ]+) \|$", section, re.MULTILINE) == [counts for _, counts in CASES.values()]
