"""What seats ask for: the verbs that all card tables share, as values, and their JSON notation."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from croupier.games.cards import NOTATION, SUITS, Card, Suit, card, notation


@dataclass(frozen=True, slots=True)
class Bid:
    """Bid an amount (an int) or a contract by its name (a str)."""

    bid: int | str


@dataclass(frozen=True, slots=True)
class Pass:
    """Decline to bid."""


@dataclass(frozen=True, slots=True)
class Match:
    """Equal the standing bid."""


@dataclass(frozen=True, slots=True)
class Yield:
    """Give up one's own bid for the higher one."""


@dataclass(frozen=True, slots=True)
class Keep:
    """Keep these cards and name trump; without both, keep one's own bid."""

    cards: tuple[Card, ...] = ()
    trump: Suit | None = None


@dataclass(frozen=True, slots=True)
class Swap:
    """Exchange these cards, possibly none."""

    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class Draw:
    """Take from the stock."""


@dataclass(frozen=True, slots=True)
class Play:
    """Play a card, and order a suit with it where the card asks for one."""

    card: Card
    suit: Suit | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """Call the holder of a card as partner; None leaves the card unknown."""

    card: Card | None


@dataclass(frozen=True, slots=True)
class NameTrump:
    """Name trump, and whether all tricks are undertaken."""

    trump: Suit
    do: bool


@dataclass(frozen=True, slots=True)
class ThrowDown:
    """Lay the hand down."""


Action: TypeAlias = Bid | Pass | Match | Yield | Keep | Swap | Draw | Play | Call | NameTrump | ThrowDown

PLAYS: tuple[Play, ...] = tuple(Play(value) for value in range(len(NOTATION)))
"""The plain play of every card, made once."""


def action_to_json(action: Action) -> dict[str, Any]:
    """Write an action as the rules pages do: an object with a `type`."""
    match action:
        case Play(value, suit):
            played: dict[str, Any] = {"type": "play", "card": NOTATION[value]}
            return played if suit is None else played | {"suit": SUITS[suit]}
        case Bid(bid):
            return {"type": "bid", "amount": bid} if isinstance(bid, int) else {"type": "bid", "bid": bid}
        case Keep(kept, trump):
            return (
                {"type": "keep"} if trump is None else {"type": "keep", "cards": notation(kept), "trump": SUITS[trump]}
            )
        case Swap(given):
            return {"type": "swap", "cards": notation(given)}
        case Call(called):
            return {"type": "call", "card": "unknown" if called is None else NOTATION[called]}
        case NameTrump(trump, do):
            return {"type": "name_trump", "trump": SUITS[trump], "do": do}
        case _:
            return {"type": _BARE_NAMES[type(action)]}


def action_from_json(value: Mapping[str, Any]) -> Action:
    """Read an action; raises ValueError naming what is wrong, also for missing or additional keys."""
    kind = value.get("type") if isinstance(value, Mapping) else None
    keys = frozenset(value) - {"type"} if isinstance(value, Mapping) else frozenset()
    reader = _READERS.get((kind, keys)) if isinstance(kind, str) else None
    if reader is None:
        raise ValueError(f"{value!r} is not an action: an object with a known type and exactly its keys is")
    return reader(value)


def _suit(text: object) -> Suit:
    if not isinstance(text, str) or len(text) != 1 or text not in SUITS:
        raise ValueError(f"{text!r} is not a suit: one of C, D, H, S is")
    return SUITS.index(text)


def _cards(texts: object) -> tuple[Card, ...]:
    if not isinstance(texts, list):
        raise ValueError(f"{texts!r} is not a list of cards")
    return tuple(card(text) for text in texts)


def _amount(value: object) -> int:
    if type(value) is not int:
        raise ValueError(f"{value!r} is not an amount: an integer is")
    return value


def _word(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a word")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{value!r} is not true or false")
    return value


def _always(action: Action) -> Callable[[Mapping[str, Any]], Action]:
    return lambda _: action


_BARE: dict[str, Action] = {
    "pass": Pass(),
    "match": Match(),
    "yield": Yield(),
    "draw": Draw(),
    "throw_down": ThrowDown(),
}
_BARE_NAMES = {type(action): name for name, action in _BARE.items()}
_READERS: dict[tuple[str, frozenset[str]], Callable[[Mapping[str, Any]], Action]] = {
    ("play", frozenset({"card"})): lambda v: PLAYS[card(v["card"])],
    ("play", frozenset({"card", "suit"})): lambda v: Play(card(v["card"]), _suit(v["suit"])),
    ("bid", frozenset({"amount"})): lambda v: Bid(_amount(v["amount"])),
    ("bid", frozenset({"bid"})): lambda v: Bid(_word(v["bid"])),
    ("keep", frozenset()): lambda _: Keep(),
    ("keep", frozenset({"cards", "trump"})): lambda v: Keep(_cards(v["cards"]), _suit(v["trump"])),
    ("swap", frozenset({"cards"})): lambda v: Swap(_cards(v["cards"])),
    ("call", frozenset({"card"})): lambda v: Call(None if v["card"] == "unknown" else card(v["card"])),
    ("name_trump", frozenset({"trump", "do"})): lambda v: NameTrump(_suit(v["trump"]), _flag(v["do"])),
    **{(name, frozenset()): _always(action) for name, action in _BARE.items()},
}
