"""Perft: how many lines of bids and plays there are from small deals of Jøssing, counted twice and pinned."""

from copy import deepcopy
from typing import Any

import pytest

from croupier.games.interface import SeatActed, resolve_options
from croupier.games.jossing import JossingState
from tests.games.oracle_jossing import JossingOracle
from tests.games.positions_jossing import JOSSING, section, to_act

ONE = (["2C", "AC", "5H"], "9S")
FOUR = (["AS 2H", "KS 3D", "QS 4C", "2D 5C"], "2S")
DUEL = (["KH 4C 2D 7S", "5H 3C QC 9S"], "9C")
TWINS = (["KH 5C QH QH", "KH 5C 4D 2H"], "9C")
THREE = (["2C AC 5H", "3C KH 9S", "4C 6H TS"], "4H")
HIGHEST = {"leader": "highest_bidder"}
HOOK = {"hook": True}
LAST = {"decks": 2, "identical_cards": "last"}
DEEPEST_NAIVE = 2500
"""The naive count goes as deep as no more lines than these have to be followed."""


def lines(state: JossingState, depth: int) -> int:
    """Lines of `depth` actions, in every order in which seats can act; the end of the section ends a line."""
    if depth == 0 or not to_act(state):
        return 1
    return sum(
        lines(state.apply(SeatActed(seat, action))[0], depth - 1)
        for seat in to_act(state)
        for action in state.legal_actions(seat).actions
    )


def naive_lines(oracle: JossingOracle, depth: int) -> int:
    """The same count by the naive reading of the rules."""
    if depth == 0 or not oracle.to_act():
        return 1
    total = 0
    for seat in oracle.to_act():
        for action in oracle.legal(seat):
            after = deepcopy(oracle)
            after.action(seat, action)
            total += naive_lines(after, depth - 1)
    return total


@pytest.mark.parametrize(
    ("dealt", "options", "counts"),
    [
        pytest.param(ONE, {}, [6, 24, 48, 48], id="three-seats-one-card"),
        pytest.param(DUEL, {}, [10, 50, 200, 200, 600, 950, 1900, 2700], id="two-seats"),
        pytest.param(DUEL, HIGHEST, [10, 50, 200, 280, 840, 1310, 2620, 3620], id="two-seats-highest-bidder"),
        pytest.param(DUEL, HOOK, [5, 20, 80, 80, 240, 380, 760, 1080], id="two-seats-hook"),
        pytest.param(TWINS, {"decks": 2}, [10, 50, 200, 400, 1100, 1650, 3050, 3850], id="two-packs"),
        pytest.param(TWINS, LAST, [10, 50, 200, 400, 1000, 1450, 2750, 3500], id="two-packs-last"),
        pytest.param(THREE, {}, [12, 96, 384, 1152, 1152, 2304, 4608, 5376, 6912], id="three-seats"),
        pytest.param(
            THREE, HOOK | HIGHEST, [8, 32, 108, 324, 426, 582, 1164, 1380, 1812], id="three-seats-hook-highest-bidder"
        ),
        pytest.param(FOUR, {}, [12, 108, 648, 1944, 3888, 5832, 7776], id="four-seats"),
        pytest.param(
            FOUR, HOOK | HIGHEST, [9, 54, 162, 426, 852, 1350, 1896, 2892], id="four-seats-hook-highest-bidder"
        ),
    ],
)
def test_the_number_of_lines(dealt: tuple[list[str], str], options: dict[str, Any], counts: list[int]) -> None:
    hands, indicator = dealt
    state = section(hands, indicator, **options)
    oracle = JossingOracle(len(hands), resolve_options(JOSSING, len(hands), options))
    oracle.options["first_dealer"] = state.table.first_dealer
    oracle.finished = state.section.number - 1
    oracle.table_event({"type": "deal", "hands": [text.split() for text in hands], "trump": indicator})
    depths = range(1, len(counts) + 1)
    assert [lines(state, depth) for depth in depths] == counts
    shallow = [depth for depth in depths if counts[depth - 1] <= DEEPEST_NAIVE]
    assert [naive_lines(oracle, depth) for depth in shallow] == counts[: len(shallow)]
