"""Choices of legal actions: families of actions with parts that the player chooses."""

from collections.abc import Sequence

from croupier_api.v1.actions_pb2 import Action, ActionChoice
from croupier_client.cards import CardValue, SuitValue


def complete_choice(
    choice: ActionChoice,
    *,
    cards: Sequence[CardValue] = (),
    suit: SuitValue | None = None,
    amount: int | None = None,
    seat: int | None = None,
) -> Action:
    """Return the action of a choice with the chosen parts; a part that is not to be chosen stays None or empty.

    A swap of no cards is to stand pat. Raises ValueError if the action has no such part.
    """
    action = Action()
    action.CopyFrom(choice.action)
    if choice.HasField("cards"):
        _add_cards(action, cards)
    if suit is not None:
        _set_suit(action, suit)
    if amount is not None:
        _set_amount(action, amount)
    if seat is not None:
        _set_seat(action, seat)
    return action


def _add_cards(action: Action, cards: Sequence[CardValue]) -> None:
    match action.WhichOneof("verb"):
        case "keep_cards":
            action.keep_cards.cards.extend(cards)
        case "swap_cards":
            action.swap_cards.cards.extend(cards)
            if not cards:
                action.stand_pat.SetInParent()
        case "lay":
            action.lay.cards.extend(cards)
        case "declare_word":
            action.declare_word.cards.extend(cards)
        case verb:
            raise _has_no(verb, "cards")


def _set_suit(action: Action, suit: SuitValue) -> None:
    match action.WhichOneof("verb"):
        case "keep_cards":
            action.keep_cards.trump = suit
        case "name_trump":
            action.name_trump.trump = suit
        case "play":
            action.play.suit = suit
        case verb:
            raise _has_no(verb, "suit")


def _set_amount(action: Action, amount: int) -> None:
    match action.WhichOneof("verb"):
        case "bid":
            action.bid.amount = amount
        case "declare_word":
            action.declare_word.amount = amount
        case verb:
            raise _has_no(verb, "amount")


def _set_seat(action: Action, seat: int) -> None:
    match action.WhichOneof("verb"):
        case "declare_word":
            action.declare_word.seat = seat
        case verb:
            raise _has_no(verb, "seat")


def _has_no(verb: str | None, part: str) -> ValueError:
    return ValueError(f"invalid {part} for {verb or 'a verb that is newer than this client'}: expected none")
