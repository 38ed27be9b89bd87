"""The deal of a section of Jøssing: the cards of each seat, and the facts that it makes known."""

from typing import Any

from croupier.games import facts
from croupier.games.cards import NOTATION, Card, notation
from croupier.games.facts import MoveReason
from croupier.games.hands import hand_of
from croupier.games.interface import CardsShuffled
from croupier.games.jossing.state import JossingState, Section
from croupier.games.jossing.view import marks

Hands = tuple[tuple[Card, ...], ...]
"""The cards of each seat in the order in which they were dealt."""


def deal(before: JossingState, event: CardsShuffled) -> tuple[JossingState, tuple[facts.Fact, ...]]:
    """Return the state after a deal, and its facts: each seat sees its own hand, all see the indicator."""
    (section, dealt), options = _dealt(before, event), before.options
    others = tuple([seat for seat in range(options.seats) if seat != section.dealer])
    bidders = others if options.hook else tuple(range(options.seats))
    hands, none = tuple(map(hand_of, dealt)), (0,) * options.seats
    state = JossingState(options, section, before.totals, hands, bidders, won=none)
    news: list[facts.Fact] = [facts.RoundStarted(section.number, section.dealer)]
    for seat, hand in enumerate(dealt):
        news += facts.moves_to_hand(None, seat, tuple(sorted(hand)), MoveReason.DEAL)
    news.append(facts.CardsMoved(None, "indicator", (section.indicator,), 1, MoveReason.DEAL))
    news.append(facts.ContractChanged(facts.Contract(trump=section.trump)))
    return state, (*news, *map(facts.MarkChanged, marks(state)), facts.TurnChanged("bid", bidders))


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
