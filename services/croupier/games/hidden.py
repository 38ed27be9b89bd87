"""Dealing cards that a seat does not see, by chance, to the places where they may be."""

from collections.abc import Sequence
from typing import NamedTuple

from croupier.games.cards import Card
from croupier.games.interface import Choose

ATTEMPTS = 10
"""After so many deals that did not come out even, the bars are not heeded."""


class Hidden(NamedTuple):
    """A place with so many cards unseen, and the bit set of cards that surely are not there."""

    card_count: int
    barred: int = 0


def deal_hidden(unseen: Sequence[Card], places: Sequence[Hidden], choose: Choose) -> list[list[Card]]:
    """The cards of each place; raises ValueError unless there are as many cards as the places have in all."""
    if sum(place.card_count for place in places) != len(unseen):
        raise ValueError(f"{len(unseen)} cards do not fit {[place.card_count for place in places]}")
    attempt = 0
    while (dealt := _deal(unseen, _heeded(places, attempt), choose)) is None:
        attempt += 1
    return dealt


def _heeded(places: Sequence[Hidden], attempt: int) -> Sequence[Hidden]:
    return places if attempt < ATTEMPTS else [Hidden(place.card_count) for place in places]


def _deal(unseen: Sequence[Card], places: Sequence[Hidden], choose: Choose) -> list[list[Card]] | None:
    """Cards with the fewest places first; each place gets one as likely as it has room."""
    room = [place.card_count for place in places]
    dealt: list[list[Card]] = [[] for _ in places]
    ordered = sorted((sum(not place.barred >> card & 1 for place in places), choose(1 << 30), card) for card in unseen)
    for _, _, card in ordered:
        free = [0 if place.barred >> card & 1 else left for place, left in zip(places, room, strict=True)]
        if not (total := sum(free)):
            return None
        at, picked = 0, choose(total)
        while picked >= free[at]:
            picked -= free[at]
            at += 1
        dealt[at].append(card)
        room[at] -= 1
    return dealt
