"""Random requests from the descriptors of the contract: valid ones, and such that are broken in every way."""

import json
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple
from urllib.parse import quote

from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor
from google.protobuf.json_format import MessageToDict, SerializeToJsonError
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.struct_pb2 import Struct

from openapi_document import Binding

TEXTS = (
    "", " ", "a", "\0", "\n", "\u00e9", "\u202e", "\U0001f600", "0", "-1", "true", "null", "../..", "{}", "%00",
    "'; --", "x" * 32, "x" * 64, "x" * 65, "x" * 5000,
)  # fmt: skip
INTEGERS = (0, 1, 2, 3, 7, 63, 64, -1, 2**31 - 1, 2**31, -(2**31), 2**32 - 1, 2**53, 2**63 - 1, -(2**63), 2**64 - 1)
FLOATS = (0.0, -1.0, 0.5, 1e308, float("inf"), float("nan"))
WRONG_VALUES: Sequence[Any] = (None, True, -1, 1e999, "text", [], [[]], {}, {"a": {"a": {"a": []}}}, "\ud800")
MAX_DEPTH = 4
F = FieldDescriptor
LIMITS: Mapping[int, tuple[int, int]] = {
    F.TYPE_INT32: (-(2**31), 2**31 - 1),
    F.TYPE_UINT32: (0, 2**32 - 1),
    F.TYPE_INT64: (-(2**63), 2**63 - 1),
    F.TYPE_UINT64: (0, 2**64 - 1),
    F.TYPE_ENUM: (-(2**31), 2**31 - 1),
}


class HttpRequest(NamedTuple):
    """A request to the gateway; headers are latin-1, so that any byte can be sent."""

    verb: str
    path: str
    body: bytes
    headers: Mapping[str, str]


class Fuzzer:
    """Makes requests; `known` has values that exist, such as ids of tables, by the name of their field."""

    def __init__(self, random: Random, known: Mapping[str, Sequence[Any]]) -> None:
        self.random = random
        self._known = known

    def encoded(self, method: MethodDescriptor) -> bytes:
        """Return an encoded request, in one of four cases truncated, changed or extended."""
        body = self._message(method.input_type).SerializePartialToString()
        random = self.random
        match random.randrange(12):
            case 0:
                return body[: random.randrange(len(body) + 1)]
            case 1:
                return body + random.randbytes(random.randrange(1, 40))
            case 2 if body:
                changed = bytearray(body)
                changed[random.randrange(len(changed))] = random.randrange(256)
                return bytes(changed)
        return body

    def http(self, binding: Binding) -> HttpRequest:
        """Return a request as JSON over HTTP, in one of four cases with values of wrong types or broken text."""
        random = self.random
        fields = self._json_fields(binding.method.input_type)
        path = binding.path
        for name in binding.path_fields:
            path = path.replace(f"{{{name}}}", quote(str(fields.pop(_camel(name), random.choice(TEXTS))), safe=""))
        if random.random() < 0.15 and fields:
            fields[random.choice(list(fields))] = random.choice(WRONG_VALUES)
        if not binding.has_body:
            query = "&".join(f"{quote(name)}={quote(str(value), errors='replace')}" for name, value in fields.items())
            return HttpRequest(binding.verb.upper(), f"{path}?{query}"[:4000], b"", self._headers())
        body = json.dumps(fields).encode()
        if random.random() < 0.1:
            body = body[: random.randrange(len(body) + 1)]
        return HttpRequest(binding.verb.upper(), path, body, self._headers())

    def _json_fields(self, descriptor: Descriptor) -> dict[str, Any]:
        """Return the fields of a message that JSON can represent, which has narrower times than protobuf."""
        while True:
            try:
                return MessageToDict(self._message(descriptor))
            except SerializeToJsonError:
                continue

    def metadata(self) -> Sequence[tuple[str, str]]:
        """Return metadata as a careless client might send it; printable ASCII, as gRPC requires."""
        return [(name, value) for name, value in self._headers().items() if value.isascii() and value.isprintable()]

    def _headers(self) -> Mapping[str, str]:
        names = ("x-request-id", "x-table-id", "x-croupier-address", "traceparent")
        texts = [text for text in TEXTS if text.isprintable() and len(text) < 100 and ord(max(text or "a")) < 256]
        return {name: self.random.choice(texts) for name in names if self.random.random() < 0.1}

    def _message(self, descriptor: Descriptor, depth: int = 0) -> Message:
        message: Message = GetMessageClass(descriptor)()
        if isinstance(message, Struct):
            message.update(self._options())
            return message
        for field in descriptor.fields:
            if self.random.random() < 0.75 and (field.message_type is None or depth < MAX_DEPTH):
                self._set(message, field, depth)
        return message

    def _set(self, message: Message, field: FieldDescriptor, depth: int) -> None:
        if field.is_repeated:
            values = getattr(message, field.name)
            for _ in range(self.random.choice((0, 1, 2, 3, 60))):
                if field.message_type is None:
                    values.append(self._value(field))
                elif field.message_type.GetOptions().map_entry:
                    entry = field.message_type.fields_by_name
                    values[self._value(entry["key"])] = self._value(entry["value"])
                else:
                    values.add().CopyFrom(self._message(field.message_type, depth + 1))
        elif field.message_type is not None:
            getattr(message, field.name).CopyFrom(self._message(field.message_type, depth + 1))
        else:
            setattr(message, field.name, self._value(field))

    def _value(self, field: FieldDescriptor) -> Any:
        random = self.random
        if field.name in self._known and random.random() < 0.7:
            return random.choice(self._known[field.name])
        if field.enum_type is not None and random.random() < 0.8:
            return random.choice(field.enum_type.values).number
        if field.type in LIMITS:
            low, high = LIMITS[field.type]
            return min(max(random.choice(INTEGERS), low), high)
        others: Mapping[int, Callable[[], Any]] = {
            F.TYPE_STRING: lambda: random.choice(TEXTS),
            F.TYPE_BYTES: lambda: random.randbytes(random.choice((0, 1, 64, 65, 1000))),
            F.TYPE_BOOL: lambda: random.random() < 0.5,
            F.TYPE_DOUBLE: lambda: random.choice(FLOATS),
            F.TYPE_FLOAT: lambda: random.choice(FLOATS),
        }
        return others[field.type]()

    def _options(self) -> dict[str, Any]:
        names = ("max_rounds", "deck", "seats", "unknown", "", "x" * 200)
        values = (*FLOATS[:4], *INTEGERS[:8], *TEXTS, True, None, [1, [2]], {"a": {"b": None}})
        return {self.random.choice(names): self.random.choice(values) for _ in range(self.random.choice((0, 1, 3)))}


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.title, others))
