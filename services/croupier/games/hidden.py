"""Random deals of the cards that a seat does not see to the places where they may be."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from croupier.games.cards import Card
from croupier.games.hands import cards_left
from croupier.games.interface import Observation, RandomSource

ATTEMPTS = 10
"""After so many deals that did not come out even, bars are ignored."""


class HiddenPlace(NamedTuple):
    """A place with so many unseen cards, and the bit set of cards that are certainly not there."""

    card_count: int
    barred: int = 0


def deal_hidden(unseen: Sequence[Card], places: Sequence[HiddenPlace], randrange: RandomSource) -> list[list[Card]]:
    """Return the cards of each place; raises ValueError unless there are as many cards as the places hold in all."""
    if sum(place.card_count for place in places) != len(unseen):
        raise ValueError(f"{len(unseen)} cards do not fit {[place.card_count for place in places]}")
    attempts = 0
    while (dealt := _deal(unseen, places, randrange)) is None:
        attempts += 1
        if attempts == ATTEMPTS:
            places = [HiddenPlace(place.card_count) for place in places]
    return dealt


def deal_around(
    observation: Observation,
    deck: Iterable[Card],
    barred: Sequence[int],
    randrange: RandomSource,
    barred_beside: int = 0,
) -> tuple[list[Sequence[Card]], list[Card]]:
    """Return the hands of a possible table, with all their cards that the seat knows, and the rest that is in none.

    `barred` has by seat the bit set of cards that it surely does not hold, `barred_beside` those in no hand.
    """
    me, seats = observation.seat, observation.view.seats
    known = [held.cards or held.known_cards for held in seats]
    others = [card for seat, cards in enumerate(known) if seat != me for card in cards]
    unseen = cards_left(deck, (*observation.view.cards_seen(me), *others))
    counts = [held.card_count - len(cards) for held, cards in zip(seats, known, strict=True)]
    places = [HiddenPlace(count, barred[seat]) for seat, count in enumerate(counts)]
    beside = HiddenPlace(len(unseen) - sum(place.card_count for place in places), barred_beside)
    *dealt, rest = deal_hidden(unseen, [*places, beside], randrange)
    return [(*cards, *hidden) for cards, hidden in zip(known, dealt, strict=True)], rest


def _deal(unseen: Sequence[Card], places: Sequence[HiddenPlace], randrange: RandomSource) -> list[list[Card]] | None:
    """Deal cards with the fewest places first, with a probability in proportion to the room of each place."""
    room = [place.card_count for place in places]
    dealt: list[list[Card]] = [[] for _ in places]
    ordered = sorted(
        (sum(not place.barred >> card & 1 for place in places), randrange(1 << 30), card) for card in unseen
    )
    for _, _, card in ordered:
        free = [0 if place.barred >> card & 1 else left for place, left in zip(places, room, strict=True)]
        if not (total := sum(free)):
            return None
        at, picked = 0, randrange(total)
        while picked >= free[at]:
            picked -= free[at]
            at += 1
        dealt[at].append(card)
        room[at] -= 1
    return dealt
