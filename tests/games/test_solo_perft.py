"""Perft: how many lines there are from fixed deals of Solo, counted twice and pinned."""

from copy import deepcopy
from typing import Any

import pytest

from croupier.games.actions import action_to_json
from croupier.games.cards import notation
from croupier.games.interface import CardsShuffled, SeatActed, resolve_options
from croupier.games.solo import SoloState
from croupier.games.solo.contracts import NOBODY
from tests.games.oracle_solo import SoloOracle
from tests.games.positions_solo import (
    BIDDERS,
    CALLED_UNKNOWN,
    EIGHTH,
    FIVE_OF_FIVE,
    FROKE,
    MARRIED,
    SOLO,
    TWELFTH,
    UNKNOWN,
    Hands,
    action,
    dealt,
    deck,
    new,
    play,
)

HIDDEN = "8D AD QD JD 8H TC 9H KH QC JS QS JC 7D 7H KD TH"
FOUR_OF_FOUR = " ".join(FIVE_OF_FIVE.split()[:16])


def lines(state: SoloState, depth: int) -> int:
    """Lines of `depth` actions, or fewer if the hand ends before."""
    if depth == 0 or state.to_act == NOBODY:
        return 1
    legal = state.legal_actions(state.to_act).actions
    return sum(lines(state.apply(SeatActed(state.to_act, act))[0], depth - 1) for act in legal)


def naive_lines(oracle: SoloOracle, depth: int) -> int:
    """The same count by the naive reading of the rules."""
    if depth == 0 or oracle.to_act is None:
        return 1
    total = 0
    for act in oracle.legal():
        after = deepcopy(oracle)
        after.action(oracle.to_act, act)
        total += naive_lines(after, depth - 1)
    return total


def naive(hands: Hands, line: str, options: dict[str, Any]) -> SoloOracle:
    """The oracle after the same deal and line."""
    oracle, state = SoloOracle(4, resolve_options(SOLO, 4, options)), new(**options)
    shuffled = CardsShuffled(deck(state, hands, 3), (3,))
    oracle.table_event({"type": "deal", "dealer": 3, "deck": notation(shuffled.cards)})
    for word in line.split():
        assert oracle.to_act is not None
        oracle.action(oracle.to_act, action_to_json(action(word)))
    return oracle


@pytest.mark.parametrize(
    ("hands", "line", "options", "counts"),
    [
        pytest.param(BIDDERS, "", {}, [7, 28, 50, 144, 271, 1923, 7663], id="auction-and-naming"),
        pytest.param(
            BIDDERS,
            "",
            {"solo_keep": True, "partner_do": False},
            [7, 28, 50, 144, 268, 1675, 6751],
            id="auction-with-kept-solos",
        ),
        pytest.param(MARRIED, "", {"wedding_trump": "any_suit"}, [7, 28, 50, 143, 244, 1890, 7191], id="wedding"),
        pytest.param(EIGHTH, FROKE, {}, [8, 16, 28, 56, 382, 781, 1374, 2236, 13094], id="called-ace"),
        pytest.param(
            EIGHTH,
            f"{FROKE} 9S KS JS 7S",
            {"called_card_rule": "penalty"},
            [7, 13, 25, 59, 354, 767, 1424, 2398, 11990],
            id="called-ace-with-penalty",
        ),
        pytest.param(UNKNOWN, CALLED_UNKNOWN, {}, [8, 11, 51, 151, 1045, 1537, 5213, 11461], id="unknown-ace"),
        pytest.param(
            TWELFTH,
            f"{FROKE} {FOUR_OF_FOUR}",
            {},
            [4, 10, 28, 100, 396, 792, 1914, 5226, 10032],
            id="five-out-of-five",
        ),
        pytest.param(
            UNKNOWN,
            f"{CALLED_UNKNOWN} {HIDDEN}",
            {},
            [4, 5, 14, 42, 162, 362, 882, 1938, 3834, 6474, 11754],
            id="unknown-ace-in-the-fifth-trick",
        ),
    ],
)
def test_the_number_of_lines(hands: Hands, line: str, options: dict[str, Any], counts: list[int]) -> None:
    start = play(dealt(hands, **options), line)
    depths = range(1, len(counts) + 1)
    assert [lines(start, depth) for depth in depths] == counts
    oracle = naive(hands, line, options)
    assert [naive_lines(oracle, depth) for depth in depths if counts[depth - 1] < NAIVELY] == [
        count for count in counts if count < NAIVELY
    ]


NAIVELY = 3_000
"""How many lines are counted again by the oracle."""
