"""Checks of requests by the rules that the contract has for their fields."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, TypeAlias

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor, OneofDescriptor
from google.protobuf.message import Message

from croupier.runtime.errors import invalid_field
from croupier_api.v1 import fields_pb2

Check: TypeAlias = Callable[[Any], None]
"""Raises MalformedRequest for a message that violates one rule."""


def check_fields(request: Message) -> None:
    """Raise MalformedRequest for the first field of a request that violates its rule.

    The fields of messages within it are left to their decoders.
    """
    for check in _checks(request.DESCRIPTOR):
        check(request)


def rule_of(message: Descriptor, field: str) -> fields_pb2.FieldRule:
    """Return the rule for a field of a message."""
    return _rule(message.fields_by_name[field])


@lru_cache(maxsize=256)
def _checks(message: Any) -> tuple[Check, ...]:
    return (*_of_fields(message), *map(_of_oneof, _required_oneofs(message)))


def _of_fields(message: Descriptor) -> Iterator[Check]:
    for field in message.fields:
        rule = _rule(field)
        if rule.min_items or rule.max_items:
            yield _of_items(field.name, rule.min_items, rule.max_items)
        if rule.min_length or rule.max_length:
            yield _of_length(field, rule)
        if rule.HasField("max_value"):
            yield _of_value(field.name, rule.max_value)
        if field.enum_type is not None and not field.is_repeated:
            yield _of_enum(field.name, field.enum_type, rule.is_required)
        elif rule.is_required and field.message_type is None:
            yield _of_presence(field.name)


def _rule(field: FieldDescriptor) -> fields_pb2.FieldRule:
    rule: fields_pb2.FieldRule = field.GetOptions().Extensions[fields_pb2.rule]
    return rule


def _required_oneofs(message: Descriptor) -> Iterator[OneofDescriptor]:
    for oneof in message.oneofs:
        if oneof.GetOptions().Extensions[fields_pb2.is_one_required]:
            yield oneof


def _of_items(name: str, least: int, greatest: int) -> Check:
    sentence = f"invalid {name}: expected {_range(least, greatest)} items"

    def check(request: Any) -> None:
        if not least <= len(getattr(request, name)) <= greatest:
            raise invalid_field(name, sentence)

    return check


def _of_length(field: FieldDescriptor, rule: fields_pb2.FieldRule) -> Check:
    name, least, greatest, is_ascii = field.name, rule.min_length, rule.max_length, rule.is_printable_ascii
    is_list, has_presence = field.is_repeated, field.has_presence
    sentence = f"invalid {name}: expected {_range(least, greatest)} {_units(field, is_ascii)}"

    def check(request: Any) -> None:
        value = getattr(request, name)
        for text in value if is_list else (value,):
            if least <= len(text) <= greatest and (not is_ascii or (text.isascii() and text.isprintable())):
                continue
            if value or not has_presence or request.HasField(name):
                raise invalid_field(name, sentence)

    return check


def _range(least: int, greatest: int) -> str:
    return f"{least} to {greatest}" if least else f"at most {greatest}"


def _units(field: FieldDescriptor, is_ascii: bool) -> str:
    if field.type == FieldDescriptor.TYPE_BYTES:
        return "bytes"
    return "printable ASCII characters" if is_ascii else "characters"


def _of_value(name: str, greatest: int) -> Check:
    def check(request: Any) -> None:
        if (value := getattr(request, name)) > greatest:
            raise invalid_field(name, f"invalid {name} {value}: expected at most {greatest}")

    return check


def _of_enum(name: str, enum: EnumDescriptor, is_required: bool) -> Check:
    allowed = {value.number: value.name for value in enum.values if value.number or not is_required}
    expected = " or ".join(allowed.values())

    def check(request: Any) -> None:
        if (value := getattr(request, name)) not in allowed:
            raise invalid_field(name, f"invalid {name} {value}: expected {expected}")

    return check


def _of_presence(name: str) -> Check:
    def check(request: Any) -> None:
        if not request.HasField(name):
            raise invalid_field(name, f"invalid {name}: expected a value")

    return check


def _of_oneof(oneof: OneofDescriptor) -> Check:
    name, expected = oneof.name, " or ".join(field.name for field in oneof.fields)

    def check(request: Any) -> None:
        if request.WhichOneof(name) is None:
            raise invalid_field(name, f"invalid {name}: expected {expected}")

    return check
