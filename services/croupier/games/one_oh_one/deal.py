"""The deal of 101: its check, and the facts that it makes known."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from croupier.games.cards import Card, notation
from croupier.games.facts import (
    CardsMoved,
    Fact,
    Mark,
    MarkChanged,
    MoveReason,
    RoundStarted,
    Seat,
    SeatOut,
    TurnChanged,
    moves_to_hand,
)
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
    """Return the state after a deal, and its facts."""
    dealt, options = _dealt(before, event), before.options
    starter, hands = dealt.starter, tuple(with_cards(0, hand) for hand in dealt.hands)
    progress = before.progress._replace(round_number=before.progress.round_number + 1, starter=starter)
    forced = None if options.first_move_any else dealt.hands[starter][-1]
    state = OneOhOneState(options, progress, hands, dealt.stock, turn=starter, forced=forced)
    out = [SeatOut(seat, place) for seat, place in scoring.places(options.seats, progress.dropped).items()]
    started, turn = RoundStarted(progress.round_number, None), TurnChanged("play", (starter,))
    return state, (started, *out, *_facts(dealt), MarkChanged(Mark("starter", None, str(starter))), turn)


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


def _facts(dealt: Dealt) -> Iterator[Fact]:
    """Yield for each seat its own hand, and the counts for everybody (101-VIS-1, 101-VIS-2)."""
    for seat, hand in enumerate(dealt.hands):
        if hand:
            yield from moves_to_hand(None, seat, tuple(sorted(hand)), MoveReason.DEAL)
    yield CardsMoved(None, "stock", (), len(dealt.stock), MoveReason.DEAL, face_down=True)
