"""Values and phrases: what a game shows beside cards and calls, so that a client can show it without knowing the game.

A frozen class stands for each kind, so that values of different kinds are never equal.
"""

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from croupier.games.cards import Card, Suit


@dataclass(frozen=True, slots=True)
class NumberValue:
    """A number."""

    number: int


@dataclass(frozen=True, slots=True)
class WordValue:
    """A word of the game, of the kind VALUE."""

    word: str


@dataclass(frozen=True, slots=True)
class SeatValue:
    """A seat, from 0."""

    seat: int


@dataclass(frozen=True, slots=True)
class SeatsValue:
    """Seats, in an order that the game chooses; it may be empty."""

    seats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SuitValue:
    """A suit; NO_TRUMP stands for none."""

    suit: Suit


@dataclass(frozen=True, slots=True)
class CardsValue:
    """Cards, in an order that the game chooses; it may be empty."""

    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class PointsValue:
    """A number for each seat, such as points or tricks."""

    points: tuple[int, ...]


Value: TypeAlias = NumberValue | WordValue | SeatValue | SeatsValue | SuitValue | CardsValue | PointsValue


class Phrase(NamedTuple):
    """A word of the kind PHRASE with its parameters by name; its text has a placeholder, such as {bid}, for each."""

    word: str
    parameters: tuple[tuple[str, Value], ...] = ()


Phrases: TypeAlias = tuple[Phrase, ...]
"""Phrases in their order, which a client joins by commas."""


def phrase(word: str, **parameters: Value) -> Phrase:
    """Return a phrase with these parameters, in their order."""
    return Phrase(word, tuple(parameters.items()))
