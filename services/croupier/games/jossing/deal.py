"""How a section of Jøssing begins: the deal, its check and what becomes known."""

from collections.abc import Iterator
from typing import NamedTuple

from croupier.games.cards import Card, Suit
from croupier.games.facts import CardsMoved, ContractChanged, Fact, MoveReason, RoundStarted, Seat, all_but, only
from croupier.games.interface import CardsShuffled, IllegalAction
from croupier.games.jossing.table import Table

Hands = tuple[tuple[Card, ...], ...]
"""The cards of each seat in the order in which they were dealt."""


class Section(NamedTuple):
    """What is fixed for a section: its number from 1, the cards per seat, the dealer and the indicator."""

    number: int
    size: int
    dealer: Seat
    indicator: Card

    @property
    def trump(self) -> Suit:
        """The indicator's suit (JOS-DEAL-3)."""
        return self.indicator // 13

    @classmethod
    def of(cls, table: Table, number: int, indicator: Card) -> "Section":
        """A section of a table by its number."""
        return cls(number, table.size(number), table.dealer(number), indicator)


def dealt(table: Table, number: int, event: CardsShuffled) -> tuple[Section, Hands]:
    """Deal one card at a time clockwise from the dealer's left (JOS-DEAL-2, JOS-DEAL-3); raises IllegalAction."""
    if tuple(sorted(event.cards)) != table.deck:
        packs = "a pack of 52 cards" if table.decks == 1 else "two packs of 52 cards"
        raise IllegalAction("JOS-DECK-1", f"a deal is from {packs}, all of them and no other")
    if event.drawn:
        raise IllegalAction("JOS-DEAL-2", "a deal draws nothing beside the cards")
    seats = table.seats
    last = seats * table.size(number)
    first = table.dealer(number) + 1
    hands = tuple([event.cards[(seat - first) % seats : last : seats] for seat in range(seats)])
    return Section.of(table, number, event.cards[last]), hands


def facts(section: Section, hands: Hands) -> Iterator[Fact]:
    """Everybody learns the section, the indicator and the counts, each seat its own hand."""
    yield RoundStarted(section.number, section.dealer)
    for seat, hand in enumerate(hands):
        yield CardsMoved(None, seat, tuple(sorted(hand)), section.size, MoveReason.DEAL, only(seat))
        yield CardsMoved(None, seat, (), section.size, MoveReason.DEAL, all_but(seat))
    yield CardsMoved(None, "indicator", (section.indicator,), 1, MoveReason.DEAL)
    yield ContractChanged(trump=section.trump)
