"""The cards that a viewer may know, computed from the facts alone, and the cards that a message shows.

A viewer may know the cards that were in their own hand or in a pile of their own, those face up on a pile, those that
were called or declared, and those of hands that were revealed, until the end of the round. Facts alone decide: any game
may reveal a hand at any time, and the names of piles mean nothing.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from croupier_api.v1 import cards_pb2, engine_pb2, facts_pb2, tables_pb2
from croupier_loadtest.judge.notation import Deck

NOTHING_KNOWN: frozenset[int] = frozenset()
_UNPLACED_CARDS = frozenset({"CallPartnerAction.card", "CardOrderChanged.cards", "TableView.card_order"})
"""Fields that name cards without their place."""
_CARD = cards_pb2.Card.DESCRIPTOR.full_name
_ABOUT_THE_TABLE = tables_pb2.PlayedTable.DESCRIPTOR.full_name
"""The fixed data of a table has no cards, but names of players may look like cards."""

ShownCards = tuple[tuple[str, int], ...]


def cards_in(message: Message, deck: Deck) -> ShownCards:
    """Return every card in a message, at any depth, in card fields and in texts, with the name of its field."""
    found: list[tuple[str, int]] = []
    _collect(message, deck, found)
    return tuple(found)


def _collect(message: Message, deck: Deck, found: list[tuple[str, int]]) -> None:
    card_fields = _card_fields(message.DESCRIPTOR)
    for field, value in message.ListFields():
        where = card_fields.get(field.name)
        if where is None:
            continue
        if isinstance(value, Message):
            _collect(value, deck, found)
        elif field.message_type is not None:
            for part in value:
                _collect(part, deck, found)
        else:
            values: Any = (value,) if isinstance(value, int | str | bytes) else value
            if field.enum_type is None:
                values = (card for text in values for card in deck.written_in(text))
            found += ((where, card) for card in values)


@lru_cache(maxsize=256)
def _card_fields(kind: Descriptor) -> Mapping[str, str]:
    """Return the fields of a type of message that can hold cards, by name."""
    return {field.name: f"{kind.name}.{field.name}" for field in kind.fields if _can_hold_cards(kind, field)}


def _can_hold_cards(kind: Descriptor, field: FieldDescriptor) -> bool:
    if field.message_type is not None:
        inner = field.message_type
        return inner.full_name != _ABOUT_THE_TABLE and bool(_card_fields(inner))
    if field.enum_type is not None:
        return field.enum_type.full_name == _CARD and f"{kind.name}.{field.name}" not in _UNPLACED_CARDS
    return field.cpp_type == FieldDescriptor.CPPTYPE_STRING


def shown_by(snapshot: engine_pb2.Snapshot, deck: Deck) -> frozenset[int]:
    """Return the cards of a snapshot that its viewer may know whatever came before: all but those in other hands."""
    view, seat = snapshot.view, snapshot.viewer_seat if snapshot.HasField("viewer_seat") else None
    known: set[int] = set()
    for other, hand in enumerate(view.seats):
        if other == seat:
            known.update(hand.cards)
    for pile in view.piles:
        is_seen = not pile.face_down or (pile.HasField("owner") and pile.owner == seat)
        known.update(entry.card for entry in pile.cards if is_seen or (entry.HasField("seat") and entry.seat == seat))
    for call in view.calls:
        known |= _called(call, seat, deck)
    for mark in view.marks:
        if mark.HasField("seat") and mark.seat == seat:
            known.update(mark.value.cards.cards)
    return frozenset(known)


def cards_in_hand(view: facts_pb2.TableView, seat: int) -> set[int]:
    """Return the cards that a view shows in a hand."""
    return {card for hand in view.seats[seat : seat + 1] for card in (*hand.cards, *hand.known_cards)}


def known_after(known: frozenset[int], update: engine_pb2.TableUpdate, seat: int | None, deck: Deck) -> frozenset[int]:
    """Return the cards that a viewer may know after an entry of the log; `seat` is None for a spectator."""
    learned: set[int] = set()
    for fact in update.facts:
        match fact.WhichOneof("fact"):
            case "round_started":
                known, learned = NOTHING_KNOWN, set()
            case "cards_moved" if is_open(fact.cards_moved) or _is_own(fact.cards_moved, seat):
                learned.update(fact.cards_moved.cards)
            case "hand_revealed":
                learned.update(fact.hand_revealed.cards)
            case "called":
                learned |= _called(fact.called.call, seat, deck)
    return known | learned if learned else known


def _called(call: facts_pb2.Call, seat: int | None, deck: Deck) -> set[int]:
    """Return the cards that a viewer learns from a call: all of their own, else a called card and declared ones."""
    cards: set[int] = {*call.action.declare_word.cards, call.action.call_partner.card}
    if call.seat == seat:
        cards |= {card for _, card in cards_in(call, deck)}
    return cards - {cards_pb2.CARD_UNSPECIFIED}


def is_open(moved: facts_pb2.CardsMoved) -> bool:
    """Return whether cards are moved to an open pile."""
    return moved.target.HasField("pile") and not moved.face_down


def _is_own(moved: facts_pb2.CardsMoved, seat: int | None) -> bool:
    return any(
        (place.HasField("hand") and place.hand == seat) or (place.HasField("owner") and place.owner == seat)
        for place in (moved.source, moved.target)
    )
