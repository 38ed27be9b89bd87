"""Choices of legal actions: families of actions with parts that the player chooses."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from croupier_api.v1.actions_pb2 import Action, ActionChoice
from croupier_client.cards import CardValue, SuitValue

_FIELDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "cards": {"keep_cards": "cards", "swap_cards": "cards", "lay": "cards", "declare_word": "cards"},
        "suit": {"keep_cards": "trump", "name_trump": "trump", "play": "suit"},
        "amount": {"bid": "amount", "declare_word": "amount"},
        "seat": {"declare_word": "seat"},
    }
)
"""By part that may be chosen, and by verb: the field of the verb's message."""


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
    verb = action.WhichOneof("verb") or ""
    chosen = {"cards": cards if choice.HasField("cards") else None, "suit": suit, "amount": amount, "seat": seat}
    for part, value in chosen.items():
        if value is None:
            continue
        if verb not in _FIELDS[part]:
            raise ValueError(f"invalid {part} for {verb or 'a verb that is newer than this client'}: expected none")
        said, field = getattr(action, verb), _FIELDS[part][verb]
        if part == "cards":
            said.cards.extend(cards)
        else:
            setattr(said, field, value)
    if action.HasField("swap_cards") and choice.HasField("cards") and not cards:
        action.stand_pat.SetInParent()
    return action
