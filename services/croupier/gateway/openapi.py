"""An OpenAPI 3.1 document of the gateway's JSON, generated from the contract."""

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


def openapi() -> Document:
    """Return the document as plain data."""
    descriptions = comments()
    paths: dict[str, Document] = {}
    for binding in bindings():
        paths.setdefault(binding.path, {})[binding.verb.lower()] = _operation(binding, descriptions)
    requests = [each.method.input_type for each in bindings() if each.has_body]
    messages = [*requests, *(each.method.output_type for each in bindings())]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "croupier",
            "version": version("croupier"),
            "description": "Card games for several players. 64-bit integers are strings, as in ProtoJSON.",
        },
        "paths": paths,
        "components": {
            "schemas": {"Refusal": REFUSAL, **schemas_of(messages, descriptions)},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        },
        "security": [{"token": []}],
    }


def _operation(binding: Binding, descriptions: Mapping[str, str]) -> Document:
    method = binding.method
    summary = descriptions.get(f"{method.containing_service.name}.{method.name}", "")
    operation = {
        "operationId": _operation_id(binding),
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


def _operation_id(binding: Binding) -> str:
    """Return the call's name, for an additional binding with the path fields that only the first one has."""
    first = next(one for one in bindings() if one.method is binding.method)
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


def _parameter(message: str, descriptions: Mapping[str, str], field: Any, place: str) -> Document:
    return {
        "name": field.name,
        "in": place,
        "required": place == "path",
        "description": descriptions.get(f"{message}.{field.name}", ""),
        "schema": field_schema(field),
    }
