"""The standard pack, following suit, piles that lie open, and groups of equal seats."""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

from croupier_loadtest.judge.rules.interface import Card, Pile

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


def grouped(seats: Iterable[int], merit: Callable[[int], Any]) -> list[list[int]]:
    """Return seats in groups of equal merit, those with the least first."""
    return [list(group) for _, group in groupby(sorted(seats, key=merit), key=merit)]


def open_piles(**piles: Sequence[tuple[Card, int | None]]) -> dict[str, Pile]:
    """Open piles, without empty ones."""
    return {name: Pile(list(cards), None) for name, cards in piles.items() if cards}
