"""Which cards a viewer is entitled to know, told from the facts alone, and every card that a message shows him.

A viewer may know the cards that were in his own hand, those that lay openly on a pile, and the hands laid open when a
round was scored. All of it lasts for a round.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from croupier_api.v1 import cards_pb2, engine_pb2, table_pb2
from loadtest.judge.notation import card_number

NOTHING_KNOWN: frozenset[int] = frozenset()
_FACE_DOWN_PILE = re.compile(r"stock|kitty|put_away|discards_\d+")
_CARDS_OF_NOBODY = frozenset({"CallAction.card", "CardOrder.cards", "TableView.card_order"})
"""Where cards are named without telling who holds them."""
_CARD = cards_pb2.Card.DESCRIPTOR.full_name
_WRITTEN_CARD = re.compile(r"\b(?:[2-9TJQKA][CDHS]|JK)\b")
_ABOUT_THE_TABLE = table_pb2.TableInfo.DESCRIPTOR.full_name
"""What is fixed when a table opens is before all cards; names of players may read like some."""

Shown = tuple[tuple[str, int], ...]


def cards_in(message: Message) -> Shown:
    """Every card that a message holds, at any depth, in card fields and in texts, each with the field it stands in."""
    found: list[tuple[str, int]] = []
    _collect(message, found)
    return tuple(found)


def _collect(message: Message, found: list[tuple[str, int]]) -> None:
    telling = _telling(message.DESCRIPTOR)
    for field, value in message.ListFields():
        where = telling.get(field.name)
        if where is None:
            continue
        if isinstance(value, Message):
            _collect(value, found)
        elif isinstance(value, Mapping):
            found += ((where, card) for text in value.values() for card in cards_written_in(str(text)))
        elif field.message_type is not None:
            for part in value:
                _collect(part, found)
        else:
            values: Any = (value,) if isinstance(value, int | str | bytes) else value
            cards = values if field.enum_type is not None else (it for text in values for it in cards_written_in(text))
            found += ((where, card) for card in cards)


@lru_cache(maxsize=256)
def _telling(kind: Descriptor) -> Mapping[str, str]:
    """The fields of a kind of message in which cards can stand, by name."""
    return {field.name: f"{kind.name}.{field.name}" for field in kind.fields if _can_tell(kind, field)}


def _can_tell(kind: Descriptor, field: FieldDescriptor) -> bool:
    if field.message_type is not None:
        inner = field.message_type
        return inner.full_name != _ABOUT_THE_TABLE and bool(inner.GetOptions().map_entry or _telling(inner))
    if field.enum_type is not None:
        return field.enum_type.full_name == _CARD and f"{kind.name}.{field.name}" not in _CARDS_OF_NOBODY
    return field.cpp_type == FieldDescriptor.CPPTYPE_STRING


def cards_written_in(text: str | bytes) -> Iterator[int]:
    """The cards that a text names."""
    words = text.decode(errors="replace") if isinstance(text, bytes) else text
    return (card_number(word) for word in _WRITTEN_CARD.findall(words))


def shown_by(snapshot: engine_pb2.Snapshot) -> frozenset[int]:
    """What a snapshot may tell: the viewer's own cards, the open piles, and all hands once a round is over."""
    view, seat = snapshot.view, snapshot.viewer_seat if snapshot.HasField("viewer_seat") else None
    is_scored = bool(view.ranking) or view.phase == "deal"
    known: set[int] = {call.action.call.card for call in view.calls}
    for other, hand in enumerate(view.seats):
        if is_scored or other == seat:
            known.update(hand.cards)
    for pile in view.piles:
        if not is_face_down(pile.name) or (seat is not None and _is_own_pile(view, pile.name, seat)):
            known.update(laid.card for laid in pile.cards)
    for call in view.calls:
        if call.seat == seat:
            known.update(card for _, card in cards_in(call))
    for mark in view.marks:
        if mark.HasField("seat") and mark.seat == seat and _is_own_pile(view, mark.name, seat):
            known.update(cards_written_in(mark.value))
    return frozenset(known)


def _is_own_pile(view: table_pb2.TableView, pile: str, seat: int) -> bool:
    """Whether a seat put the cards of a face-down pile there: its discards, or what the bid winner put away."""
    is_winner = view.contract.HasField("declarer") and view.contract.declarer == seat and view.phase != "bidding"
    return pile == f"discards_{seat}" or (pile in ("kitty", "put_away") and is_winner)


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
    return known | learned if learned else known


def is_open(moved: table_pb2.CardsMoved) -> bool:
    """Whether cards come to lie face up."""
    return moved.target.HasField("pile") and not is_face_down(moved.target.pile)


def is_face_down(pile: str) -> bool:
    """Whether the cards of a pile lie face down, so that at most the seat that put them there knows them."""
    return _FACE_DOWN_PILE.fullmatch(pile) is not None


def _is_own(moved: table_pb2.CardsMoved, seat: int | None) -> bool:
    return any(place.HasField("hand") and place.hand == seat for place in (moved.source, moved.target))
