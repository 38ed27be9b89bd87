"""The deal of a section of Jøssing: its check, and the facts that it makes known."""

from collections.abc import Iterator
from typing import Any

from croupier.games.cards import NOTATION, Card, notation
from croupier.games.facts import (
    CardsMoved,
    Contract,
    ContractChanged,
    Fact,
    MarkChanged,
    MoveReason,
    RoundStarted,
    TurnChanged,
    moves_to_hand,
)
from croupier.games.hands import hand_of
from croupier.games.interface import CardsShuffled
from croupier.games.jossing.state import JossingState, Section
from croupier.games.jossing.view import marks

Hands = tuple[tuple[Card, ...], ...]
"""The cards of each seat in the order in which they were dealt."""


def deal(before: JossingState, event: CardsShuffled) -> tuple[JossingState, tuple[Fact, ...]]:
    """Return the state after a deal, and its facts."""
    (section, dealt), options = _dealt(before, event), before.options
    others = tuple([seat for seat in range(options.seats) if seat != section.dealer])
    bidders = others if options.hook else tuple(range(options.seats))
    hands, none = tuple(map(hand_of, dealt)), (0,) * options.seats
    state = JossingState(options, section, before.totals, hands, bidders, won=none)
    return state, (*_facts(section, dealt), *map(MarkChanged, marks(state)), TurnChanged("bid", bidders))


def record(state: JossingState, event: CardsShuffled) -> dict[str, Any]:
    """Return the deal as JOS-DEAL-4 writes it."""
    section, hands = _dealt(state, event)
    return {"type": "deal", "hands": list(map(notation, hands)), "trump": NOTATION[section.indicator]}


def _dealt(state: JossingState, event: CardsShuffled) -> tuple[Section, Hands]:
    """Deal one card at a time clockwise from the dealer's left (JOS-DEAL-2, JOS-DEAL-3)."""
    options, number = state.options, state.section.number + 1
    seats = options.seats
    last = seats * options.size(number)
    first = options.dealer(number) + 1
    hands = tuple([event.cards[(seat - first) % seats : last : seats] for seat in range(seats)])
    return Section.of(options, number, event.cards[last]), hands


def _facts(section: Section, hands: Hands) -> Iterator[Fact]:
    """Yield the section, the indicator and the counts for everybody, and for each seat its own hand."""
    yield RoundStarted(section.number, section.dealer)
    for seat, hand in enumerate(hands):
        yield from moves_to_hand(None, seat, tuple(sorted(hand)), MoveReason.DEAL)
    yield CardsMoved(None, "indicator", (section.indicator,), 1, MoveReason.DEAL)
    yield ContractChanged(Contract(trump=section.trump))
