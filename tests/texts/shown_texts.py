"""Checks of what a client shows: texts of the game, and no underscore, bare number of a seat or letter for a suit."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from croupier_api.v1 import facts_pb2, games_pb2

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


def missing_texts(message: Message, shown: str, texts: Mapping[Any, str]) -> Iterator[str]:
    """Yield the words in a message whose texts are not in what a client shows of it; `texts` are by kind and word."""
    for kind, word in _words(message):
        text = texts.get((kind, word))
        if text is None or any(part not in shown for part in re.split(r"\{\w+\}", text)):
            yield f"{games_pb2.WordKind.Name(kind)} {word}"


def _words(message: Message) -> Iterator[tuple[games_pb2.WordKind.ValueType, str]]:
    """Yield the words of marks, values, phrases, piles and contracts, at any depth."""
    match message:
        case facts_pb2.Mark():
            yield games_pb2.WORD_KIND_MARK, message.name
        case facts_pb2.Value() if message.HasField("word"):
            yield games_pb2.WORD_KIND_VALUE, message.word
        case facts_pb2.Phrase():
            yield games_pb2.WORD_KIND_PHRASE, message.word
        case facts_pb2.Pile():
            yield games_pb2.WORD_KIND_PILE, message.name
        case facts_pb2.Contract() if message.name:
            yield games_pb2.WORD_KIND_CONTRACT, message.name
    for field, value in message.ListFields():
        if field.message_type is not None:
            for part in value if field.is_repeated else [value]:
                yield from _words(part)
