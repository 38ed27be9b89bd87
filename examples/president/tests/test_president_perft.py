"""Perft: how many lines of actions there are from small positions, by both implementations and on the page."""

import re

import pytest

from croupier.conformance.perft import by_engine, by_judge, count
from croupier.engine.api.game_texts import rules_page
from croupier.runtime.translations import ENGLISH
from croupier_president.state import PresidentState
from president_positions import PRESIDENT, exchanging, judge_table, position

THREE, FOUR = "5C 5D 8S | 6C 7D 7H | 4C 8D 8H", "3C 9D | 4C 4D | 8H TS | 7S 2S"
PAIRS, PAIR = "KC 5H | QC 7H | KD KS | AC 2D", "KC 5H 5C | QC 7H | AC 2D"
CASES = {
    "three": (position(THREE), "4 11 29 39 60 138 197 338 644"),
    "three, passes are final": (position(THREE, passing="final"), "4 11 29 39 64 147 236 414 723"),
    "four": (position(FOUR), "2 4 11 25 33 44 69 141 177 256 419"),
    "four, passes are final": (position(FOUR, passing="final"), "2 4 11 25 33 46 71 135 182 254 368"),
    "exchange of two pairs": (exchanging(PAIRS), "2 11 27 108 216 324 594"),
    "exchange of one of them": (exchanging(PAIRS, exchange="single"), "1 3 6 10 24 63 99 112 186 342"),
    "exchange of three": (exchanging(PAIR), "1 4 14 30 72 138 160 290 486"),
}


@pytest.mark.parametrize(("start", "counts"), CASES.values(), ids=CASES)
def test_the_number_of_lines(start: PresidentState, counts: str) -> None:
    expected = [int(number) for number in counts.split()]
    assert count(start, len(expected), lambda state: by_engine(PRESIDENT, state, chooses=True)) == expected
    assert count(judge_table(start), len(expected), lambda table: by_judge(table, chooses=True)) == expected


def test_the_page_has_the_same_numbers() -> None:
    _, _, section = rules_page(PRESIDENT, ENGLISH).markdown.partition("## Counting lines")
    assert re.findall(r"\| (\d[\d ]+) \|$", section, re.MULTILINE) == [counts for _, counts in CASES.values()]
