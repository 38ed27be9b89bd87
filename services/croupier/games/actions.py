"""Actions: what seats ask to do, by the verbs that all card tables share, as values; and their JSON notation."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

from croupier.games.cards import NOTATION, STANDARD_NAMES, SUITS, Card, CardNames, Suit

UNCHOSEN: Final = -1
"""Stands for a suit or an amount in the template of a choice, where the seat is to choose it."""


@dataclass(frozen=True, slots=True)
class Bid:
    """Bid an amount (an int) or a contract by its name (a str)."""

    bid: int | str


@dataclass(frozen=True, slots=True)
class Pass:
    """Decline to bid."""


@dataclass(frozen=True, slots=True)
class MatchBid:
    """Equal the standing bid."""


@dataclass(frozen=True, slots=True)
class YieldBid:
    """Give up one's own bid for the higher one."""


@dataclass(frozen=True, slots=True)
class KeepCards:
    """Keep these cards, possibly none, and name trump."""

    cards: tuple[Card, ...]
    trump: Suit


@dataclass(frozen=True, slots=True)
class KeepBid:
    """Keep one's own bid."""


@dataclass(frozen=True, slots=True)
class SwapCards:
    """Exchange these cards, at least one."""

    cards: tuple[Card, ...]


@dataclass(frozen=True, slots=True)
class StandPat:
    """Exchange no card."""


@dataclass(frozen=True, slots=True)
class Draw:
    """Draw from the pile of this name, None where the game has only one to draw from."""

    pile: str | None = None


@dataclass(frozen=True, slots=True)
class Play:
    """Play a card, and order a suit with it where the card asks for one."""

    card: Card
    suit: Suit | None = None


@dataclass(frozen=True, slots=True)
class CallPartner:
    """Call the holder of a card as partner; None leaves the partner unknown."""

    card: Card | None


@dataclass(frozen=True, slots=True)
class CallNobody:
    """Call no partner: play alone."""


@dataclass(frozen=True, slots=True)
class NameTrump:
    """Name trump, and whether all tricks are undertaken."""

    trump: Suit
    all_tricks: bool


@dataclass(frozen=True, slots=True)
class ThrowDown:
    """Lay the hand down and end the round early."""


@dataclass(frozen=True, slots=True)
class Lay:
    """Lay cards, at least one, on the table.

    `meld` names the combination ("" where the game has no names for them), `pile` the pile to lay them on ("" for a new
    one), and `owner` the seat that owns that pile (None for a pile of the whole table).
    """

    cards: tuple[Card, ...]
    meld: str = ""
    pile: str = ""
    owner: int | None = None


@dataclass(frozen=True, slots=True)
class Declare:
    """Say a word of the game, with the seat that it concerns, an amount and cards where the word asks for them."""

    word: str
    seat: int | None = None
    amount: int | None = None
    cards: tuple[Card, ...] = ()


Action: TypeAlias = (
    Bid
    | Pass
    | MatchBid
    | YieldBid
    | KeepCards
    | KeepBid
    | SwapCards
    | StandPat
    | Draw
    | Play
    | CallPartner
    | CallNobody
    | NameTrump
    | ThrowDown
    | Lay
    | Declare
)

PLAYS: tuple[Play, ...] = tuple(Play(value) for value in range(len(NOTATION)))
"""The plain play of every standard card, made once."""


def encode_action(action: Action, names: CardNames = STANDARD_NAMES) -> dict[str, Any]:
    """Write an action as the rules pages do: an object with a `type`, without the parts that are absent.

    Raises ValueError for a card without notation.
    """
    match action:
        case Play(value, suit):
            played: dict[str, Any] = {"type": "play", "card": names.text(value)}
            return played if suit is None else played | {"suit": SUITS[suit]}
        case Bid(bid):
            return {"type": "bid", "amount": bid} if isinstance(bid, int) else {"type": "bid", "bid": bid}
        case KeepCards(kept, trump):
            return {"type": "keep", "cards": _texts(kept, names), "trump": SUITS[trump]}
        case SwapCards(given):
            return {"type": "swap", "cards": _texts(given, names)}
        case CallPartner(called):
            return {"type": "call", "card": "unknown" if called is None else names.text(called)}
        case CallNobody():
            return {"type": "call", "card": "nobody"}
        case NameTrump(trump, all_tricks):
            return {"type": "name_trump", "trump": SUITS[trump], "do": all_tricks}
        case Draw(pile):
            return {"type": "draw"} | _present(pile=pile)
        case Lay(laid, meld, pile, owner):
            cards = _texts(laid, names)
            return {"type": "lay", "cards": cards} | _present(meld=meld or None, pile=pile or None, owner=owner)
        case Declare(word, seat, amount, shown):
            parts = _present(seat=seat, amount=amount, cards=_texts(shown, names) or None)
            return {"type": "declare", "word": word} | parts
        case StandPat():
            return {"type": "swap", "cards": []}
        case _:
            return {"type": _WORD_OF[action]}


def decode_action(value: Mapping[str, Any], names: CardNames = STANDARD_NAMES) -> Action:
    """Read an action; raises ValueError naming what is wrong, also for missing or additional keys."""
    if isinstance(value, Mapping) and isinstance(kind := value.get("type"), str):
        keys = frozenset(value) - {"type"}
        if not keys and kind in _WORDS:
            return _WORDS[kind]
        for form in _FORMS:
            if form.kind == kind and form.required <= keys <= form.required | form.optional:
                return form.read(value, names)
    raise ValueError(f"invalid action {value!r}: expected an object with a known type and exactly its keys")


def _texts(values: tuple[Card, ...], names: CardNames) -> list[str]:
    return [names.text(value) for value in values]


def _present(**parts: Any) -> dict[str, Any]:
    return {name: part for name, part in parts.items() if part is not None}


def _suit(text: object) -> Suit:
    if not isinstance(text, str) or len(text) != 1 or text not in SUITS:
        raise ValueError(f"invalid suit {text!r}: expected C, D, H or S")
    return SUITS.index(text)


def _cards(texts: object, names: CardNames) -> tuple[Card, ...]:
    if not isinstance(texts, list):
        raise ValueError(f"invalid cards {texts!r}: expected a list of cards")
    return tuple(names.card(text) for text in texts)


def _amount(value: object) -> int:
    if type(value) is not int:
        raise ValueError(f"invalid amount {value!r}: expected an integer")
    return value


def _seat(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"invalid seat {value!r}: expected an integer from 0")
    return value


def _word(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"invalid word {value!r}: expected a text")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"invalid flag {value!r}: expected true or false")
    return value


def _read_play(value: Mapping[str, Any], names: CardNames) -> Action:
    card = names.card(value["card"])
    if "suit" in value:
        return Play(card, _suit(value["suit"]))
    return PLAYS[card] if card < len(PLAYS) else Play(card)


def _read_swap(value: Mapping[str, Any], names: CardNames) -> Action:
    given = _cards(value["cards"], names)
    return SwapCards(given) if given else StandPat()


def _read_call(value: Mapping[str, Any], names: CardNames) -> Action:
    if value["card"] == "nobody":
        return CallNobody()
    return CallPartner(None if value["card"] == "unknown" else names.card(value["card"]))


def _read_lay(value: Mapping[str, Any], names: CardNames) -> Action:
    owner = _seat(value["owner"]) if "owner" in value else None
    return Lay(_cards(value["cards"], names), _word(value.get("meld", "")), _word(value.get("pile", "")), owner)


def _read_declare(value: Mapping[str, Any], names: CardNames) -> Action:
    seat = _seat(value["seat"]) if "seat" in value else None
    amount = _amount(value["amount"]) if "amount" in value else None
    return Declare(_word(value["word"]), seat, amount, _cards(value.get("cards", []), names))


class _Form(NamedTuple):
    """The type and the keys of an object, and how it is read."""

    kind: str
    read: Callable[[Mapping[str, Any], CardNames], Action]
    required: frozenset[str]
    optional: frozenset[str] = frozenset()


_WORDS: dict[str, Action] = {
    "pass": Pass(),
    "match": MatchBid(),
    "yield": YieldBid(),
    "keep": KeepBid(),
    "throw_down": ThrowDown(),
}
"""The actions that are nothing but their type."""
_WORD_OF = {action: word for word, action in _WORDS.items()}
_FORMS = (
    _Form("play", _read_play, frozenset({"card"}), frozenset({"suit"})),
    _Form("bid", lambda v, _: Bid(_amount(v["amount"])), frozenset({"amount"})),
    _Form("bid", lambda v, _: Bid(_word(v["bid"])), frozenset({"bid"})),
    _Form(
        "keep", lambda v, names: KeepCards(_cards(v["cards"], names), _suit(v["trump"])), frozenset({"cards", "trump"})
    ),
    _Form("swap", _read_swap, frozenset({"cards"})),
    _Form("draw", lambda v, _: Draw(_word(v["pile"]) if "pile" in v else None), frozenset(), frozenset({"pile"})),
    _Form("call", _read_call, frozenset({"card"})),
    _Form("name_trump", lambda v, _: NameTrump(_suit(v["trump"]), _flag(v["do"])), frozenset({"trump", "do"})),
    _Form("lay", _read_lay, frozenset({"cards"}), frozenset({"meld", "pile", "owner"})),
    _Form("declare", _read_declare, frozenset({"word"}), frozenset({"seat", "amount", "cards"})),
)
