"""The standard pack, and following suit."""

from collections.abc import Sequence

from loadtest.judge.rules.interface import Card

SUITS = ["C", "D", "H", "S"]
RANKS = "23456789TJQKA"
PACK: list[Card] = [rank + suit for suit in SUITS for rank in RANKS]
"""By suit, each from the two to the ace, in the order of shuffles."""


def followers(trick: Sequence[tuple[Card, int]]) -> list[tuple[Card, int]]:
    """Return the cards of a trick that follow suit."""
    return [(card, seat) for card, seat in trick if card[1] == trick[0][0][1]]


def revokes(card: Card, hand: Sequence[Card], trick: Sequence[tuple[Card, int]]) -> bool:
    """Return whether a card of a hand does not follow suit though the hand could."""
    led = trick[0][0][1] if trick else card[1]
    return card[1] != led and any(held[1] == led for held in hand)
