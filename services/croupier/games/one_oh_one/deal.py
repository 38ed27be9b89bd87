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
from croupier.games.interface import CardsShuffled, IllegalAction
from croupier.games.one_oh_one import legality, scoring
from croupier.games.one_oh_one.circle import around
from croupier.games.one_oh_one.state import OneOhOneOptions, OneOhOneState

HAND_SIZE = 5


class Dealt(NamedTuple):
    """The starter, each seat's cards in the order in which it got them, and the stock, next card first."""

    starter: Seat
    hands: tuple[tuple[Card, ...], ...]
    stock: tuple[Card, ...]


def deal(before: OneOhOneState, event: CardsShuffled) -> tuple[OneOhOneState, tuple[Fact, ...]]:
    """Return the state after a deal, and its facts; raises IllegalAction for one that is not due or not valid."""
    dealt, options = _dealt(before, event), before.options
    starter, hands = dealt.starter, tuple(with_cards(0, hand) for hand in dealt.hands)
    progress = before.progress._replace(round_number=before.progress.round_number + 1, starter=starter)
    forced = None if options.first_move_any else dealt.hands[starter][-1]
    state = OneOhOneState(options, progress, hands, dealt.stock, turn=starter, forced=forced)
    out = [SeatOut(seat, place) for seat, place in scoring.places(options.seats, progress.dropped).items()]
    started, turn = RoundStarted(progress.round_number, None), TurnChanged("play", (starter,))
    return state, (started, *out, *_facts(dealt), MarkChanged(Mark("starter", None, str(starter))), turn)


def record(state: OneOhOneState, event: CardsShuffled) -> dict[str, Any]:
    """Return the deal as 101-DEAL-1 writes it; raises IllegalAction for one that is not due or not valid."""
    dealt = _dealt(state, event)
    hands = [notation(hand) for hand in dealt.hands]
    return {"type": "deal", "starter": dealt.starter, "hands": hands, "stock": notation(dealt.stock)}


def _dealt(state: OneOhOneState, event: CardsShuffled) -> Dealt:
    if state.phase == "over":
        raise legality.game_over(state)
    if state.phase != "deal":
        raise IllegalAction("101-DEAL-1", "a round is in progress, so no deal is due")
    seats = around(state.progress.following, state.progress.starter)
    return _dealt_to(state.options, seats, event, state.progress.round_number == 0)


def draw_bounds(options: OneOhOneOptions, first_round: bool) -> tuple[int, ...]:
    """Return the bounds of the numbers drawn with a deal: the first round draws its starter (101-DEAL-3)."""
    return (options.seats,) if first_round else ()


def _dealt_to(options: OneOhOneOptions, circle: tuple[Seat, ...], event: CardsShuffled, first_round: bool) -> Dealt:
    """Deal singly, five times round, to the seats of a circle, which begins with the starter of a later round.

    Raises IllegalAction unless the shuffle has the whole deck and the numbers that are due (101-DEAL-2, 101-DEAL-3).
    """
    if tuple(sorted(event.cards)) != options.deck:
        raise IllegalAction("101-DEAL-2", f"a deal has exactly the {len(options.deck)} cards of the deck")
    if not event.has_drawn(draw_bounds(options, first_round)):
        raise IllegalAction("101-DEAL-3", "the first deal draws one seat of the table, and later deals draw nothing")
    if first_round:
        circle = (*range(event.drawn[0], options.seats), *range(event.drawn[0]))
    dealing = HAND_SIZE * len(circle)
    hands: list[tuple[Card, ...]] = [()] * options.seats
    for turn, seat in enumerate(circle):
        hands[seat] = event.cards[turn : dealing : len(circle)]
    return Dealt(circle[0], tuple(hands), event.cards[dealing:])


def _facts(dealt: Dealt) -> Iterator[Fact]:
    """Yield for each seat its own hand, and the counts for everybody (101-VIS-1, 101-VIS-2)."""
    for seat, hand in enumerate(dealt.hands):
        if hand:
            yield from moves_to_hand(None, seat, tuple(sorted(hand)), MoveReason.DEAL)
    yield CardsMoved(None, "stock", (), len(dealt.stock), MoveReason.DEAL, face_down=True)
