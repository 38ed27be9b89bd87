"""Cards, suits and actions as text: "5H" is the five of hearts, "JK" the joker.

`deck` is `GameDescription.deck`: the cards of a game with a deck of its own, empty for a game with standard cards.
"""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from croupier_api.v1.actions_pb2 import Action, DeclareAction, LayAction
from croupier_api.v1.cards_pb2 import CARD_JOKER, CARD_UNSPECIFIED, SUIT_UNSPECIFIED, Card, CardFace, Suit

CardValue: TypeAlias = Card.ValueType
SuitValue: TypeAlias = Suit.ValueType

_RANKS = "23456789TJQKA"
_SUITS = "CDHS"
_SUIT_PREFIX = "SUIT_"
_JOKER = "JK"
_NO_CARD = "??"


def card_text(card: CardValue, deck: Sequence[CardFace] = ()) -> str:
    """Return the card in notation: rank and suit such as "5H", "JK", or that of the game's own deck; "??" for no card.

    Raises ValueError for a card that is in neither deck.
    """
    if card == CARD_UNSPECIFIED:
        return _NO_CARD
    if card == CARD_JOKER:
        return _JOKER
    if card < CARD_JOKER:
        return _RANKS[(card - 1) % len(_RANKS)] + _SUITS[(card - 1) // len(_RANKS)]
    for face in deck:
        if face.number == card:
            return face.notation
    raise ValueError(f"invalid card {card}: expected 1 to {CARD_JOKER}, or a card of the game's own deck")


def cards_text(cards: Iterable[CardValue], deck: Sequence[CardFace] = ()) -> str:
    """Return the cards in their order, separated by spaces; raises ValueError as `card_text` does."""
    return " ".join(card_text(card, deck) for card in cards)


def card_from_text(text: str, deck: Sequence[CardFace] = ()) -> CardValue:
    """Return the card of a notation such as "5H", "th", "JK" or "R7"; raises ValueError for anything else."""
    wanted = text.strip().upper()
    for face in deck:
        if face.notation.upper() == wanted:
            return Card.ValueType(face.number)
    if wanted == _JOKER:
        return CARD_JOKER
    if len(wanted) == 2 and wanted[0] in _RANKS and wanted[1] in _SUITS:
        return Card.ValueType(_SUITS.index(wanted[1]) * len(_RANKS) + _RANKS.index(wanted[0]) + 1)
    raise ValueError(f"invalid card {text!r}: expected rank (2-9 T J Q K A) and suit (C D H S), such as 5H, or JK")


def suit_text(suit: SuitValue) -> str:
    """Return the suit in English, for example "hearts"; "no suit" for none."""
    return Suit.Name(suit).removeprefix(_SUIT_PREFIX).lower() if suit != SUIT_UNSPECIFIED else "no suit"


def suit_from_text(text: str) -> SuitValue:
    """Return the suit that "hearts" or "h" names; raises ValueError for anything else."""
    wanted = text.strip().lower()
    for suit in Suit.values():
        if wanted and suit != SUIT_UNSPECIFIED and wanted in (suit_text(suit), suit_text(suit)[0]):
            return suit
    raise ValueError(f"invalid suit {text!r}: expected clubs, diamonds, hearts or spades, or the first letter")


def action_text(action: Action, deck: Sequence[CardFace] = ()) -> str:
    """Return an action as one line, for example "play 5H", "bid 60" or "keep 5H JK, hearts trump".

    Raises ValueError as `card_text` does.
    """
    match action.WhichOneof("verb"):
        case "bid":
            return f"bid {action.bid.contract or action.bid.amount}"
        case "pass_turn":
            return "pass"
        case "keep_cards":
            kept = cards_text(action.keep_cards.cards, deck) or "no cards"
            return _with_suit(f"keep {kept}", action.keep_cards.trump, "trump")
        case "swap_cards":
            return f"swap {cards_text(action.swap_cards.cards, deck)}"
        case "draw":
            return f"draw from {action.draw.pile}" if action.draw.pile else "draw"
        case "play":
            return _with_suit(f"play {card_text(action.play.card, deck)}", action.play.suit, "ordered")
        case "call_partner":
            called = action.call_partner
            unnamed = "nobody" if called.HasField("nobody") else "unknown"
            return f"call {card_text(called.card, deck) if called.HasField('card') else unnamed}"
        case "name_trump":
            named = action.name_trump
            return f"name {suit_text(named.trump)} trump" + (" and all tricks" * named.all_tricks)
        case "lay":
            return _lay_text(action.lay, deck)
        case "declare_word":
            return _declare_text(action.declare_word, deck)
        case verb:
            return (verb or "nothing").replace("_", " ")


def _with_suit(text: str, suit: SuitValue, meaning: str) -> str:
    return f"{text}, {suit_text(suit)} {meaning}" if suit != SUIT_UNSPECIFIED else text


def _lay_text(lay: LayAction, deck: Sequence[CardFace]) -> str:
    meld = f" as {lay.meld}" if lay.meld else ""
    pile = f" on {lay.pile}" if lay.pile else ""
    owner = f" of seat {lay.owner}" if lay.HasField("owner") else ""
    return f"lay {cards_text(lay.cards, deck)}{meld}{pile}{owner}"


def _declare_text(declare: DeclareAction, deck: Sequence[CardFace]) -> str:
    parts = [declare.word]
    if declare.HasField("amount"):
        parts.append(str(declare.amount))
    if declare.cards:
        parts.append(cards_text(declare.cards, deck))
    if declare.HasField("seat"):
        parts.append(f"to seat {declare.seat}")
    return f"declare {' '.join(parts)}"
