"""The deal of 101: the cards of each seat, and the facts that it makes known."""

from typing import Any, NamedTuple

from croupier.games import facts
from croupier.games.cards import Card, notation
from croupier.games.facts import Fact, MoveReason, Seat
from croupier.games.hands import with_cards
from croupier.games.interface import CardsShuffled
from croupier.games.one_oh_one import scoring
from croupier.games.one_oh_one.state import OneOhOneState, around

HAND_SIZE = 5


class Dealt(NamedTuple):
    """The starter, each seat's cards in the order in which it got them, and the stock, next card first."""

    starter: Seat
    hands: tuple[tuple[Card, ...], ...]
    stock: tuple[Card, ...]


def deal(before: OneOhOneState, event: CardsShuffled) -> tuple[OneOhOneState, tuple[Fact, ...]]:
    """Return the state after a deal, and its facts: each seat sees its own hand only (101-VIS-1, 101-VIS-2)."""
    dealt, options = _dealt(before, event), before.options
    starter, hands = dealt.starter, tuple(with_cards(0, hand) for hand in dealt.hands)
    progress = before.progress._replace(round_number=before.progress.round_number + 1, starter=starter)
    forced = None if options.first_move_any else dealt.hands[starter][-1]
    state = OneOhOneState(options, progress, hands, dealt.stock, turn=starter, forced=forced)
    news: list[Fact] = [facts.RoundStarted(progress.round_number, None)]
    news += [facts.SeatOut(seat, place) for seat, place in scoring.places(options.seats, progress.dropped).items()]
    for seat, hand in enumerate(dealt.hands):
        if hand:
            news += facts.moves_to_hand(None, seat, tuple(sorted(hand)), MoveReason.DEAL)
    news.append(facts.CardsMoved(None, "stock", (), len(dealt.stock), MoveReason.DEAL, face_down=True))
    news.append(facts.MarkChanged(facts.Mark("starter", None, str(starter))))
    return state, (*news, facts.TurnChanged("play", (starter,)))


def record(state: OneOhOneState, event: CardsShuffled) -> dict[str, Any]:
    """Return the deal as 101-DEAL-1 writes it."""
    dealt = _dealt(state, event)
    hands = [notation(hand) for hand in dealt.hands]
    return {"type": "deal", "starter": dealt.starter, "hands": hands, "stock": notation(dealt.stock)}


def _dealt(state: OneOhOneState, event: CardsShuffled) -> Dealt:
    """Deal singly, five times round, from the starter on, whom the first deal draws (101-DEAL-2, 101-DEAL-3)."""
    starter = event.drawn[0] if event.drawn else state.progress.starter
    seats = around(state.progress.following, starter)
    dealing = HAND_SIZE * len(seats)
    hands: list[tuple[Card, ...]] = [()] * state.options.seats
    for turn, seat in enumerate(seats):
        hands[seat] = event.cards[turn : dealing : len(seats)]
    return Dealt(starter, tuple(hands), event.cards[dealing:])
