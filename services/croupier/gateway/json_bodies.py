"""The program by which Envoy refuses JSON that the contract does not describe: json_bodies.lua with its messages."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from google.protobuf.descriptor import Descriptor, FieldDescriptor

_SCALARS: Mapping[int, str] = {
    FieldDescriptor.CPPTYPE_BOOL: "true or false",
    FieldDescriptor.CPPTYPE_STRING: "a string",
    FieldDescriptor.CPPTYPE_INT32: "a number",
    FieldDescriptor.CPPTYPE_UINT32: "a number",
    FieldDescriptor.CPPTYPE_DOUBLE: "a number",
    # 64-bit integers are strings in answers; an enum's value without a name of its own is a number.
    FieldDescriptor.CPPTYPE_INT64: "a number or a string",
    FieldDescriptor.CPPTYPE_UINT64: "a number or a string",
    FieldDescriptor.CPPTYPE_ENUM: "a number or a string",
}
_WELL_KNOWN: Mapping[str, str] = {
    "google.protobuf.Duration": "a string",
    "google.protobuf.Struct": "an object",
    "google.protobuf.Timestamp": "a string",
    "google.protobuf.Value": "any value",
}
"""Messages with a form of their own in JSON."""


def program(requests: Iterable[Descriptor]) -> str:
    """Return the text of the program for these messages and all that they contain."""
    tables = ", ".join(
        f"[{json.dumps(message)}] = {{{', '.join(f'{name} = {json.dumps(kind)}' for name, kind in fields.items())}}}"
        for message, fields in _types(requests).items()
    )
    return f"local messages = {{{tables}}}\n{(Path(__file__).parent / 'json_bodies.lua').read_text()}"


def _types(requests: Iterable[Descriptor]) -> dict[str, dict[str, str]]:
    """Return the types of fields, by both of their names in JSON, by message."""
    found: dict[str, dict[str, str]] = {}
    waiting = list(requests)
    while waiting:
        message = waiting.pop()
        if message.full_name not in found:
            found[message.full_name] = {
                name: _type(field) for field in message.fields for name in (field.name, field.json_name)
            }
            waiting += [part for field in message.fields if (part := field.message_type) and _is_checked(part)]
    return found


def _is_checked(message: Descriptor) -> bool:
    return message.full_name not in _WELL_KNOWN and not message.GetOptions().map_entry


def _type(field: FieldDescriptor) -> str:
    if (message := field.message_type) is None:
        kind = _SCALARS[field.cpp_type]
    elif message.GetOptions().map_entry:
        return "an object"
    else:
        kind = _WELL_KNOWN.get(message.full_name, message.full_name)
    return f"*{kind}" if field.is_repeated else kind
