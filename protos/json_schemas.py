"""JSON schemas of the contract's messages, by ProtoJSON and by the rules for fields of requests."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, TypeAlias

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor, OneofDescriptor

from croupier_api.v1 import fields_pb2

Schema: TypeAlias = dict[str, Any]

_SCALARS: Mapping[int, Schema] = {
    FieldDescriptor.TYPE_DOUBLE: {"type": "number", "format": "double"},
    FieldDescriptor.TYPE_INT32: {"type": "integer", "format": "int32", "minimum": -(2**31), "maximum": 2**31 - 1},
    FieldDescriptor.TYPE_UINT32: {"type": "integer", "format": "uint32", "minimum": 0, "maximum": 2**32 - 1},
    FieldDescriptor.TYPE_INT64: {"type": "string", "format": "int64"},
    FieldDescriptor.TYPE_UINT64: {"type": "string", "format": "uint64"},
    FieldDescriptor.TYPE_BOOL: {"type": "boolean"},
    FieldDescriptor.TYPE_STRING: {"type": "string"},
    FieldDescriptor.TYPE_BYTES: {"type": "string", "contentEncoding": "base64"},
}
"""The types in use; any other raises KeyError."""
_UINT64_OF_REQUEST: Schema = {
    "anyOf": [{"type": "string", "pattern": "^[0-9]{1,19}$"}, {"type": "integer", "minimum": 0, "maximum": 2**63 - 1}],
    "format": "uint64",
}
_WELL_KNOWN: Mapping[str, Schema] = {
    "google.protobuf.Timestamp": {"type": "string", "format": "date-time"},
    # Seconds with up to nine decimals, such as "7.5s".
    "google.protobuf.Duration": {"type": "string", "pattern": r"^-?[0-9]{1,11}(\.[0-9]{1,9})?s$"},
    "google.protobuf.Struct": {"type": "object"},
    "google.protobuf.Value": {},
    "google.rpc.Status": {"$ref": "#/components/schemas/Refusal"},
}
"""Messages with a form of their own in JSON."""
MAX_CARD = 255
"""The greatest number of a card of a game's own deck."""


@dataclass(frozen=True, slots=True)
class Schemas:
    """The schemas of messages and of all their parts by name, with descriptions by name.

    Bodies of requests have the fields of the contract only. Answers may have more in later versions.
    """

    descriptions: Mapping[str, str]
    components: dict[str, Schema] = field(default_factory=dict)

    def add_answer(self, message: Descriptor) -> str:
        """Add the schemas of an answer, and return its name."""
        self._add(message, is_sent=False)
        return schema_name(message)

    def add_body(self, message: Descriptor, name: str, in_path: Collection[str]) -> str:
        """Add the schemas of a request's body, which lacks the fields of the path, and return its name."""
        fields = [one for one in message.fields if not is_in_path(one, in_path)]
        schema = self._message(message, fields)
        if required := [one.name for one in fields if is_required(one)]:
            schema["required"] = required
        for each in fields:
            schema["properties"][each.name] = self.parameter(message, each)
        self._add_parts([one for one in fields if not _is_inline(one)], is_sent=True)
        self.components[name] = schema | {"additionalProperties": False}
        return name

    def parameter(self, message: Descriptor, of: FieldDescriptor) -> Schema:
        """Return the schema of a request's own field, by its rule."""
        described = {"description": self.descriptions.get(f"{schema_name(message)}.{of.name}", "")}
        return {**_requested(of), **described}

    def in_query(self, message: Descriptor, of: FieldDescriptor) -> Schema:
        """Return the schema of a request's field in a query, where all values are text."""
        schema = self.parameter(message, of)
        if of.enum_type is None:
            return schema
        values = of.enum_type.values
        names = [*(value.name for value in values), *(str(value.number) for value in values)]
        return {"type": "string", "enum": names, "description": schema["description"]}

    def _add(self, kind: Descriptor | EnumDescriptor, *, is_sent: bool) -> None:
        name = schema_name(kind)
        known = self.components.get(name)
        if isinstance(kind, EnumDescriptor):
            if known is None or (is_sent and "anyOf" not in known):
                self.components[name] = _enum(kind, is_sent) | {"description": self.descriptions.get(name, "")}
        elif known is None or (is_sent and "additionalProperties" not in known):
            self.components[name] = self._message(kind, kind.fields) | (
                {"additionalProperties": False} if is_sent else {}
            )
            self._add_parts(kind.fields, is_sent=is_sent)

    def _add_parts(self, fields: Iterable[FieldDescriptor], *, is_sent: bool) -> None:
        for part in filter(None, map(_part_type, fields)):
            self._add(part, is_sent=is_sent)

    def _message(self, message: Descriptor, fields: Iterable[FieldDescriptor]) -> Schema:
        name = schema_name(message)
        properties = {
            one.name: {**field_schema(one), "description": self.descriptions.get(f"{name}.{one.name}", "")}
            for one in fields
        }
        schema: Schema = {"type": "object", "description": self.descriptions.get(name, ""), "properties": properties}
        for oneof in message.oneofs:
            if len(members := [one.name for one in oneof.fields if one.name in properties]) > 1:
                schema |= _members(oneof, members)
        return schema


def schema_name(kind: Descriptor | EnumDescriptor) -> str:
    """Return the name of a message or an enum within its package: Table, CallPartnerAction.Unnamed."""
    name: str = kind.full_name.removeprefix(f"{kind.file.package}.")
    return name


def field_schema(of: FieldDescriptor) -> Schema:
    """Return the schema of a field's value, without the least lengths, which a part that is to be chosen may lack."""
    if (value := _map_value(of)) is not None:
        return {"type": "object", "additionalProperties": _value_schema(value)}
    schema = _value_schema(of)
    if greatest := _rule(of).max_length:
        schema["maxLength"] = greatest
    return _in_list(of, schema) if of.is_repeated else schema


def _in_list(of: FieldDescriptor, item: Schema) -> Schema:
    schema = {"type": "array", "items": item}
    return schema | {"maxItems": greatest} if (greatest := _rule(of).max_items) else schema


def is_map(of: FieldDescriptor) -> bool:
    """Return whether a field is a map."""
    return _map_value(of) is not None


def is_required(of: FieldDescriptor) -> bool:
    """Return whether a request without a field is refused."""
    rule = _rule(of)
    return bool(rule.is_required or rule.min_items or (rule.min_length and of.containing_oneof is None))


def is_in_path(of: FieldDescriptor, in_path: Collection[str]) -> bool:
    """Return whether the path sets a field, or another one of its oneof."""
    others = of.containing_oneof.fields if of.containing_oneof is not None else [of]
    return any(one.name in in_path for one in others)


def _requested(of: FieldDescriptor) -> Schema:
    rule = _rule(of)
    if of.type == FieldDescriptor.TYPE_UINT64:
        return dict(_UINT64_OF_REQUEST)
    if of.type == FieldDescriptor.TYPE_BYTES:
        return {**_SCALARS[of.type], "pattern": _base64_pattern(rule.max_length)}
    if _is_inline(of):
        return _enum(of.enum_type, is_sent=True, least=1)
    schema = field_schema(of)
    value = schema["items"] if of.is_repeated else schema
    if rule.min_items:
        schema["minItems"] = rule.min_items
    if rule.min_length:
        value["minLength"] = rule.min_length
    if rule.is_printable_ascii:
        value["pattern"] = "^[ -~]*$"
    if rule.HasField("max_value"):
        schema["maximum"] = rule.max_value
    return schema


def _rule(of: FieldDescriptor) -> fields_pb2.FieldRule:
    rule: fields_pb2.FieldRule = of.GetOptions().Extensions[fields_pb2.rule]
    return rule


def _is_inline(of: FieldDescriptor) -> bool:
    """Return whether a field has a schema of its own in place of that of its enum, without the first value."""
    return of.enum_type is not None and _rule(of).is_required


def _members(oneof: OneofDescriptor, members: list[str]) -> Schema:
    if oneof.GetOptions().Extensions[fields_pb2.is_one_required]:
        return {"oneOf": [{"type": "object", "required": [name]} for name in members]}
    return {"not": {"anyOf": [{"required": list(pair)} for pair in combinations(members, 2)]}}


def _enum(kind: EnumDescriptor, is_sent: bool, least: int = 0) -> Schema:
    values = [value for value in kind.values if value.number >= least]
    names: Schema = {"type": "string", "enum": [value.name for value in values]}
    if kind.name == "Card":
        return {"anyOf": [names, {"type": "integer", "minimum": least, "maximum": MAX_CARD}]}
    return {"anyOf": [names, {"type": "integer", "enum": [value.number for value in values]}]} if is_sent else names


def _base64_pattern(greatest: int) -> str:
    """Return the pattern of at most so many bytes: base64 of either alphabet, with or without padding."""
    whole, rest = divmod(greatest, 3)
    forms = []
    for alphabet in ("[A-Za-z0-9+/]", "[A-Za-z0-9_-]"):
        two, three = f"{alphabet}{{2}}(==)?", f"{alphabet}{{3}}=?"
        last = ("", f"({two})?", f"({two}|{three})?")[rest]
        forms += [f"({alphabet}{{4}}){{0,{whole - 1}}}({two}|{three})?", f"({alphabet}{{4}}){{{whole}}}{last}"]
    return f"^({'|'.join(forms)})$"


def _map_value(of: FieldDescriptor) -> FieldDescriptor | None:
    entry = of.message_type
    return entry.fields_by_name["value"] if entry is not None and entry.GetOptions().map_entry else None


def _value_schema(of: FieldDescriptor) -> Schema:
    kind = of.message_type or of.enum_type
    if kind is None:
        return dict(_SCALARS[of.type])
    known = _WELL_KNOWN.get(kind.full_name)
    return {"$ref": f"#/components/schemas/{schema_name(kind)}"} if known is None else dict(known)


def _part_type(of: FieldDescriptor) -> Descriptor | EnumDescriptor | None:
    if (value := _map_value(of)) is not None:
        return _part_type(value)
    part: Descriptor | EnumDescriptor | None = of.message_type or of.enum_type
    return None if part is None or part.full_name in _WELL_KNOWN else part
