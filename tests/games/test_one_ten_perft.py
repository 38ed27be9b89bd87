"""Perft: how many lines of play there are from small positions of 110, counted twice and pinned."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest

from croupier.games.actions import Action, Keep, Swap
from croupier.games.interface import CardChoice, CardsShuffled, SeatActed, resolve_options
from croupier.games.one_ten import OneTenState
from tests.games.oracle_one_ten import OneTenOracle
from tests.games.positions_one_ten import ONE_TEN, acts, due, new, position, shuffled

NAIVE_LINES = 2500
"""Depths with more lines are pinned, but not counted the naive way, which is slow."""
TRUMP_LED = {"force_out": "trump_led"}
TWO_PACKS = {"decks": 2}
HOLDS = {"dealer_match": "holds"}
LATE = {"swap_timing": "after_trump"}


def expanded(choice: CardChoice) -> Iterator[Action]:
    """Every way to choose; the cards are all different."""
    for count in range(choice.fewest, choice.most + 1):
        for cards in combinations(choice.cards, count):
            if choice.verb is Swap:
                yield Swap(cards)
            else:
                yield from (Keep(cards, suit) for suit in choice.suits)


def possible(state: OneTenState) -> Iterator[SeatActed]:
    """All that any seat may do now."""
    for seat in state.to_act:
        legal = state.legal_actions(seat)
        yield from (SeatActed(seat, action) for action in legal.actions)
        yield from (SeatActed(seat, action) for choice in legal.choices for action in expanded(choice))


def lines(state: OneTenState, depth: int) -> int:
    """Lines of `depth` actions, or fewer if the round ends before."""
    if depth == 0 or not state.to_act:
        return 1
    return sum(lines(state.apply(event)[0], depth - 1) for event in possible(state))


def naive_possible(oracle: OneTenOracle) -> Iterator[tuple[int, dict[str, Any]]]:
    """The same by the naive reading of the rules."""
    for seat in oracle.acting:
        if oracle.phase != "kitty":
            yield from ((seat, action) for action in oracle.legal(seat))
        elif seat == oracle.bidder:
            for kept in combinations(oracle.hands[seat], oracle.size):
                yield from ((seat, {"type": "keep", "cards": list(kept), "trump": suit}) for suit in "CDHS")
        else:
            for count in range(min(oracle.swap_limit, len(oracle.hands[seat])) + 1):
                for given in combinations(oracle.hands[seat], count):
                    yield seat, {"type": "swap", "cards": list(given)}


def naive_lines(oracle: OneTenOracle, depth: int) -> int:
    """The same count by the naive reading of the rules."""
    if depth == 0 or not oracle.acting:
        return 1
    total = 0
    for seat, action in naive_possible(oracle):
        after = deepcopy(oracle)
        after.action(seat, action)
        total += naive_lines(after, depth - 1)
    return total


def both_agree(state: OneTenState, oracle: OneTenOracle, counts: list[int]) -> None:
    """Every depth has its number, by the product and by the naive reading."""
    assert [lines(state, depth) for depth in range(1, len(counts) + 1)] == counts
    few = [count for count in counts if count <= NAIVE_LINES]
    assert [naive_lines(oracle, depth) for depth in range(1, len(few) + 1)] == few


@pytest.mark.parametrize(
    ("seats", "options", "counts"),
    [
        pytest.param(2, {}, [5, 18, 22, 27, 27], id="two"),
        pytest.param(3, {}, [5, 16, 48, 61, 74, 75, 75], id="three"),
        pytest.param(3, HOLDS, [5, 16, 48, 77, 118, 139, 155, 159, 161, 161], id="three-holds"),
        pytest.param(4, {"bid_ladder": "round_max", "hand_size": "10"}, [10, 56, 230, 933, 2067], id="four-round-max"),
    ],
)
def test_the_number_of_biddings(seats: int, options: dict[str, Any], counts: list[int]) -> None:
    start = new(seats, **options)
    event = CardsShuffled(due(start).cards, (0,))
    oracle = OneTenOracle(seats, resolve_options(ONE_TEN, seats, options))
    oracle.table_event(start.event_record(event))
    depths = range(1, len(counts) + 1)
    dealt = start.apply(event)[0]
    assert [biddings(dealt, depth) for depth in depths] == counts
    assert [naive_biddings(oracle, depth) for depth in depths] == counts


def biddings(state: OneTenState, depth: int) -> int:
    """Lines of `depth` calls, or fewer if the bidding ends before."""
    if depth == 0 or state.phase != "bidding":
        return 1
    return sum(biddings(state.apply(event)[0], depth - 1) for event in possible(state))


def naive_biddings(oracle: OneTenOracle, depth: int) -> int:
    """The same count by the naive reading of the rules."""
    if depth == 0 or oracle.phase != "bidding":
        return 1
    total = 0
    for seat, action in naive_possible(oracle):
        after = deepcopy(oracle)
        after.action(seat, action)
        total += naive_biddings(after, depth - 1)
    return total


RENEGES = ("5S JK 2S KC 3H", "JS AH 3S 2C QH")
PLAIN_SUITS = ("KC 2C QD 3D", "AC 4C 5D 2S", "TC JK AD KD")
DOUBLES = ("5S JS 2S 2S KC", "5S JS AH KC 2C")
MANY = ("5H 2D KC 2H", "JH 3D KS 9H", "JK 4D QC KH", "AH 5D 2C 8H")


@pytest.mark.parametrize(
    ("hands", "trump", "options", "counts"),
    [
        pytest.param(RENEGES, "S", {}, [5, 14, 56, 159, 477, 1067, 2134, 3675, 3675], id="reneges"),
        pytest.param(RENEGES, "S", TRUMP_LED, [5, 17, 68, 210, 630, 1530, 3060, 5504], id="reneges-trump-led"),
        pytest.param(RENEGES, "D", {}, [5, 11, 44, 104, 312, 628, 1256, 2014, 2014], id="two-reneges"),
        pytest.param(PLAIN_SUITS, "S", {}, [4, 10, 24, 72, 143, 283, 566, 888, 1420], id="plain-suits"),
        pytest.param(DOUBLES, "S", TWO_PACKS, [4, 13, 47, 136, 373, 896, 1714, 3079], id="two-packs"),
        pytest.param(MANY, "H", {}, [4, 10, 21, 42, 126, 277, 637, 1345, 2690, 4588, 7704, 12696], id="four"),
        pytest.param(MANY, "H", TRUMP_LED, [4, 11, 29, 79, 237, 562, 1407, 3645, 7290, 12998], id="four-trump-led"),
    ],
)
def test_the_number_of_lines_of_tricks(
    hands: tuple[str, ...], trump: str, options: dict[str, Any], counts: list[int]
) -> None:
    oracle = OneTenOracle(len(hands), resolve_options(ONE_TEN, len(hands), options))
    oracle.hands = [text.split() for text in hands]
    oracle.size, oracle.bidder, oracle.bid, oracle.trump = len(oracle.hands[0]), 0, 15, trump
    oracle.start_tricks(0)
    both_agree(position(hands, trump, size=oracle.size, **options), oracle, counts)


@pytest.mark.parametrize(
    ("options", "counts"),
    [
        pytest.param({}, [88, 672, 1344, 2280, 2280], id="during"),
        pytest.param(LATE, [84, 336, 672, 1140, 1140], id="after-trump"),
    ],
)
def test_the_number_of_lines_of_a_small_round(options: dict[str, Any], counts: list[int]) -> None:
    """Two seats with two cards each, from the end of the bidding; the limit of three is beyond their hands."""
    start = new(2, **options)
    start = start._replace(table=replace(start.table, hand_size=2))
    event = CardsShuffled(shuffled(start.table, 0, ("5S KC", "JS AH"), "2C 3D 4H JK QD", "KH 2S"), (0,))
    oracle = OneTenOracle(2, resolve_options(ONE_TEN, 2, options))
    oracle.size = 2
    oracle.table_event(start.event_record(event))
    oracle.action(1, {"type": "bid", "amount": 15})
    oracle.action(0, {"type": "pass"})
    both_agree(acts(start.apply(event)[0], "1=15 0=pass"), oracle, counts)
