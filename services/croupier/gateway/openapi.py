"""The JSON of the gateway as an OpenAPI 3.1 document, made from the contract."""

from collections.abc import Mapping
from functools import partial
from importlib.metadata import version
from typing import Any, TypeAlias

from google.protobuf.descriptor import MethodDescriptor

from croupier.gateway.bindings import OPEN_CALLS, Binding, bindings
from croupier.gateway.comments import comments
from croupier.gateway.schemas import field_schema, is_map, schemas_of

Document: TypeAlias = dict[str, Any]

REFUSAL: Document = {
    "type": "object",
    "description": "Why nothing was done.",
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


def openapi() -> Document:
    """The document, as plain data."""
    said = comments()
    paths: dict[str, Document] = {}
    for binding in bindings():
        paths.setdefault(binding.path, {})[binding.verb.lower()] = _operation(binding, said)
    asked = [one.method.input_type for one in bindings() if one.has_body]
    messages = [*asked, *(one.method.output_type for one in bindings())]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "croupier",
            "version": version("croupier"),
            "description": "Card games for several players. 64-bit integers are texts, as in JSON of Protocol Buffers.",
        },
        "paths": paths,
        "components": {
            "schemas": {"Refusal": REFUSAL, **schemas_of(messages, said)},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        },
        "security": [{"token": []}],
    }


def _operation(binding: Binding, said: Mapping[str, str]) -> Document:
    method = binding.method
    summary = said.get(f"{method.containing_service.name}.{method.name}", "")
    operation = {
        "operationId": _operation_id(binding),
        "summary": summary,
        "tags": [method.containing_service.name.removesuffix("Service")],
        "parameters": _parameters(binding, said),
        "responses": {
            "200": {"description": _what_comes(method), "content": _json(method.output_type.name)},
            "default": {"description": "It was refused.", "content": _json("Refusal")},
        },
    }
    if binding.has_body:
        operation["requestBody"] = {"required": True, "content": _json(method.input_type.name)}
    if method.name in OPEN_CALLS:
        operation["security"] = []
    return operation


def _operation_id(binding: Binding) -> str:
    """The call's name; a further way to make it says which fields of the first are not in its path."""
    first = next(one for one in bindings() if one.method is binding.method)
    left_out = [field for field in first.path_fields if field not in binding.path_fields]
    words = [word.capitalize() for field in left_out for word in ("without", *field.split("_"))]
    return "".join((binding.method.name, *words))


def _what_comes(method: MethodDescriptor) -> str:
    return "A stream: one such object to a line." if method.server_streaming else "It was done."


def _json(schema: str) -> Document:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}


def _parameters(binding: Binding, said: Mapping[str, str]) -> list[Document]:
    """The fields in the path and, where there is no body, all others in the query."""
    request = binding.method.input_type
    parameter = partial(_parameter, request.name, said)
    in_path = [parameter(request.fields_by_name[name], "path") for name in binding.path_fields]
    if binding.has_body:
        return in_path
    others = [field for field in request.fields if field.name not in binding.path_fields]
    return in_path + [parameter(field, "query") for field in others if field.message_type is None and not is_map(field)]


def _parameter(message: str, said: Mapping[str, str], field: Any, place: str) -> Document:
    return {
        "name": field.name,
        "in": place,
        "required": place == "path",
        "description": said.get(f"{message}.{field.name}", ""),
        "schema": field_schema(field),
    }
