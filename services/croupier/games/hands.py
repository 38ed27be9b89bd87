"""Hands out of one or two packs as bit sets: bit c stands for card c, bit c + 53 for a second one of the same.

The bit of a second card is set only together with the bit of the first, so that equal hands are equal numbers.
"""

from collections.abc import Iterable

from croupier.games.cards import NOTATION, Card, cards_of_mask

PACK = len(NOTATION)
ONCE = (1 << PACK) - 1
"""The bits of the cards that a hand holds at all; all that can be played are among these."""


SUIT_OF: tuple[int, ...] = tuple((0x1FFF | 0x1FFF << PACK) << 13 * (value // 13) for value in range(52))
"""For each card but the joker the cards of its suit, twice."""


def hand_of(cards: Iterable[Card]) -> int:
    """Return the hand with these cards, none of them more than twice."""
    return with_cards(0, cards)


def with_cards(hand: int, cards: Iterable[Card]) -> int:
    """Return the hand with these cards added, none of them then more than twice."""
    for value in cards:
        bit = 1 << value
        hand |= bit << PACK if hand & bit else bit
    return hand


def cards_in(hand: int) -> tuple[Card, ...]:
    """Return the cards of a hand, ascending; a card that is held twice comes twice."""
    if hand <= ONCE:
        return cards_of_mask(hand)
    return tuple(sorted(cards_of_mask(hand & ONCE) + cards_of_mask(hand >> PACK)))


def holds(hand: int, value: Card) -> bool:
    """Return whether a card, which may be any number, is in the hand."""
    return 0 <= value < PACK and bool(hand >> value & 1)


def without(hand: int, value: Card) -> int:
    """Return the hand after one card that it holds has left it."""
    second = 1 << value + PACK
    return hand ^ (second if hand & second else 1 << value)


def taken_out(hand: int, cards: Iterable[Card]) -> int | None:
    """Return the hand after cards have left it; None if it does not hold them all, each as often as it is named."""
    for value in cards:
        if not holds(hand, value):
            return None
        hand = without(hand, value)
    return hand


def cards_left(deck: Iterable[Card], gone: Iterable[Card]) -> list[Card]:
    """Return the cards of a deck after these are gone, in its order, each as often as it is left."""
    missing = [0] * PACK
    for value in gone:
        missing[value] += 1
    left = []
    for value in deck:
        if missing[value]:
            missing[value] -= 1
        else:
            left.append(value)
    return left
