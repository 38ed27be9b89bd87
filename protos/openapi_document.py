"""An OpenAPI 3.1 document of the gateway's JSON, from the contract and its annotations."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from google.api import annotations_pb2
from google.protobuf.descriptor import FieldDescriptor, MethodDescriptor, ServiceDescriptor

from json_schemas import Schema, Schemas, is_in_path, is_map

Document: TypeAlias = dict[str, Any]

NDJSON = "application/x-ndjson"
OPEN_CALLS = frozenset({"SignIn", "RefreshToken", "SignOut"})
"""The calls without a token."""
REFUSED = (400, 401, 403, 404, 405, 408, 409, 413, 415, 429, 500, 501, 503, 504)
"""The statuses of refused calls."""
PATH_PATTERN = r"^[ -$&-.0-\[\]-~]+$"
"""A field of a path has no slash and no backslash, also escaped, nor a percent sign, which some tools do not escape."""
REFUSAL: Schema = {
    "type": "object",
    "required": ["code", "message", "details"],
    "description": "The reason of a refused call.",
    "properties": {
        "code": {"type": "integer", "description": "The gRPC status code."},
        "message": {"type": "string", "description": "A sentence for people."},
        "details": {
            "type": "array",
            "description": "For programs: google.rpc.ErrorInfo with a reason, google.rpc.BadRequest and RetryInfo.",
            "items": {"type": "object"},
        },
    },
}


@dataclass(frozen=True, slots=True)
class Binding:
    """An HTTP method and path of a call."""

    method: MethodDescriptor
    verb: str
    path: str
    has_body: bool

    @property
    def path_fields(self) -> Sequence[str]:
        """Return the fields of the request that are in the path."""
        return re.findall(r"{(\w+)}", self.path)


def bindings(services: Iterable[ServiceDescriptor]) -> Iterator[Binding]:
    """Yield all HTTP bindings, in the order of the contract."""
    for method in (method for service in services for method in service.methods):
        first = method.GetOptions().Extensions[annotations_pb2.http]
        for rule in (first, *first.additional_bindings):
            if verb := rule.WhichOneof("pattern"):
                yield Binding(method, verb, getattr(rule, verb), bool(rule.body))


def openapi(services: Iterable[ServiceDescriptor], descriptions: Mapping[str, str], version: str) -> Document:
    """Return the document of services as plain data; `descriptions` are by name."""
    paths: dict[str, Document] = {}
    first: dict[str, Binding] = {}
    schemas = Schemas(descriptions, {"Refusal": REFUSAL})
    for binding in bindings(services):
        known = first.setdefault(binding.method.name, binding)
        paths.setdefault(binding.path, {})[binding.verb] = _operation(binding, known, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "croupier",
            "version": version,
            "description": "Card games for several players. 64-bit integers are strings, as in ProtoJSON.",
        },
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.components.items())),
            "responses": {"Refused": {"description": "The call was refused.", "content": _json("Refusal")}},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        },
        "security": [{"token": []}],
    }


def _operation(binding: Binding, first: Binding, schemas: Schemas) -> Document:
    method, name = binding.method, _operation_id(binding, first)
    operation = {
        "operationId": name,
        "summary": schemas.descriptions.get(f"{method.containing_service.name}.{method.name}", ""),
        "tags": [method.containing_service.name.removesuffix("Service")],
        "parameters": _parameters(binding, first, schemas),
        "responses": _responses(method, schemas),
    }
    if binding.has_body:
        in_path = binding.path_fields
        body = schemas.add_body(method.input_type, f"{name}Body" if in_path else method.input_type.name, in_path)
        is_required = not {"required", "oneOf"}.isdisjoint(schemas.components[body])
        operation["requestBody"] = {"required": is_required, "content": _json(body)}
    if method.name in OPEN_CALLS:
        operation["security"] = []
    return operation


def _operation_id(binding: Binding, first: Binding) -> str:
    """Return the call's name, for an additional binding with the path fields that only the first one has."""
    missing = [field for field in first.path_fields if field not in binding.path_fields]
    words = [word.capitalize() for field in missing for word in ("without", *field.split("_"))]
    return "".join((binding.method.name, *words))


def _responses(method: MethodDescriptor, schemas: Schemas) -> Document:
    name = schemas.add_answer(method.output_type)
    if method.server_streaming:
        called = {"description": "A stream: one such object in each line.", "content": _json(name, NDJSON)}
    else:
        called = {"description": "The call succeeded.", "content": _json(name)}
    refused = {"$ref": "#/components/responses/Refused"}
    return {"200": called, **{str(status): refused for status in REFUSED}, "default": refused}


def _json(schema: str, media_type: str = "application/json") -> Document:
    return {media_type: {"schema": {"$ref": f"#/components/schemas/{schema}"}}}


def _parameters(binding: Binding, first: Binding, schemas: Schemas) -> list[Document]:
    """Return the fields in the path and, without a body, those that neither this path nor the first one sets."""
    request = binding.method.input_type
    in_path = [_path_parameter(request.fields_by_name[name], schemas) for name in binding.path_fields]
    if binding.has_body:
        return in_path
    by_path = (*first.path_fields, *binding.path_fields)
    others = [field for field in request.fields if not is_in_path(field, by_path)]
    in_query = [field for field in others if field.message_type is None and not is_map(field)]
    return in_path + [_parameter(field, "query", schemas.in_query(request, field)) for field in in_query]


def _path_parameter(field: FieldDescriptor, schemas: Schemas) -> Document:
    schema = schemas.parameter(field.containing_type, field)
    if schema.get("type") == "string":
        schema |= {"minLength": 1, "pattern": PATH_PATTERN}
    return _parameter(field, "path", schema)


def _parameter(field: FieldDescriptor, place: str, schema: Schema) -> Document:
    description = schema.pop("description")
    return {
        "name": field.name,
        "in": place,
        "required": place == "path",
        "description": description,
        "schema": schema,
    }
