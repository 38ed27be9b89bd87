"""Messages of the contract as replays write them: cards as texts, actions as dictionaries or, to compare, as texts."""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from croupier_api.v1 import cards_pb2, engine_pb2, table_pb2
from loadtest.judge.rules.interface import Act, Card, Choice, Legal

CARDS: Mapping[int, Card] = MappingProxyType(
    {number: name.removeprefix("CARD_") for name, number in cards_pb2.Card.items() if number}
)
_NUMBERS: Mapping[Card, int] = MappingProxyType({text: number for number, text in CARDS.items()})
_AS_TEXT = json.JSONEncoder(sort_keys=True).encode
_SUITS = "?CDHS"
_CHOICE_VERBS = {table_pb2.CARD_CHOICE_VERB_KEEP: "keep", table_pb2.CARD_CHOICE_VERB_SWAP: "swap"}
AUTO: Mapping[int, str] = MappingProxyType({engine_pb2.ACTED_BY_TIMEOUT: "timeout", engine_pb2.ACTED_BY_BOT: "bot"})
"""What a replay writes where the seat did not decide."""


def cards_of(numbers: Iterable[int]) -> list[Card]:
    """The texts of cards, "??" for numbers that are no card's."""
    return [CARDS.get(number, "??") for number in numbers]


def card_number(card: Card) -> int:
    """The number that a card has in the contract; 0 for a text that is no card's."""
    return _NUMBERS.get(card, 0)


def act_of(action: table_pb2.Action) -> Act:
    """An action as replays write it; one without a verb has the type "none"."""
    match action.WhichOneof("verb"):
        case "bid":
            bid = action.bid
            return {"type": "bid"} | ({"bid": bid.contract} if bid.HasField("contract") else {"amount": bid.amount})
        case "keep" if action.keep.trump or action.keep.cards:
            return {"type": "keep", "cards": cards_of(action.keep.cards), "trump": _suit(action.keep.trump)}
        case "swap":
            return {"type": "swap", "cards": cards_of(action.swap.cards)}
        case "play":
            ordered = {"suit": _suit(action.play.suit)} if action.play.suit else {}
            return {"type": "play", "card": CARDS.get(action.play.card, "??")} | ordered
        case "call":
            return {"type": "call", "card": CARDS.get(action.call.card, "??") if action.call.card else "unknown"}
        case "name_trump":
            return {"type": "name_trump", "trump": _suit(action.name_trump.trump), "do": action.name_trump.do}
        case verb:
            return {"type": verb or "none"}


@lru_cache(maxsize=1024)
def act_sent(action: bytes) -> Act:
    """The action of a request; nobody may change it."""
    return act_of(table_pb2.Action.FromString(action))


def _suit(number: int) -> str:
    return _SUITS[number] if 0 <= number < len(_SUITS) else "?"


def canonical(act: Act) -> str:
    """An action as text; the order of cards that are kept or swapped has no meaning."""
    cards = act.get("cards")
    return _AS_TEXT(act | {"cards": sorted(cards, key=str)} if isinstance(cards, list) else act)


def legal_of(legal: table_pb2.LegalActions) -> Legal:
    """What a message says that a seat may do."""
    choices = [
        Choice(
            _CHOICE_VERBS.get(choice.verb, "?"),
            cards_of(choice.cards),
            choice.min_cards,
            choice.max_cards,
            [_suit(suit) for suit in choice.suits],
        )
        for choice in legal.choices
    ]
    return Legal([act_of(action) for action in legal.actions], choices)


def legal_texts(legal: Legal) -> list[str]:
    """What a seat may do, as sorted texts: equal for those who may do the same."""
    choices = [
        f"{choice.verb} {choice.fewest} to {choice.most} of {' '.join(sorted(choice.cards))}"
        f" {''.join(sorted(choice.suits))}"
        for choice in legal.choices
    ]
    return sorted([*map(canonical, legal.actions), *choices])


def allows(legal: Legal, act: Act) -> bool:
    """Whether an action is listed, or fits a choice."""
    return canonical(act) in map(canonical, legal.actions) or any(_fits(choice, act) for choice in legal.choices)


def _fits(choice: Choice, act: Act) -> bool:
    taken: list[Any] = act.get("cards", [])
    is_suit_right = act.get("trump") in choice.suits if choice.suits else "trump" not in act
    left = list(choice.cards)
    for card in taken:
        if card not in left:
            return False
        left.remove(card)
    return act["type"] == choice.verb and is_suit_right and choice.fewest <= len(taken) <= choice.most


def milliseconds_of(text: object) -> int | None:
    """Milliseconds since 1970 UTC of a time as replays write it, None for anything else."""
    try:
        moment = datetime.strptime(str(text), "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
    except ValueError:
        return None
    return round(moment.timestamp() * 1000) if len(str(text)) == len("2026-11-21T09:00:00.123Z") else None
