"""How a game of Thulla begins: the deal, its check, the first leader and what becomes known."""

from collections.abc import Iterator

from croupier.games.cards import CARD_OF_NOTATION, Card
from croupier.games.facts import CardsMoved, Fact, MoveReason, Seat, all_but, only
from croupier.games.interface import CardsShuffled, IllegalAction
from croupier.games.thulla.table import Table

ACE_OF_SPADES = CARD_OF_NOTATION["AS"]

Hands = tuple[tuple[Card, ...], ...]
"""The cards of each seat in the order in which they were dealt."""


def dealt(table: Table, round_number: int, event: CardsShuffled) -> Hands:
    """Deal one card at a time clockwise from the seat left of the dealer (THU-DEAL-2); raises IllegalAction."""
    if tuple(sorted(event.cards)) != table.deck:
        raise IllegalAction(
            "THU-DECK-2", f"a deal for {table.seats} seats has each of its {len(table.deck)} cards once"
        )
    if len(event.drawn) != len(table.draw_bounds) or any(not 0 <= seat < table.seats for seat in event.drawn):
        raise IllegalAction("THU-START-3", "a deal draws one seat with start=random, and nothing otherwise")
    first = table.dealer(round_number) + 1
    return tuple(event.cards[(seat - first) % table.seats :: table.seats] for seat in range(table.seats))


def starter(table: Table, round_number: int, hands: Hands, drawn: tuple[int, ...]) -> Seat:
    """Who leads the first trick (THU-START-1, -3, -4, -5)."""
    match table.start:
        case "ace_of_spades":
            return next(seat for seat, hand in enumerate(hands) if ACE_OF_SPADES in hand)
        case "random":
            return drawn[0]
        case "dealer":
            return table.dealer(round_number)
        case _:
            return (table.dealer(round_number) + 1) % table.seats


def facts(table: Table, hands: Hands) -> Iterator[Fact]:
    """Everybody learns the removed cards and the counts, each seat its own hand (THU-VIS-1)."""
    if table.removed:
        yield CardsMoved(None, "removed", table.removed, len(table.removed), MoveReason.REMOVE)
    for seat, hand in enumerate(hands):
        yield CardsMoved(None, seat, tuple(sorted(hand)), len(hand), MoveReason.DEAL, only(seat))
        yield CardsMoved(None, seat, (), len(hand), MoveReason.DEAL, all_but(seat))
