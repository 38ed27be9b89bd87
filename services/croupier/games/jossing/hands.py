"""Hands out of one or two packs as integers: bit c stands for card c, bit 52 + c for its second copy."""

from collections.abc import Iterable
from typing import TypeAlias

from croupier.games.cards import Card, cards_of_mask

Hand: TypeAlias = int

KINDS: Hand = (1 << 52) - 1
"""All different cards, each once."""
SUIT_OF: tuple[Hand, ...] = tuple((0x1FFF | 0x1FFF << 52) << 13 * (value // 13) for value in range(52))
"""For each card the cards of its suit, twice."""
HIGHER: tuple[Hand, ...] = tuple(
    SUIT_OF[value] & ~((2 << value) - 1) & ~((2 << value) - 1 << 52) for value in range(52)
)
"""For each card the higher ones of its suit, twice."""


def hand_of(cards: Iterable[Card]) -> Hand:
    """The hand that holds these cards, each at most twice."""
    hand = 0
    for value in cards:
        hand |= 1 << (value + 52 if hand >> value & 1 else value)
    return hand


def cards_of(hand: Hand) -> tuple[Card, ...]:
    """The cards of a hand, ascending."""
    if hand <= KINDS:
        return cards_of_mask(hand)
    return tuple(sorted([value % 52 for value in cards_of_mask(hand)]))


def without(hand: Hand, value: Card) -> Hand:
    """The hand after one copy of a card that it holds is gone."""
    return hand ^ (1 << (value + 52 if hand >> (value + 52) & 1 else value))


def left_of(decks: int, gone: Iterable[Card]) -> list[Card]:
    """The cards of so many packs after these are gone, ascending."""
    left = [decks] * 52
    for value in gone:
        left[value] -= 1
    return [value for value in range(52) for _ in range(left[value])]
