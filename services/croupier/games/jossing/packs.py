"""The cards of one or two packs: suits and higher cards as parts of hands, and what is left of the packs."""

from collections.abc import Iterable
from typing import TypeAlias

from croupier.games.cards import Card
from croupier.games.hands import PACK

Hand: TypeAlias = int

SUIT_OF: tuple[Hand, ...] = tuple((0x1FFF | 0x1FFF << PACK) << 13 * (value // 13) for value in range(52))
"""For each card the cards of its suit, twice."""
HIGHER: tuple[Hand, ...] = tuple(
    SUIT_OF[value] & ~((2 << value) - 1) & ~((2 << value) - 1 << PACK) for value in range(52)
)
"""For each card the higher ones of its suit, twice."""


def cards_left(decks: int, gone: Iterable[Card]) -> list[Card]:
    """Return the cards of so many packs after these are gone, ascending."""
    left = [decks] * 52
    for value in gone:
        left[value] -= 1
    return [value for value in range(52) for _ in range(left[value])]
