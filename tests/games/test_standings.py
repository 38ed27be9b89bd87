"""Rankings, gains and hands of two packs, which several games share."""

import pytest

from croupier.games.cards import JOKER, cards
from croupier.games.hands import PACK, cards_in, hand_of, holds, taken_out, with_cards, without
from croupier.games.standings import clamped, ranked, relative_to_others


def test_the_smallest_merit_comes_first_and_equal_ones_share() -> None:
    merits = {0: 5, 1: -3, 2: 5, 3: 0}
    assert ranked(range(4), lambda seat: merits[seat]) == ((1,), (3,), (0, 2))


def test_gains_are_compared_with_the_mean_of_the_others() -> None:
    assert relative_to_others([3, 3, 3], 10) == [0.5, 0.5, 0.5]
    assert relative_to_others([6, 0, 2], 10) == pytest.approx([1.0, 0.1, 0.4])
    assert relative_to_others([100, 0], 10) == [1.0, 0.0]
    assert [clamped(value) for value in (-0.1, 0.25, 1.1)] == [0.0, 0.25, 1.0]


def test_a_hand_of_two_packs_holds_cards_twice() -> None:
    twice = cards("KH KH 4C JK")
    hand = hand_of(twice)
    assert cards_in(hand) == tuple(sorted(twice))
    assert with_cards(hand_of(cards("KH")), cards("4C KH JK")) == hand
    assert without(hand, twice[0]) == hand_of(cards("KH 4C JK"))
    assert without(without(hand, twice[0]), twice[0]) == hand_of(cards("4C JK"))
    assert taken_out(hand, cards("KH KH")) == hand_of(cards("4C JK"))
    assert taken_out(hand, cards("4C 4C")) is None
    assert [holds(hand, value) for value in (JOKER, -1, PACK, twice[0])] == [True, False, False, True]
