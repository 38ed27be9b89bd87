"""Which cards a viewer is entitled to know, told from the facts alone, and every card that a message shows him.

A viewer may know the cards that were in his own hand, those that lay openly on a pile, and the hands laid open when a
round was scored. All of it lasts for a round.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from croupier_api.v1 import cards_pb2, engine_pb2, table_pb2
from croupier_client import card_from_text
from croupier_client.cards import CardValue

_FACE_DOWN_PILE = re.compile(r"stock|kitty|put_away|discards_\d+")
_CARDS_OF_NOBODY = frozenset({"CallAction.card", "CardOrder.cards", "TableView.card_order"})
"""Where cards are named without telling who holds them."""
NOTHING_KNOWN: frozenset[int] = frozenset()
_CARD = cards_pb2.Card.DESCRIPTOR.full_name
_WRITTEN_CARD = re.compile(r"\b(?:[2-9TJQKA][CDHS]|JK)\b")


def cards_in(message: Message) -> Iterator[tuple[str, CardValue]]:
    """Every card that a message holds, at any depth, in card fields and in texts, each with the field it stands in."""
    for field, value in message.ListFields():
        if isinstance(value, Mapping):
            for text in value.values():
                yield from ((_where(message, field), card) for card in cards_written_in(str(text)))
        elif field.message_type is not None:
            for part in _parts(value):
                yield from cards_in(part)
        elif field.enum_type is not None and field.enum_type.full_name == _CARD:
            if f"{message.DESCRIPTOR.name}.{field.name}" not in _CARDS_OF_NOBODY:
                yield from ((_where(message, field), card) for card in _values(value))
        elif field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
            for text in _values(value):
                yield from ((_where(message, field), card) for card in cards_written_in(text))


def _parts(value: Any) -> Iterable[Message]:
    return (value,) if isinstance(value, Message) else value


def _values(value: Any) -> Iterable[Any]:
    return (value,) if isinstance(value, int | str | bytes) else value


def _where(message: Message, field: FieldDescriptor) -> str:
    return f"{message.DESCRIPTOR.name}.{field.name}"


def cards_written_in(text: str | bytes) -> Iterator[CardValue]:
    """The cards that a text names."""
    words = text.decode(errors="replace") if isinstance(text, bytes) else text
    return (card_from_text(word) for word in _WRITTEN_CARD.findall(words))


def shown_by(snapshot: engine_pb2.Snapshot) -> frozenset[int]:
    """What a snapshot may tell: the viewer's own hand, the open piles, and all hands once the game is over."""
    view, known = snapshot.view, set[int]()
    for seat, hand in enumerate(view.seats):
        if view.ranking or (snapshot.HasField("viewer_seat") and seat == snapshot.viewer_seat):
            known.update(hand.cards)
    for pile in view.piles:
        if not is_face_down(pile.name):
            known.update(laid.card for laid in pile.cards)
    return frozenset(known)


def known_after(known: frozenset[int], update: engine_pb2.TableUpdate, seat: int | None) -> frozenset[int]:
    """What a viewer may know after an entry of the log; `seat` is None for a spectator."""
    learned: set[int] = set()
    is_scored = any(fact.HasField("round_ended") for fact in update.facts)
    for fact in update.facts:
        match fact.WhichOneof("fact"):
            case "round_started":
                known, learned = NOTHING_KNOWN, set()
            case "cards_moved" if is_open(fact.cards_moved) or _is_own(fact.cards_moved, seat):
                learned.update(fact.cards_moved.cards)
            case "hand_revealed" if is_scored or fact.hand_revealed.seat == seat:
                learned.update(fact.hand_revealed.cards)
            case "called":
                # A card by which a partner was called may be spoken of from now on.
                learned.update({fact.called.action.call.card} - {cards_pb2.CARD_UNSPECIFIED})
                if fact.called.seat == seat:
                    learned.update(card for _, card in cards_in(fact))
    return known | learned


def is_open(moved: table_pb2.CardsMoved) -> bool:
    """Whether cards come to lie face up."""
    return moved.target.HasField("pile") and not is_face_down(moved.target.pile)


def is_face_down(pile: str) -> bool:
    """Whether the cards of a pile lie face down, so that at most the seat that put them there knows them."""
    return _FACE_DOWN_PILE.fullmatch(pile) is not None


def _is_own(moved: table_pb2.CardsMoved, seat: int | None) -> bool:
    return any(place.HasField("hand") and place.hand == seat for place in (moved.source, moved.target))
