"""Checks of what a client shows: no underscore, no bare number of a seat, no letter for a suit."""

import re
from collections.abc import Iterable, Iterator

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

_LETTER = re.compile(r"(?<![^\W\d_])(?:10|[2-9TJQKA])?[CDHS](?!\w)")
"""A card or a suit in notation."""
_CARD = re.compile(r"(?:10|[2-9TJQKA])[♣♦♥♠]")
_NUMBER = re.compile(r"\d+")
_SEATS = frozenset({"seat", "seats", "dealer", "declarer", "partner", "hand", "owner", "proposer", "seats_to_act"})
"""The fields that hold seats."""


def faults(text: str, message: Message, names: Iterable[str] = ()) -> Iterator[str]:
    """Yield what is wrong with a text of a message; `names` are texts of the game that may hold numbers."""
    if "_" in text:
        yield "an underscore"
    if _LETTER.search(text):
        yield "a letter for a suit"
    left = _CARD.sub("", text)
    for name in sorted(names, key=len, reverse=True):
        left = left.replace(name, "")
    known = set(_numbers(message))
    unknown = [number for number in _NUMBER.findall(left) if int(number) not in known]
    if unknown:
        yield f"the numbers {', '.join(unknown)}, which stand for seats"


def _numbers(message: Message) -> Iterator[int]:
    """Yield the numbers of a message that are no seats, and the lengths of its lists."""
    for field, value in message.ListFields():
        if field.name in _SEATS and field.cpp_type != FieldDescriptor.CPPTYPE_MESSAGE:
            continue
        values = value if field.is_repeated else [value]
        if field.is_repeated:
            yield len(values)
        for one in values:
            if isinstance(one, Message):
                yield from _numbers(one)
            elif isinstance(one, int) and field.enum_type is None:
                yield abs(one)
