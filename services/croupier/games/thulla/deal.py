"""The deal of Thulla: the hands, the first leader, and the facts that it makes known."""

from typing import Any

from croupier.games.cards import CARD_OF_NOTATION, Card, mask_of, notation
from croupier.games.facts import (
    CardsMoved,
    Fact,
    MarkChanged,
    MoveReason,
    RoundStarted,
    Seat,
    TurnChanged,
    moves_to_hand,
)
from croupier.games.interface import CardsShuffled
from croupier.games.thulla.state import ThullaOptions, ThullaState
from croupier.games.thulla.view import marks

ACE_OF_SPADES = CARD_OF_NOTATION["AS"]

Hands = tuple[tuple[Card, ...], ...]
"""The cards of each seat in the order in which they were dealt."""


def deal(before: ThullaState, event: CardsShuffled) -> tuple[ThullaState, tuple[Fact, ...]]:
    """Return the state after a deal, and its facts: each seat sees its own hand (THU-VIS-1)."""
    dealt, options, round_number = _dealt(before, event), before.options, before.progress.round_number + 1
    hands, first = tuple(map(mask_of, dealt)), _starter(options, round_number, dealt, event.drawn)
    state = ThullaState(
        options,
        before.progress._replace(round_number=round_number, starter=first),
        hands,
        queue=holders(hands, first),
        points=(0,) * options.seats,
        forced=options.start == "ace_of_spades",
    )
    facts: list[Fact] = [RoundStarted(round_number, options.dealer(round_number))]
    if options.removed:
        facts.append(CardsMoved(None, "removed", options.removed, len(options.removed), MoveReason.REMOVE))
    for seat, hand in enumerate(dealt):
        facts += moves_to_hand(None, seat, tuple(sorted(hand)), MoveReason.DEAL)
    return state, (*facts, *map(MarkChanged, marks(state)), TurnChanged("play", (first,)))


def record(state: ThullaState, event: CardsShuffled) -> dict[str, Any]:
    """Return the deal as THU-DEAL-3 writes it."""
    written: dict[str, Any] = {"type": "deal", "hands": [notation(hand) for hand in _dealt(state, event)]}
    return written | {"starter": event.drawn[0]} if event.drawn else written


def holders(hands: tuple[int, ...], first: Seat = 0) -> tuple[Seat, ...]:
    """Return the seats with cards, clockwise from `first` or the next one after it (THU-LEAD-1, THU-LEAD-2)."""
    return tuple([seat for seat in (*range(first, len(hands)), *range(first)) if hands[seat]])


def _dealt(state: ThullaState, event: CardsShuffled) -> Hands:
    """Deal one card at a time clockwise from the seat left of the dealer (THU-DEAL-2)."""
    options = state.options
    first = options.dealer(state.progress.round_number + 1) + 1
    return tuple(event.cards[(seat - first) % options.seats :: options.seats] for seat in range(options.seats))


def _starter(options: ThullaOptions, round_number: int, hands: Hands, drawn: tuple[int, ...]) -> Seat:
    """Return the leader of the first trick (THU-START-1, -3, -4, -5)."""
    match options.start:
        case "ace_of_spades":
            return next(seat for seat, hand in enumerate(hands) if ACE_OF_SPADES in hand)
        case "random":
            return drawn[0]
        case "dealer":
            return options.dealer(round_number)
        case _:
            return (options.dealer(round_number) + 1) % options.seats
