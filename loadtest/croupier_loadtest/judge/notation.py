"""The replay notation of the contract's messages: cards as texts, actions as dictionaries or, to compare, as texts.

Within the judge a card of a game's own deck is "#" and its number, as in the rows of a log; replays and messages for
people have the notation of the deck.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from croupier_api.v1 import actions_pb2, engine_pb2
from croupier_api.v1.errors_pb2 import ErrorReason
from croupier_loadtest.judge.rules.cards import PACK
from croupier_loadtest.judge.rules.interface import Card, Choice, Legal, ReplayAction

OWN_CARDS = range(64, 256)
"""The numbers of cards of a game's own deck."""
CARDS: Mapping[int, Card] = MappingProxyType(
    dict(enumerate([*PACK, "JK"], start=1)) | {number: f"#{number}" for number in OWN_CARDS}
)
"""The texts of cards by the contract's number."""
_AS_TEXT = json.JSONEncoder(sort_keys=True).encode
_SUITS = "?CDHS"
_BARE_VERBS: Mapping[str | None, str] = MappingProxyType(
    {"pass_turn": "pass", "match_bid": "match", "yield_bid": "yield", "keep_bid": "keep", "throw_down": "throw_down"}
)
"""The replay's types of actions that have nothing but a verb."""
_NO_CARDS: ReplayAction = {"type": "swap", "cards": []}
AUTO: Mapping[int, str] = MappingProxyType({engine_pb2.ACTED_BY_TIMEOUT: "timeout", engine_pb2.ACTED_BY_BOT: "bot"})
"""The replay's value of `auto` by the contract's number."""


@dataclass(frozen=True, slots=True)
class Deck:
    """The notation of a game's cards: the standard ones, and those of its own by their numbers."""

    own: Mapping[str, int]

    def written_in(self, text: str | bytes) -> Iterator[int]:
        """Return the numbers of the cards that are named in a text."""
        words = text.decode(errors="replace") if isinstance(text, bytes) else text
        found = _written_card(tuple(self.own)).findall(words)
        return (self.own[word] if word in self.own else _NUMBERS[word] for word in found)

    def read(self, value: Any) -> Any:
        """Return a part of a replay with the judge's texts of the deck's own cards."""
        if isinstance(value, dict):
            return {key: self.read(part) for key, part in value.items()}
        if isinstance(value, list):
            return [self.read(part) for part in value]
        return CARDS[self.own[value]] if isinstance(value, str) and value in self.own else value


_NUMBERS: Mapping[Card, int] = MappingProxyType({text: number for number, text in CARDS.items()})


@lru_cache(maxsize=16)
def _written_card(own: tuple[str, ...]) -> re.Pattern[str]:
    alternatives = ["[2-9TJQKA][CDHS]", "JK", *map(re.escape, own)]
    return re.compile(rf"(?<!\w)(?:{'|'.join(alternatives)})(?!\w)")


def cards_of(numbers: Iterable[int]) -> list[Card]:
    """Return the texts of cards, "??" for unknown numbers."""
    return [CARDS.get(number, "??") for number in numbers]


def reason_text(reason: ErrorReason.ValueType) -> str:
    """Return the name of a reason as google.rpc.ErrorInfo has it; empty for none."""
    return ErrorReason.Name(reason).removeprefix("ERROR_REASON_") if reason else ""


# Actions


def act_of(action: actions_pb2.Action) -> ReplayAction:
    """Return an action in replay notation; without a verb or a required part it has the type "none"."""
    match action.WhichOneof("verb"):
        case "bid" if action.bid.HasField("amount"):
            return {"type": "bid", "amount": action.bid.amount}
        case "bid" if action.bid.HasField("contract"):
            return {"type": "bid", "bid": action.bid.contract}
        case "keep_cards":
            kept = action.keep_cards
            return {"type": "keep", "cards": cards_of(kept.cards), "trump": _suit(kept.trump)}
        case "swap_cards" if action.swap_cards.cards:
            return {"type": "swap", "cards": cards_of(action.swap_cards.cards)}
        case "draw":
            return {"type": "draw"} | _present(action.draw, "pile")
        case "play":
            ordered = {"suit": _suit(action.play.suit)} if action.play.suit else {}
            return {"type": "play", "card": CARDS.get(action.play.card, "??")} | ordered
        case "call_partner":
            called = action.call_partner
            words = {"unnamed": "unknown", "nobody": "nobody"}
            return {"type": "call", "card": words.get(called.WhichOneof("partner") or "") or cards_of([called.card])[0]}
        case "name_trump":
            named = action.name_trump
            return {"type": "name_trump", "trump": _suit(named.trump), "do": named.all_tricks}
        case "lay":
            words = {name: word for name, word in (("meld", action.lay.meld), ("pile", action.lay.pile)) if word}
            return {"type": "lay", "cards": cards_of(action.lay.cards)} | words | _present(action.lay, "owner")
        case "declare_word":
            declared = action.declare_word
            cards = {"cards": cards_of(declared.cards)} if declared.cards else {}
            return {"type": "declare", "word": declared.word} | _present(declared, "seat", "amount") | cards
        case "stand_pat":
            return dict(_NO_CARDS)
        case verb:
            return {"type": _BARE_VERBS.get(verb, "none")}


def _present(message: Any, *names: str) -> ReplayAction:
    return {name: getattr(message, name) for name in names if message.HasField(name)}


@lru_cache(maxsize=1024)
def act_sent(action: bytes) -> ReplayAction:
    """Return the action of a request; it is cached and must not be changed."""
    return act_of(actions_pb2.Action.FromString(action))


def _suit(number: int) -> str:
    return _SUITS[number] if 0 <= number < len(_SUITS) else "?"


def canonical(act: ReplayAction) -> str:
    """Return an action as text, independent of the order of its cards."""
    cards = act.get("cards")
    return _AS_TEXT(act | {"cards": sorted(cards, key=str)} if isinstance(cards, list) else act)


def cards_put(act: ReplayAction) -> tuple[Card, ...]:
    """Return the cards that an action puts on the table for all to see, by playing one or laying some; in any order."""
    match act.get("type"):
        case "play":
            return (str(act.get("card")),)
        case "lay" if isinstance(act.get("cards"), list):
            return tuple(sorted(map(str, act["cards"])))
    return ()


# Legal actions


def legal_of(message: actions_pb2.LegalActions) -> Legal:
    """Return the legal actions of a message; to stand pat is a swap of no cards."""
    actions, choices = [act_of(action) for action in message.actions], [_choice_of(one) for one in message.choices]
    if _NO_CARDS not in actions or not any(choice.verb == "swap" for choice in choices):
        return Legal(actions, choices)
    choices = [choice._replace(min_cards=0) if choice.verb == "swap" else choice for choice in choices]
    return Legal([act for act in actions if act != _NO_CARDS], choices)


def _choice_of(choice: actions_pb2.ActionChoice) -> Choice:
    action, amount = choice.action, choice.amount
    parts: dict[str, list[Any]] = {}
    if choice.suits:
        parts["suit" if action.HasField("play") else "trump"] = [_suit(suit) for suit in choice.suits]
    if choice.HasField("amount"):
        parts["amount"] = list(range(amount.min_amount, amount.max_amount + 1, max(1, amount.step)))
    if choice.seats:
        parts["seat"] = list(choice.seats)
    # Required parts may be missing.
    match action.WhichOneof("verb"):
        case "bid" if action.bid.WhichOneof("bid") is None:
            act: ReplayAction = {"type": "bid"}
        case "swap_cards":
            act = {"type": "swap", "cards": cards_of(action.swap_cards.cards)}
        case _:
            act = act_of(action)
    fixed = {name: [value] for name, value in act.items() if name not in ("type", "cards")}
    if choice.HasField("cards"):
        least, most = choice.cards.min_cards, choice.cards.max_cards
        return Choice(act["type"], cards_of(choice.cards.cards), least, most, fixed | parts)
    cards = act.get("cards", [])
    return Choice(act["type"], cards, len(cards), len(cards), fixed | parts)


def legal_texts(legal: Legal) -> list[str]:
    """Return legal actions as sorted texts, equal for the same actions."""
    choices = [
        f"{choice.verb} {choice.min_cards} to {min(choice.max_cards, len(choice.cards))}"
        f" of {' '.join(sorted(choice.cards))}"
        f" {_AS_TEXT({name: sorted(values) for name, values in choice.parts.items()})}"
        for choice in legal.choices
    ]
    return sorted([*map(canonical, legal.actions), *choices])


def allows(legal: Legal, act: ReplayAction) -> bool:
    """Return whether an action is legal: listed, or within a choice."""
    return canonical(act) in map(canonical, legal.actions) or any(_fits(choice, act) for choice in legal.choices)


def _fits(choice: Choice, act: ReplayAction) -> bool:
    if act["type"] != choice.verb or act.keys() - {"type", "cards"} != choice.parts.keys():
        return False
    if any(act[name] not in values for name, values in choice.parts.items()):
        return False
    cards: list[Any] = act.get("cards", [])
    left = list(choice.cards)
    for card in cards:
        if card not in left:
            return False
        left.remove(card)
    return choice.min_cards <= len(cards) <= choice.max_cards


def milliseconds_of(text: object) -> int | None:
    """Return milliseconds since 1970 UTC of a time in replay notation, None for other texts."""
    try:
        moment = datetime.strptime(str(text), "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
    except ValueError:
        return None
    return round(moment.timestamp() * 1000) if len(str(text)) == len("2026-11-21T09:00:00.123Z") else None
