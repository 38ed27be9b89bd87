"""Choices: families of legal actions that are too many to list, and the one way to complete and to check them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from croupier.games.actions import Action, Bid, Declare, KeepCards, Lay, NameTrump, Play, StandPat, SwapCards
from croupier.games.cards import Card, Suit
from croupier.games.facts import Seat


class CardChoice(NamedTuple):
    """From `min_cards` to `max_cards` of these cards; a card that the seat holds twice is listed twice."""

    cards: tuple[Card, ...]
    min_cards: int
    max_cards: int


class AmountChoice(NamedTuple):
    """One amount from the smallest to the greatest, by steps of at least 1."""

    min_amount: int
    max_amount: int
    step: int = 1

    @property
    def amounts(self) -> range:
        """All amounts, ascending."""
        return range(self.min_amount, self.max_amount + 1, self.step)


class ActionChoice(NamedTuple):
    """One action with parts that the seat chooses.

    `cards`, `suits`, `amount` and `seats` are what it chooses from; None or empty for a part that is not to be chosen.
    The parts of `action` that are to be chosen have no meaning: they are empty, None or UNCHOSEN.
    """

    action: Action
    cards: CardChoice | None = None
    suits: tuple[Suit, ...] = ()
    amount: AmountChoice | None = None
    seats: tuple[Seat, ...] = ()


class Parts(NamedTuple):
    """The chosen parts of an action; None or empty for a part that is not chosen."""

    cards: tuple[Card, ...] = ()
    suit: Suit | None = None
    amount: int | None = None
    seat: Seat | None = None


def complete(choice: ActionChoice, parts: Parts) -> Action:
    """Return the action of a choice with these parts, which are exactly those to be chosen; raises ValueError.

    A swap of no cards is StandPat.
    """
    action = choice.action
    if choice.cards is not None:
        action = _with_cards(action, _checked_cards(choice.cards, parts.cards))
    elif parts.cards:
        raise ValueError(f"invalid cards {parts.cards}: expected none, since no cards are to be chosen")
    if choice.suits or parts.suit is not None:
        action = _with_suit(action, _one_of("suit", choice.suits, parts.suit))
    if choice.amount or parts.amount is not None:
        action = _with_amount(action, _one_of("amount", choice.amount.amounts if choice.amount else (), parts.amount))
    if choice.seats or parts.seat is not None:
        action = _with_seat(action, _one_of("seat", choice.seats, parts.seat))
    return action


def fits(choice: ActionChoice, action: Action) -> bool:
    """Return whether an action completes a choice."""
    try:
        return complete(choice, parts_of(choice, action)) == action
    except ValueError:
        return False


def parts_of(choice: ActionChoice, action: Action) -> Parts:
    """Return the parts of an action that are chosen in a choice."""
    return Parts(
        cards_of(action) if choice.cards is not None else (),
        _suit_of(action) if choice.suits else None,
        _amount_of(action) if choice.amount else None,
        action.seat if choice.seats and isinstance(action, Declare) else None,
    )


def cards_of(action: Action) -> tuple[Card, ...]:
    """Return the cards of an action; empty for one that has no list of cards."""
    return action.cards if isinstance(action, KeepCards | SwapCards | Lay | Declare) else ()


def _checked_cards(choice: CardChoice, cards: tuple[Card, ...]) -> tuple[Card, ...]:
    if len(cards) not in range(choice.min_cards, choice.max_cards + 1) or Counter(cards) - Counter(choice.cards):
        raise ValueError(f"invalid cards {cards}: expected {choice.min_cards} to {choice.max_cards} of {choice.cards}")
    return cards


def _one_of(part: str, allowed: Sequence[int], chosen: int | None) -> int:
    if chosen is None or chosen not in allowed:
        raise ValueError(f"invalid {part} {chosen}: expected one of {list(allowed)}")
    return chosen


def _suit_of(action: Action) -> Suit | None:
    if isinstance(action, Play):
        return action.suit
    return action.trump if isinstance(action, KeepCards | NameTrump) else None


def _amount_of(action: Action) -> int | None:
    if isinstance(action, Bid):
        return action.bid if isinstance(action.bid, int) else None
    return action.amount if isinstance(action, Declare) else None


def _with_cards(action: Action, cards: tuple[Card, ...]) -> Action:
    if isinstance(action, SwapCards) and not cards:
        return StandPat()
    if isinstance(action, KeepCards | SwapCards | Lay | Declare):
        return replace(action, cards=cards)
    raise _no_part(action, "cards")


def _with_suit(action: Action, suit: Suit) -> Action:
    if isinstance(action, Play):
        return replace(action, suit=suit)
    if isinstance(action, KeepCards | NameTrump):
        return replace(action, trump=suit)
    raise _no_part(action, "suit")


def _with_amount(action: Action, amount: int) -> Action:
    if isinstance(action, Bid):
        return Bid(amount)
    if isinstance(action, Declare):
        return replace(action, amount=amount)
    raise _no_part(action, "amount")


def _with_seat(action: Action, seat: Seat) -> Action:
    if isinstance(action, Declare):
        return replace(action, seat=seat)
    raise _no_part(action, "seat")


def _no_part(action: Action, part: str) -> ValueError:
    return ValueError(f"invalid choice of {part} for {type(action).__name__}: expected an action that has one")
