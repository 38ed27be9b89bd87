"""How a round of 101 begins: the deal, its check, its record and what becomes known."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from croupier.games.cards import Card, notation
from croupier.games.facts import CardsMoved, Fact, MoveReason, Seat, all_but, only
from croupier.games.interface import CardsShuffled, IllegalAction
from croupier.games.one_oh_one.table import Table

HAND_SIZE = 5


class Dealt(NamedTuple):
    """The starter, each seat's cards in the order in which it got them, and the stock, next card first."""

    starter: Seat
    hands: tuple[tuple[Card, ...], ...]
    stock: tuple[Card, ...]


def draw_bounds(table: Table, first_round: bool) -> tuple[int, ...]:
    """The first round draws its starter (101-DEAL-3)."""
    return (table.seats,) if first_round else ()


def dealt(table: Table, circle: tuple[Seat, ...], event: CardsShuffled, first_round: bool) -> Dealt:
    """Deal singly, five times round, to the seats of a circle, which begins with the starter of a later round.

    Raises IllegalAction unless the shuffle has the whole deck and the numbers that are due (101-DEAL-2, 101-DEAL-3).
    """
    if tuple(sorted(event.cards)) != table.deck:
        raise IllegalAction("101-DEAL-2", f"a deal has exactly the {len(table.deck)} cards of the deck")
    bounds = draw_bounds(table, first_round)
    if len(event.drawn) != len(bounds) or any(not 0 <= seat < table.seats for seat in event.drawn):
        raise IllegalAction("101-DEAL-3", "the first deal draws one seat of the table, and later deals draw nothing")
    if first_round:
        circle = (*range(event.drawn[0], table.seats), *range(event.drawn[0]))
    dealing = HAND_SIZE * len(circle)
    hands: list[tuple[Card, ...]] = [()] * table.seats
    for turn, seat in enumerate(circle):
        hands[seat] = event.cards[turn : dealing : len(circle)]
    return Dealt(circle[0], tuple(hands), event.cards[dealing:])


def record(deal: Dealt) -> dict[str, Any]:
    """The deal as a replay has it (101-DEAL-1)."""
    hands = [notation(hand) for hand in deal.hands]
    return {"type": "deal", "starter": deal.starter, "hands": hands, "stock": notation(deal.stock)}


def facts(deal: Dealt) -> Iterator[Fact]:
    """Each seat learns its own hand, everybody the counts (101-VIS-1, 101-VIS-2)."""
    for seat, hand in enumerate(deal.hands):
        if hand:
            yield CardsMoved(None, seat, tuple(sorted(hand)), len(hand), MoveReason.DEAL, only(seat))
            yield CardsMoved(None, seat, (), len(hand), MoveReason.DEAL, all_but(seat))
    yield CardsMoved(None, "stock", (), len(deal.stock), MoveReason.DEAL)
