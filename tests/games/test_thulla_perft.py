"""Perft: how many lines of play there are from small positions of Thulla, counted twice and pinned."""

from copy import deepcopy
from typing import Any

import pytest

from croupier.games.facts import Seat
from croupier.games.interface import SeatActed, resolve_options
from croupier.games.thulla import ThullaState
from tests.games.oracle_thulla import ThullaOracle
from tests.games.positions import THULLA, position

TWO = {0: "2C 9C KD 5H", 1: "3C TC 4D QS"}
THREE = {0: "2C AC 5H", 1: "3C KH 9S", 2: "4C 6H TS"}
FOUR = {0: "AS 2H", 1: "KS 3D", 2: "QS 4C", 3: "2D 5C"}
CUTTER = {"pickup": "cutter", "stall_limit": 3}
AFTER = {"last_card": "safe_after_trick"}


def lines(state: ThullaState, depth: int) -> int:
    """Lines of `depth` plays, or fewer if the game ends before."""
    if depth == 0 or not state.queue:
        return 1
    seat = state.queue[0]
    return sum(lines(state.apply(SeatActed(seat, play))[0], depth - 1) for play in state.legal_actions(seat).actions)


def naive_lines(oracle: ThullaOracle, depth: int) -> int:
    """The same count by the naive reading of the rules."""
    if depth == 0 or oracle.to_act is None:
        return 1
    total = 0
    for played in oracle.legal():
        after = deepcopy(oracle)
        assert after.to_act is not None
        after.action(after.to_act, {"type": "play", "card": played})
        total += naive_lines(after, depth - 1)
    return total


@pytest.mark.parametrize(
    ("hands", "options", "counts"),
    [
        pytest.param(TWO, {}, [4, 9, 35, 65, 258, 422, 1882, 1980, 2456, 2932, 6702, 6702], id="two"),
        pytest.param(TWO, AFTER, [4, 9, 35, 65, 258, 422, 1882, 2076, 2680, 3508, 8366, 9914], id="two-after-trick"),
        pytest.param(TWO, CUTTER, [4, 9, 35, 71, 244, 444, 1044, 1572, 3612, 5292], id="two-cutter"),
        pytest.param(THREE, {}, [3, 3, 3, 6, 8, 18, 24, 54, 80, 180, 180], id="three"),
        pytest.param(
            THREE,
            AFTER | CUTTER,
            [3, 3, 3, 6, 8, 18, 28, 44, 60, 68, 80, 90, 100, 112, 116],
            id="three-after-trick-cutter",
        ),
        pytest.param(FOUR, {}, [2, 3, 7, 8, 31, 42, 187, 293, 1073, 2293, 6453, 6453], id="four"),
        pytest.param(FOUR, AFTER, [2, 3, 7, 8, 31, 42, 187, 289, 1069, 2298, 6490, 6639], id="four-after-trick"),
        pytest.param(FOUR, {"stall_limit": 1}, [2, 3, 3, 4, 4], id="four-stall"),
    ],
)
def test_the_number_of_lines(hands: dict[Seat, str], options: dict[str, Any], counts: list[int]) -> None:
    oracle = ThullaOracle(len(hands), resolve_options(THULLA, len(hands), options))
    oracle.hands = [text.split() for text in hands.values()]
    oracle.begin(0, ace_is_forced=False)
    depths = range(1, len(counts) + 1)
    assert [lines(position(hands, **options), depth) for depth in depths] == counts
    assert [naive_lines(oracle, depth) for depth in depths[:9]] == counts[:9]
