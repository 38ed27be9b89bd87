"""The deal of 110: its check, and the facts that it makes known."""

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
from croupier.games.interface import CardsShuffled, IllegalAction, ProposalAgreed, ShuffleNeeded
from croupier.games.one_ten.setup import before_first_deal
from croupier.games.one_ten.state import KITTY_CARDS, UNNAMED, OneTenState
from croupier.games.one_ten.trumps import TRUMPS

Hands = tuple[tuple[Card, ...], ...]
_ORDER = CardOrderChanged(TRUMPS[UNNAMED].order)


def needed(state: OneTenState) -> ShuffleNeeded:
    """Return the shuffle before a round; with the first one the dealer is drawn (110-DEAL-3, 110-DEAL-5)."""
    return ShuffleNeeded(state.options.deck, _bounds(state), state.progress.round_number + 1, 1)


def deal(state: OneTenState, event: CardsShuffled | ProposalAgreed) -> tuple[OneTenState, tuple[Fact, ...]]:
    """Begin a round, in which the seat to the left of the dealer speaks first (110-BID-1); raises IllegalAction."""
    dealer, hands, kitty, stock = _dealt(state, event)
    options, progress = (
        state.options,
        state.progress._replace(round_number=state.progress.round_number + 1, dealer=dealer),
    )
    fresh = before_first_deal(options)
    first = (options.clockwise(dealer)[0],)
    dealt = fresh._replace(
        progress=progress,
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


def record(state: OneTenState, event: CardsShuffled | ProposalAgreed) -> dict[str, Any]:
    """Return the deal as a replay has it (110-DEAL-1); raises IllegalAction for one that is not due or not valid."""
    dealer, hands, kitty, stock = _dealt(state, event)
    written = {"hands": [notation(hand) for hand in hands], "kitty": notation(kitty), "stock": notation(stock)}
    return {"type": "deal", "dealer": dealer} | written


def _bounds(state: OneTenState) -> tuple[int, ...]:
    return (state.options.seats,) if state.progress.dealer is None else ()


def _dealt(
    state: OneTenState, event: CardsShuffled | ProposalAgreed
) -> tuple[Seat, Hands, tuple[Card, ...], tuple[Card, ...]]:
    """Return dealer, hands, kitty and stock: single cards from the dealer's left, the kitty last (110-DEAL-4, -5)."""
    options = state.options
    if isinstance(event, ProposalAgreed) or state.phase != "deal":
        raise IllegalAction("110-DEAL-1", "no deal is due, and nothing can be proposed in 110")
    if tuple(sorted(event.cards)) != options.deck:
        raise IllegalAction(
            "110-DEAL-4", f"a deal has each of the {len(options.deck)} cards of the table, and no other"
        )
    if not event.has_drawn(_bounds(state)):
        raise IllegalAction("110-DEAL-3", "the first deal draws the seat of the dealer, a later one nothing")
    dealer = event.drawn[0] if state.progress.dealer is None else options.clockwise(state.progress.dealer)[0]
    kitty_at = options.seats * options.hand_size
    stock_at, first = kitty_at + KITTY_CARDS, dealer + 1
    hands = tuple(
        event.cards[(seat - first) % options.seats : kitty_at : options.seats] for seat in range(options.seats)
    )
    return dealer, hands, event.cards[kitty_at:stock_at], event.cards[stock_at:]
