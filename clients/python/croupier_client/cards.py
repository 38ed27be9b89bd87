"""Cards, suits and actions as people write them: "5H" is the five of hearts, "JK" the joker."""

from collections.abc import Iterable
from typing import TypeAlias

from croupier_api.v1 import table_pb2 as pb
from croupier_api.v1.cards_pb2 import CARD_UNSPECIFIED, SUIT_UNSPECIFIED, Card, Suit

CardValue: TypeAlias = Card.ValueType
SuitValue: TypeAlias = Suit.ValueType

_CARD_PREFIX = "CARD_"
_SUIT_PREFIX = "SUIT_"


def card_text(card: CardValue) -> str:
    """Rank and suit, for example "5H", or "JK"; "??" for no card."""
    return Card.Name(card).removeprefix(_CARD_PREFIX) if card != CARD_UNSPECIFIED else "??"


def cards_text(cards: Iterable[CardValue]) -> str:
    """The cards in their order, separated by spaces."""
    return " ".join(map(card_text, cards))


def card_from_text(text: str) -> CardValue:
    """The card that "5H", "th" or "JK" names; ValueError for anything else."""
    try:
        card = Card.Value(_CARD_PREFIX + text.strip().upper())
    except ValueError:
        card = CARD_UNSPECIFIED
    if card == CARD_UNSPECIFIED:
        raise ValueError(f"{text!r} is no card: write rank (2-9 T J Q K A) and suit (C D H S), for example 5H, or JK")
    return card


def suit_text(suit: SuitValue) -> str:
    """The suit in English, for example "hearts"; "no suit" for none."""
    return Suit.Name(suit).removeprefix(_SUIT_PREFIX).lower() if suit != SUIT_UNSPECIFIED else "no suit"


def suit_from_text(text: str) -> SuitValue:
    """The suit that "hearts" or "h" names; ValueError for anything else."""
    wanted = text.strip().upper()
    for name, suit in Suit.items():
        if wanted and suit != SUIT_UNSPECIFIED and name.removeprefix(_SUIT_PREFIX) in (wanted, _long_name(wanted)):
            return suit
    raise ValueError(f"{text!r} is no suit: write clubs, diamonds, hearts or spades, or the first letter")


def _long_name(letter: str) -> str:
    return {"C": "CLUBS", "D": "DIAMONDS", "H": "HEARTS", "S": "SPADES"}.get(letter, "")


def action_text(action: pb.Action) -> str:
    """One line for people, for example "play 5H", "bid 60" or "keep 5H JK, hearts trump"."""
    match action.WhichOneof("verb"):
        case "bid":
            return f"bid {action.bid.contract or action.bid.amount}"
        case "keep":
            return _with_suit(f"keep {cards_text(action.keep.cards) or 'the bid'}", action.keep.trump, "trump")
        case "swap":
            return f"swap {cards_text(action.swap.cards) or 'nothing'}"
        case "play":
            return _with_suit(f"play {card_text(action.play.card)}", action.play.suit, "ordered")
        case "call":
            return f"call {card_text(action.call.card)}" if action.call.card else "call nobody"
        case "name_trump":
            return f"name {suit_text(action.name_trump.trump)} trump" + (" and all tricks" * action.name_trump.do)
        case verb:
            return (verb or "nothing").replace("_", " ")


def _with_suit(text: str, suit: SuitValue, meaning: str) -> str:
    return f"{text}, {suit_text(suit)} {meaning}" if suit != SUIT_UNSPECIFIED else text
