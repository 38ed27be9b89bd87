"""Messages of the contract as JSON schemas, by the mapping that Protocol Buffers define for JSON."""

from collections.abc import Iterable, Mapping
from typing import Any

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

_NUMBERS: Mapping[int, dict[str, str]] = {
    FieldDescriptor.TYPE_DOUBLE: {"type": "number", "format": "double"},
    FieldDescriptor.TYPE_INT32: {"type": "integer", "format": "int32"},
    FieldDescriptor.TYPE_UINT32: {"type": "integer", "format": "uint32"},
    FieldDescriptor.TYPE_INT64: {"type": "string", "format": "int64"},
    FieldDescriptor.TYPE_UINT64: {"type": "string", "format": "uint64"},
    FieldDescriptor.TYPE_BOOL: {"type": "boolean"},
    FieldDescriptor.TYPE_STRING: {"type": "string"},
    FieldDescriptor.TYPE_BYTES: {"type": "string", "contentEncoding": "base64"},
}
"""A type that is not here raises KeyError: it is to be added when the contract comes to use it."""
_WELL_KNOWN: Mapping[str, dict[str, str]] = {
    "google.protobuf.Timestamp": {"type": "string", "format": "date-time"},
    # Seconds with up to nine decimals, such as "7.5s".
    "google.protobuf.Duration": {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]{1,9})?s$"},
    "google.protobuf.Struct": {"type": "object"},
    "google.protobuf.Value": {},
}
"""Messages that JSON has a form of its own for."""


def schemas_of(messages: Iterable[Descriptor], said: Mapping[str, str]) -> dict[str, Any]:
    """The schemas of messages and of all that they are made of, by name; `said` are descriptions by name."""
    found: dict[str, Any] = {}
    waiting: list[Descriptor | EnumDescriptor] = list(messages)
    while waiting:
        kind = waiting.pop()
        name = schema_name(kind)
        if name in found:
            continue
        if isinstance(kind, EnumDescriptor):
            words = [value.name for value in kind.values]
            found[name] = {"type": "string", "enum": words, "description": said.get(name, "")}
        else:
            found[name] = _message(kind, said)
            waiting += [part for field in kind.fields if (part := _part(field)) is not None]
    return dict(sorted(found.items()))


def schema_name(kind: Descriptor | EnumDescriptor) -> str:
    """Return the name of a message or an enum within its package: Table, CallPartnerAction.Unnamed."""
    name: str = kind.full_name.removeprefix(f"{kind.file.package}.")
    return name


def field_schema(field: FieldDescriptor) -> dict[str, Any]:
    """The schema of a field's value."""
    if (value := _map_value(field)) is not None:
        return {"type": "object", "additionalProperties": _one(value)}
    return {"type": "array", "items": _one(field)} if field.is_repeated else _one(field)


def is_map(field: FieldDescriptor) -> bool:
    """Whether the field is a map."""
    return _map_value(field) is not None


def _map_value(field: FieldDescriptor) -> FieldDescriptor | None:
    entry = field.message_type
    return entry.fields_by_name["value"] if entry is not None and entry.GetOptions().map_entry else None


def _message(message: Descriptor, said: Mapping[str, str]) -> dict[str, Any]:
    name = schema_name(message)
    fields = {field.name: _described(field, said.get(f"{name}.{field.name}", "")) for field in message.fields}
    return {"type": "object", "description": said.get(name, ""), "properties": fields}


def _described(field: FieldDescriptor, description: str) -> dict[str, Any]:
    return {**field_schema(field), "description": description}


def _one(field: FieldDescriptor) -> dict[str, Any]:
    kind = field.message_type or field.enum_type
    if kind is None:
        return dict(_NUMBERS[field.type])
    known = _WELL_KNOWN.get(kind.full_name)
    return {"$ref": f"#/components/schemas/{schema_name(kind)}"} if known is None else dict(known)


def _part(field: FieldDescriptor) -> Descriptor | EnumDescriptor | None:
    if (value := _map_value(field)) is not None:
        return _part(value)
    part: Descriptor | EnumDescriptor | None = field.message_type or field.enum_type
    return None if part is None or part.full_name in _WELL_KNOWN else part
