"""The deal of Solo: its check, the hands that follow from it and what becomes known."""

from collections.abc import Iterator

from croupier.games.cards import Card, cards_of_mask, mask_of
from croupier.games.facts import CardOrder, CardsMoved, Fact, MoveReason, Seat, all_but, only
from croupier.games.interface import CardsShuffled, IllegalAction
from croupier.games.solo.deck import DECK, ORDER_WITHOUT_TRUMP
from croupier.games.solo.table import SEATS, Table


def check(event: CardsShuffled, draws_dealer: bool) -> None:
    """Raises IllegalAction unless it is the whole deck and, for the first deal alone, a dealer (SOLO-DEAL-3)."""
    if tuple(sorted(event.cards)) != DECK:
        raise IllegalAction("SOLO-DEAL-3", "a deal has each of the 32 cards from seven to ace once")
    if len(event.drawn) != draws_dealer or any(not 0 <= seat < SEATS for seat in event.drawn):
        raise IllegalAction("SOLO-DEAL-1", "the first deal of a game draws a dealer out of 4 seats, no other draws any")


def hands(table: Table, dealer: Seat, cards: tuple[Card, ...]) -> tuple[int, ...]:
    """Deal clockwise from a neighbour of the dealer (SOLO-DEAL-2); the hands as bit sets by seat."""
    first = dealer + 3 if table.deals_right_first else dealer + 1
    dealt = [mask_of([cards[at] for at in places]) for places in table.places]
    return tuple([dealt[(seat - first) % SEATS] for seat in range(SEATS)])


def facts(dealt: tuple[int, ...]) -> Iterator[Fact]:
    """Everybody learns the counts, each seat its own hand."""
    for seat, hand in enumerate(dealt):
        yield CardsMoved(None, seat, cards_of_mask(hand), 8, MoveReason.DEAL, only(seat))
        yield _UNSEEN[seat]
    yield _SORTED


_UNSEEN = tuple(CardsMoved(None, seat, (), 8, MoveReason.DEAL, all_but(seat)) for seat in range(SEATS))
_SORTED = CardOrder(ORDER_WITHOUT_TRUMP)
