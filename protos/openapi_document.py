"""An OpenAPI 3.1 document of the gateway's JSON, from the contract and its annotations."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from google.api import annotations_pb2
from google.protobuf.descriptor import FieldDescriptor, MethodDescriptor, ServiceDescriptor

from json_schemas import field_schema, is_map, schemas_of

Document: TypeAlias = dict[str, Any]

OPEN_CALLS = frozenset({"SignIn", "RefreshToken", "SignOut"})
"""The calls without a token."""
REFUSAL: Document = {
    "type": "object",
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
    bound = list(bindings(services))
    paths: dict[str, Document] = {}
    first: dict[str, Binding] = {}
    for binding in bound:
        name = _operation_id(binding, first.setdefault(binding.method.name, binding))
        paths.setdefault(binding.path, {})[binding.verb] = _operation(name, binding, descriptions)
    requests = [each.method.input_type for each in bound if each.has_body]
    messages = [*requests, *(each.method.output_type for each in bound)]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "croupier",
            "version": version,
            "description": "Card games for several players. 64-bit integers are strings, as in ProtoJSON.",
        },
        "paths": paths,
        "components": {
            "schemas": {"Refusal": REFUSAL, **schemas_of(messages, descriptions)},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        },
        "security": [{"token": []}],
    }


def _operation(name: str, binding: Binding, descriptions: Mapping[str, str]) -> Document:
    method = binding.method
    summary = descriptions.get(f"{method.containing_service.name}.{method.name}", "")
    operation = {
        "operationId": name,
        "summary": summary,
        "tags": [method.containing_service.name.removesuffix("Service")],
        "parameters": _parameters(binding, descriptions),
        "responses": {
            "200": {"description": _response_description(method), "content": _json(method.output_type.name)},
            "default": {"description": "The call was refused.", "content": _json("Refusal")},
        },
    }
    if binding.has_body:
        operation["requestBody"] = {"required": True, "content": _json(method.input_type.name)}
    if method.name in OPEN_CALLS:
        operation["security"] = []
    return operation


def _operation_id(binding: Binding, first: Binding) -> str:
    """Return the call's name, for an additional binding with the path fields that only the first one has."""
    missing = [field for field in first.path_fields if field not in binding.path_fields]
    words = [word.capitalize() for field in missing for word in ("without", *field.split("_"))]
    return "".join((binding.method.name, *words))


def _response_description(method: MethodDescriptor) -> str:
    return "A stream: one such object in each line." if method.server_streaming else "The call succeeded."


def _json(schema: str) -> Document:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}


def _parameters(binding: Binding, descriptions: Mapping[str, str]) -> list[Document]:
    """Return the fields in the path and, without a body, all others as those in the query."""
    request = binding.method.input_type
    parameter = partial(_parameter, request.name, descriptions)
    in_path = [parameter(request.fields_by_name[name], "path") for name in binding.path_fields]
    if binding.has_body:
        return in_path
    others = [field for field in request.fields if field.name not in binding.path_fields]
    return in_path + [parameter(field, "query") for field in others if field.message_type is None and not is_map(field)]


def _parameter(message: str, descriptions: Mapping[str, str], field: FieldDescriptor, place: str) -> Document:
    return {
        "name": field.name,
        "in": place,
        "required": place == "path",
        "description": descriptions.get(f"{message}.{field.name}", ""),
        "schema": field_schema(field),
    }
