"""Cards as small integers: suit by suit (C, D, H, S), rank 2 to ace, then the joker; and their notation.

A game with a deck of its own numbers its cards as in OWN_CARDS and describes each by a CardFace.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

Card: TypeAlias = int
Suit: TypeAlias = int
Hands: TypeAlias = tuple[tuple[Card, ...], ...]
"""The cards of each seat in the order in which they were dealt."""

RANKS = "23456789TJQKA"
SUITS = "CDHS"
JOKER: Card = 52
NOTATION: tuple[str, ...] = (*(rank + suit for suit in SUITS for rank in RANKS), "JK")
CARD_OF_NOTATION: dict[str, Card] = {text: card for card, text in enumerate(NOTATION)}
STANDARD_DECK: tuple[Card, ...] = tuple(range(52))
OWN_CARDS = range(63, 255)
"""The numbers that a game's own deck may use."""
MAX_NOTATION_CHARACTERS = 4


@dataclass(frozen=True, slots=True)
class CardFace:
    """A card of a game's own deck: its number, its notation, its suit and rank as words, and a label for players."""

    card: Card
    notation: str
    suit: str
    rank: str
    label: str


@dataclass(frozen=True, slots=True)
class CardNames:
    """The notation of the cards of a game."""

    texts: Mapping[Card, str]
    cards: Mapping[str, Card]

    def text(self, value: Card) -> str:
        """Write a card; raises ValueError for one that the game does not have."""
        text = self.texts.get(value)
        if text is None:
            raise ValueError(f"invalid card number {value}: expected a card of the standard deck or of the game's own")
        return text

    def card(self, text: object) -> Card:
        """Read a card; raises ValueError for anything else."""
        value = self.cards.get(text) if isinstance(text, str) else None
        if value is None:
            raise ValueError(f"invalid card {text!r}: expected rank and suit such as 5H, TC, AS, or JK for the joker")
        return value


@lru_cache(maxsize=16)
def card_names(deck: tuple[CardFace, ...]) -> CardNames:
    """Return the notation of the standard cards and of a game's own deck.

    Raises ValueError for a number that is not in OWN_CARDS, and for a notation that is too long or taken.
    """
    texts, cards = dict(enumerate(NOTATION)), dict(CARD_OF_NOTATION)
    for face in deck:
        if face.card not in OWN_CARDS or face.card in texts:
            expected = f"a new number from {OWN_CARDS[0]} to {OWN_CARDS[-1]}"
            raise ValueError(f"invalid card number {face.card} of {face.notation!r}: expected {expected}")
        is_one_word = face.notation.split() == [face.notation] and face.notation.isprintable()
        if not is_one_word or len(face.notation) > MAX_NOTATION_CHARACTERS or face.notation in cards:
            expected = f"1 to {MAX_NOTATION_CHARACTERS} characters that no other card has"
            raise ValueError(f"invalid notation {face.notation!r}: expected {expected}")
        texts[face.card], cards[face.notation] = face.notation, face.card
    return CardNames(texts, cards)


STANDARD_NAMES = card_names(())
"""The notation of a game without a deck of its own."""


def card(text: str) -> Card:
    """Read a card such as "5H" or "JK"; raises ValueError for anything else."""
    return STANDARD_NAMES.card(text)


def cards(text: str) -> tuple[Card, ...]:
    """Read cards separated by blanks, for example "5H KC AS"."""
    return tuple(card(word) for word in text.split())


def notation(values: Iterable[Card]) -> list[str]:
    """Write cards in notation, in the order given."""
    return [NOTATION[value] for value in values]


def dealt_singly(order: tuple[Card, ...], seats: int, dealer: int) -> Hands:
    """Return the hands after all these cards were dealt one at a time, clockwise from the dealer's left."""
    return tuple([order[(seat - dealer - 1) % seats :: seats] for seat in range(seats)])


def suit_of(value: Card) -> Suit:
    """Return the suit, 0 to 3 for C, D, H, S; 4 for the joker, which has none."""
    return value // 13


def strength_of(value: Card) -> int:
    """Return the rank by number: 2 to 14, ace high."""
    return value % 13 + 2


def mask_of(values: Iterable[Card]) -> int:
    """Return different cards as a bit set: bit c stands for card c."""
    mask = 0
    for value in values:
        mask |= 1 << value
    return mask


def cards_of_mask(mask: int) -> tuple[Card, ...]:
    """Return the cards of a bit set, ascending."""
    found = []
    while mask:
        highest = mask.bit_length() - 1
        found.append(highest)
        mask ^= 1 << highest
    found.reverse()
    return tuple(found)
