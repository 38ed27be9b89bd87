"""Hands out of one or two packs as bit sets: bit c says that card c is held, bit 52 + c that its twin is held too."""

from collections.abc import Iterable

from croupier.games.cards import Card, cards_of_mask

KINDS = (1 << 52) - 1
"""The part of a hand that tells which cards are in it, whether once or twice."""


def with_cards(hand: int, cards: Iterable[Card]) -> int:
    """The hand with these cards added; nobody ever holds three of a kind."""
    for value in cards:
        hand |= 1 << (value + 52 if hand >> value & 1 else value)
    return hand


def without_card(hand: int, value: Card) -> int:
    """The hand with one copy of a card that it holds taken away."""
    twin = 1 << value + 52
    return hand ^ (twin if hand & twin else 1 << value)


def cards_in(hand: int) -> tuple[Card, ...]:
    """The cards ascending, twins twice."""
    once = cards_of_mask(hand & KINDS)
    return once if hand <= KINDS else tuple(sorted(once + cards_of_mask(hand >> 52)))
