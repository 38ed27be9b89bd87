"""Perft: how many lines of play there are from small positions of 101, counted twice and pinned."""

from copy import copy
from typing import Any, NamedTuple

import pytest

from croupier.games.cards import card
from croupier.games.interface import CardsShuffled, SeatActed, SeatsToAct, ShuffleNeeded, resolve_options
from croupier.games.one_oh_one import OneOhOneState
from tests.games.oracle_one_oh_one import OneOhOneOracle
from tests.games.positions_one_oh_one import ONE_OH_ONE, position


class Small(NamedTuple):
    """A position with seat 0 to act; no pile is the first card of a round."""

    hands: tuple[str, ...]
    pile: str
    stock: str


TWO = Small(("6C 8C QD", "9C 7C 8D"), "TC", "TD JD JH 9D")
ENDING = Small(("KS 6S 9D", "QH 7S 6D"), "AC JC TH 9S", "8H")
THREE = Small(("6C AD 7C", "8C QS 9D", "7D AC 6H"), "", "TD JD JH KH KS 8S 6D")
FOUR = Small(("6H 7H 8S", "QC 8H KH", "AH 9H 9S", "KS QH JH"), "TH", "6S AS 7S TS JS TD")
TWINS = Small(("6C 6C 8C QH", "8C QH 7C 7C"), "TC 9C", "9D 9D 6D")


def lines(state: OneOhOneState, depth: int) -> list[int]:
    """Lines of 1 to `depth` actions; one that ends the round earlier counts on."""
    counts, ended, going = [], 0, [state]
    for _ in range(depth):
        after = [_settled(before.apply(event)[0]) for before in going for event in _events(before)]
        going = [state for state in after if isinstance(state.awaiting, SeatsToAct)]
        ended += len(after) - len(going)
        counts.append(len(going) + ended)
    return counts


def _events(state: OneOhOneState) -> list[SeatActed]:
    assert isinstance(state.awaiting, SeatsToAct)
    (seat,) = state.awaiting.seats
    return [SeatActed(seat, action) for action in state.legal_actions(seat).actions]


def _settled(state: OneOhOneState) -> OneOhOneState:
    """A reshuffle sorts the cards."""
    while state.phase == "reshuffle":
        assert isinstance(state.awaiting, ShuffleNeeded)
        state, _ = state.apply(CardsShuffled(state.awaiting.cards))
    return state


def naive_lines(oracle: OneOhOneOracle, depth: int) -> list[int]:
    """The same counts by the naive reading of the rules."""
    counts, ended, going = [], 0, [oracle]
    for _ in range(depth):
        after = [_acted(before, action) for before in going for action in before.legal()]
        going = [oracle for oracle in after if oracle.to_act is not None]
        ended += len(after) - len(going)
        counts.append(len(going) + ended)
    return counts


def _acted(before: OneOhOneOracle, action: dict[str, Any]) -> OneOhOneOracle:
    after = copy(before)
    after.hands, after.stock, after.pile = [list(hand) for hand in before.hands], list(before.stock), list(before.pile)
    after.totals = list(before.totals)
    assert after.to_act is not None
    after.action(after.to_act, action)
    while after.waiting:
        after.reshuffle(sorted(after.pile[:-1], key=lambda card: (card[1], "6789TJQKA".index(card[0]))))
    return after


@pytest.mark.parametrize(
    ("small", "options", "lines_by_depth"),
    [
        pytest.param(
            TWO,
            {},
            "6 13 24 41 47 47 47 48 50 55 69 77 103 119 157 191 246 269 323 375 447 518 624 756",
            id="two",
        ),
        pytest.param(
            TWO,
            {"may_draw_instead": True, "finish_on_six": True},
            "7 19 60 157 341 787 1682 3967",
            id="two-draws-instead",
        ),
        pytest.param(
            ENDING,
            {},
            "3 7 11 23 36 58 100 152 284 484 798 1365 2270 3925",
            id="ending",
        ),
        pytest.param(
            ENDING,
            {"recycle": "shuffle", "queen_covers_six": False},
            "3 7 8 19 28 46 74 111 209 338 559 903 1469 2435 4028",
            id="ending-shuffled",
        ),
        pytest.param(
            ENDING,
            {"recycle": "shuffle", "last_card_effects": False},
            "3 7 11 23 39 60 92 144 271 455 736 1220 2051 3460 5667",
            id="ending-shuffled-no-effects",
        ),
        pytest.param(
            THREE,
            {},
            "3 5 24 34 41 55 88 103 108 136 179 225 278 368 510 748 1195 2023 3281 5419",
            id="three",
        ),
        pytest.param(
            THREE,
            {"first_move_any": False},
            "1 2 12 12 15 20 36 37 40 58 77 103 123 175 247 370 634 1081 1795 3041 4684",
            id="three-last-dealt",
        ),
        pytest.param(
            FOUR,
            {},
            "2 3 8 12 36 76 143 234 491 695 1137 1581 2249 2998 3969 5767",
            id="four",
        ),
        pytest.param(
            FOUR,
            {"queen_covers_six": False},
            "2 3 8 12 36 68 127 198 436 585 987 1374 1965 2525 3348 4948",
            id="four-strict-six",
        ),
        pytest.param(
            TWINS,
            {"deck": 104},
            "6 30 85 202 388 575 762 878 948 1096 1317 1826 3010 6088",
            id="twins",
        ),
        pytest.param(
            TWINS,
            {"deck": 104, "may_draw_instead": True},
            "7 42 159 533 1629 4440",
            id="twins-draws-instead",
        ),
    ],
)
def test_the_number_of_lines(small: Small, options: dict[str, Any], lines_by_depth: str) -> None:
    state = position(list(small.hands), small.pile, small.stock, **options)
    oracle = OneOhOneOracle(len(small.hands), resolve_options(ONE_OH_ONE, len(small.hands), options))
    oracle.begin(0, [text.split() for text in small.hands], small.stock.split())
    oracle.pile = small.pile.split()
    if not small.pile and oracle.must_lead:
        state = state._replace(forced=card(oracle.must_lead))
    counts = [int(word) for word in lines_by_depth.split()]
    assert lines(state, len(counts)) == counts
    assert naive_lines(oracle, len(counts)) == counts
