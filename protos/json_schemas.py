"""JSON schemas of the contract's messages, by ProtoJSON."""

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
"""The types in use; any other raises KeyError."""
_WELL_KNOWN: Mapping[str, dict[str, str]] = {
    "google.protobuf.Timestamp": {"type": "string", "format": "date-time"},
    # Seconds with up to nine decimals, such as "7.5s".
    "google.protobuf.Duration": {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]{1,9})?s$"},
    "google.protobuf.Struct": {"type": "object"},
    "google.protobuf.Value": {},
    "google.rpc.Status": {"$ref": "#/components/schemas/Refusal"},
}
"""Messages with a form of their own in JSON."""


def schemas_of(messages: Iterable[Descriptor], descriptions: Mapping[str, str]) -> dict[str, Any]:
    """Return the schemas of messages and of all their parts by name, with descriptions by name."""
    found: dict[str, Any] = {}
    waiting: list[Descriptor | EnumDescriptor] = list(messages)
    while waiting:
        kind = waiting.pop()
        name = schema_name(kind)
        if name in found:
            continue
        if isinstance(kind, EnumDescriptor):
            names = [value.name for value in kind.values]
            found[name] = {"type": "string", "enum": names, "description": descriptions.get(name, "")}
        else:
            found[name] = _message(kind, descriptions)
            waiting += [part for field in kind.fields if (part := _part_type(field)) is not None]
    return dict(sorted(found.items()))


def schema_name(kind: Descriptor | EnumDescriptor) -> str:
    """Return the name of a message or an enum within its package: Table, CallPartnerAction.Unnamed."""
    name: str = kind.full_name.removeprefix(f"{kind.file.package}.")
    return name


def field_schema(field: FieldDescriptor) -> dict[str, Any]:
    """Return the schema of a field's value."""
    if (value := _map_value(field)) is not None:
        return {"type": "object", "additionalProperties": _value_schema(value)}
    return {"type": "array", "items": _value_schema(field)} if field.is_repeated else _value_schema(field)


def is_map(field: FieldDescriptor) -> bool:
    """Return whether a field is a map."""
    return _map_value(field) is not None


def _map_value(field: FieldDescriptor) -> FieldDescriptor | None:
    entry = field.message_type
    return entry.fields_by_name["value"] if entry is not None and entry.GetOptions().map_entry else None


def _message(message: Descriptor, descriptions: Mapping[str, str]) -> dict[str, Any]:
    name = schema_name(message)
    fields = {field.name: _described(field, descriptions.get(f"{name}.{field.name}", "")) for field in message.fields}
    return {"type": "object", "description": descriptions.get(name, ""), "properties": fields}


def _described(field: FieldDescriptor, description: str) -> dict[str, Any]:
    return {**field_schema(field), "description": description}


def _value_schema(field: FieldDescriptor) -> dict[str, Any]:
    kind = field.message_type or field.enum_type
    if kind is None:
        return dict(_NUMBERS[field.type])
    known = _WELL_KNOWN.get(kind.full_name)
    return {"$ref": f"#/components/schemas/{schema_name(kind)}"} if known is None else dict(known)


def _part_type(field: FieldDescriptor) -> Descriptor | EnumDescriptor | None:
    if (value := _map_value(field)) is not None:
        return _part_type(value)
    part: Descriptor | EnumDescriptor | None = field.message_type or field.enum_type
    return None if part is None or part.full_name in _WELL_KNOWN else part
