"""The deal of 110: the cards of each seat, and the facts that it makes known."""

from typing import Any

from croupier.games.cards import Card, notation
from croupier.games.facts import (
    CardOrderChanged,
    CardsMoved,
    Fact,
    MoveReason,
    RoundStarted,
    Seat,
    TurnChanged,
    moves_to_hand,
)
from croupier.games.hands import hand_of
from croupier.games.interface import CardsShuffled
from croupier.games.one_ten.state import KITTY_CARDS, UNNAMED, OneTenState, before_first_deal
from croupier.games.one_ten.trumps import TRUMPS

Hands = tuple[tuple[Card, ...], ...]
_ORDER = CardOrderChanged(TRUMPS[UNNAMED].order)


def deal(state: OneTenState, event: CardsShuffled) -> tuple[OneTenState, tuple[Fact, ...]]:
    """Begin a round, in which the seat to the left of the dealer speaks first (110-BID-1)."""
    dealer, hands, kitty, stock = _dealt(state, event)
    options, before = state.options, state.progress
    progress = before._replace(round_number=before.round_number + 1, dealer=dealer)
    fresh, first = before_first_deal(options, progress), (options.clockwise(dealer)[0],)
    dealt = fresh._replace(
        phase="bidding",
        to_act=first,
        hands=tuple(map(hand_of, hands)),
        exchange=fresh.exchange._replace(kitty=kitty, stock=stock),
    )
    facts: list[Fact] = [RoundStarted(progress.round_number, dealer), _ORDER]
    for seat, hand in enumerate(hands):
        facts += moves_to_hand(None, seat, tuple(sorted(hand)), MoveReason.DEAL)
    facts.append(CardsMoved(None, "kitty", (), len(kitty), MoveReason.DEAL, face_down=True))
    facts.append(CardsMoved(None, "stock", (), len(stock), MoveReason.DEAL, face_down=True))
    return dealt, (*facts, TurnChanged("bidding", first))


def record(state: OneTenState, event: CardsShuffled) -> dict[str, Any]:
    """Return the deal as a replay has it (110-DEAL-1)."""
    dealer, hands, kitty, stock = _dealt(state, event)
    written = {"hands": [notation(hand) for hand in hands], "kitty": notation(kitty), "stock": notation(stock)}
    return {"type": "deal", "dealer": dealer} | written


def _dealt(state: OneTenState, event: CardsShuffled) -> tuple[Seat, Hands, tuple[Card, ...], tuple[Card, ...]]:
    """Return dealer, hands, kitty and stock: single cards from the dealer's left, the kitty last (110-DEAL-4, -5)."""
    options = state.options
    dealer = event.drawn[0] if state.progress.dealer is None else options.clockwise(state.progress.dealer)[0]
    kitty_at = options.seats * options.hand_size
    stock_at, first = kitty_at + KITTY_CARDS, dealer + 1
    hands = tuple(
        event.cards[(seat - first) % options.seats : kitty_at : options.seats] for seat in range(options.seats)
    )
    return dealer, hands, event.cards[kitty_at:stock_at], event.cards[stock_at:]
