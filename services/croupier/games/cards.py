"""Cards as small integers: suit by suit (C, D, H, S), rank 2 to ace, then the joker; and their notation."""

from collections.abc import Iterable
from typing import TypeAlias

Card: TypeAlias = int
Suit: TypeAlias = int

RANKS = "23456789TJQKA"
SUITS = "CDHS"
SUIT_NAMES = ("clubs", "diamonds", "hearts", "spades")
JOKER: Card = 52
NOTATION: tuple[str, ...] = (*(rank + suit for suit in SUITS for rank in RANKS), "JK")
CARD_OF_NOTATION: dict[str, Card] = {text: card for card, text in enumerate(NOTATION)}
STANDARD_DECK: tuple[Card, ...] = tuple(range(52))


def card(text: str) -> Card:
    """Read a card such as "5H" or "JK"; raises ValueError for anything else."""
    try:
        return CARD_OF_NOTATION[text]
    except (KeyError, TypeError):
        raise ValueError(
            f"{text!r} is not a card: write rank and suit such as 5H, TC, AS, or JK for the joker"
        ) from None


def cards(text: str) -> tuple[Card, ...]:
    """Read cards separated by blanks, for example "5H KC AS"."""
    return tuple(card(word) for word in text.split())


def notation(values: Iterable[Card]) -> list[str]:
    """Write cards in notation, in the order given."""
    return [NOTATION[value] for value in values]


def suit_of(value: Card) -> Suit:
    """The suit, 0 to 3 for C, D, H, S; the joker has none and gives 4."""
    return value // 13


def strength_of(value: Card) -> int:
    """The rank by number: 2 to 14, ace high."""
    return value % 13 + 2


def mask_of(values: Iterable[Card]) -> int:
    """A set of different cards as a bit set: bit c stands for card c."""
    mask = 0
    for value in values:
        mask |= 1 << value
    return mask


def cards_of_mask(mask: int) -> tuple[Card, ...]:
    """The cards of a bit set, ascending."""
    found = []
    while mask:
        lowest = mask & -mask
        found.append(lowest.bit_length() - 1)
        mask ^= lowest
    return tuple(found)
