"""Choices: families of legal actions that are too many to list, and the one way to complete and to check them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

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
        held, fewest, most = choice.cards
        if not fewest <= len(parts.cards) <= most or Counter(parts.cards) - Counter(held):
            raise ValueError(f"invalid cards {parts.cards}: expected {fewest} to {most} of {held}")
        action = _with(action, "cards", parts.cards)
    elif parts.cards:
        raise ValueError(f"invalid cards {parts.cards}: expected none, since no cards are to be chosen")
    amounts = choice.amount.amounts if choice.amount else ()
    numbers = (
        ("suit", choice.suits, parts.suit),
        ("amount", amounts, parts.amount),
        ("seat", choice.seats, parts.seat),
    )
    for part, allowed, chosen in numbers:
        if allowed or chosen is not None:
            if chosen is None or chosen not in allowed:
                raise ValueError(f"invalid {part} {chosen}: expected one of {list(allowed)}")
            action = _with(action, part, chosen)
    return action if action != SwapCards(()) else StandPat()


def fits(choice: ActionChoice, action: Action) -> bool:
    """Return whether an action completes a choice."""
    try:
        return complete(choice, parts_of(choice, action)) == action
    except ValueError:
        return False


def parts_of(choice: ActionChoice, action: Action) -> Parts:
    """Return the parts of an action that are chosen in a choice."""
    amount = _part(action, "amount") if choice.amount else None
    return Parts(
        cards_of(action) if choice.cards is not None else (),
        _part(action, "suit") if choice.suits else None,
        amount if isinstance(amount, int) else None,
        _part(action, "seat") if choice.seats else None,
    )


def cards_of(action: Action) -> tuple[Card, ...]:
    """Return the cards of an action; empty for one that has no list of cards."""
    return action.cards if isinstance(action, KeepCards | SwapCards | Lay | Declare) else ()


def _part(action: Action, part: str) -> Any:
    """Return a part of an action, None for one that has no such part."""
    field = _FIELDS[part].get(type(action))
    return None if field is None else getattr(action, field)


def _with(action: Action, part: str, value: Any) -> Action:
    field = _FIELDS[part].get(type(action))
    if field is None:
        raise ValueError(f"invalid choice of {part} for {type(action).__name__}: expected an action that has one")
    changes: dict[str, Any] = {field: value}
    return replace(action, **changes)


_FIELDS: Mapping[str, Mapping[type[Action], str]] = MappingProxyType(
    {
        "cards": {KeepCards: "cards", SwapCards: "cards", Lay: "cards", Declare: "cards"},
        "suit": {Play: "suit", KeepCards: "trump", NameTrump: "trump"},
        "amount": {Bid: "bid", Declare: "amount"},
        "seat": {Declare: "seat"},
    }
)
"""By part that may be chosen, and by class of action: the field that holds it."""
