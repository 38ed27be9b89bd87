"""Melds and deadwood for the judge's rules of Gin Rummy: its rules page up to the options."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from croupier_loadtest.judge.rules.cards import SUITS
from croupier_loadtest.judge.rules.interface import Card

ASCENDING = "A23456789TJQK"  # GIN-CARDS-1
COSTS = {**{rank: int(rank) for rank in "23456789"}, "A": 1, "T": 10, "J": 10, "Q": 10, "K": 10}  # GIN-CARDS-2


def cost(cards: Sequence[Card]) -> int:
    """Return the points of cards."""
    return sum(COSTS[card[0]] for card in cards)


def is_set(cards: Sequence[Card]) -> bool:
    """Return whether different cards are a set: GIN-MELD-1."""
    return 3 <= len(cards) <= 4 and all(card[0] == cards[0][0] for card in cards)


def is_run(cards: Sequence[Card]) -> bool:
    """Return whether different cards are a run: GIN-MELD-2."""
    ranks = "".join(sorted((card[0] for card in cards), key=ASCENDING.index))
    return len(cards) >= 3 and all(card[1] == cards[0][1] for card in cards) and ranks in ASCENDING


def melds_of(hand: Sequence[Card]) -> Iterator[tuple[str, list[Card]]]:
    """Yield every set and every run of cards of a hand, with its name."""
    for rank in ASCENDING:
        alike = [card for card in hand if card[0] == rank]
        for size in (3, 4):
            yield from (("set", list(cards)) for cards in combinations(alike, size))
    for suit in SUITS:
        row = sorted((card for card in hand if card[1] == suit), key=lambda card: ASCENDING.index(card[0]))
        for first in range(len(row)):
            for end in range(first + 3, len(row) + 1):
                if is_run(row[first:end]):
                    yield "run", row[first:end]


def least(hand: Sequence[Card]) -> int:
    """Return the least deadwood of a hand: GIN-MELD-3."""
    return _least(hand, [cards for _, cards in melds_of(hand)])


def _least(hand: Sequence[Card], melds: list[list[Card]]) -> int:
    """Return the same with melds out of these only: the first one is laid, or it is not."""
    possible = [cards for cards in melds if all(card in hand for card in cards)]
    if not possible:
        return cost(hand)
    first, others = possible[0], possible[1:]
    return min(_least([card for card in hand if card not in first], others), _least(hand, others))
