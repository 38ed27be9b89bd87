"""The OpenAPI document as a page to read."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

Part: TypeAlias = Mapping[str, Any]

OPENING = """\
# The calls over plain HTTP

Each call that the [front door](front-door.md) takes as JSON. This page is made from the contract by `make proto`;
`croupier door openapi` prints the same as an OpenAPI 3.1 document, from which tools make clients and forms.

Every call but signing in and renewing a token has the header `authorization: Bearer <access token>`.
A refusal has a [form of its own](front-door.md#what-a-refusal-looks-like).
"""


def page(document: Part) -> str:
    """The page in Markdown: the calls by service, then what they are made of."""
    schemas: Mapping[str, Part] = document["components"]["schemas"]
    return "\n".join((OPENING, *_calls(document), "## What they are made of\n", *_schemas(schemas)))


def _calls(document: Part) -> Iterator[str]:
    service = ""
    for path, verbs in document["paths"].items():
        for verb, call in verbs.items():
            if call["tags"][0] != service:
                service = call["tags"][0]
                yield f"## {service}\n"
            yield from _call(verb, path, call)


def _call(verb: str, path: str, call: Part) -> Iterator[str]:
    yield f"### `{verb.upper()} {path}`\n"
    yield f"{call['summary']}\n"
    for one in call["parameters"]:
        yield f"- `{one['name']}` in the {one['in']}, {_kind(one['schema'])}: {one['description']}"
    if "requestBody" in call:
        yield f"- the body: {_kind(_content(call['requestBody']))}"
    done = call["responses"]["200"]
    stream = " A stream: one such object to a line." if done["description"].startswith("A stream") else ""
    yield f"- the answer: {_kind(_content(done))}.{stream}\n"


def _content(carrier: Part) -> Part:
    schema: Part = carrier["content"]["application/json"]["schema"]
    return schema


def _schemas(schemas: Mapping[str, Part]) -> Iterator[str]:
    for name, schema in schemas.items():
        yield f"### {name}\n"
        yield f"{schema['description']}\n"
        if words := schema.get("enum"):
            yield f"{_listed(words)}\n"
        if fields := schema.get("properties"):
            yield from (f"- `{field}`, {_kind(kind)}: {kind['description']}" for field, kind in fields.items())
            yield ""


def _listed(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _kind(schema: Part) -> str:
    """What a value is, in words, with a link to what it is made of."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if schema["type"] == "array":
        return f"a list of {_kind(schema['items'])}"
    if "additionalProperties" in schema:
        return f"texts by name to {_kind(schema['additionalProperties'])}"
    if "contentEncoding" in schema:
        return f"text in {schema['contentEncoding']}"
    return "a 64-bit number as text" if schema.get("format") in ("int64", "uint64") else _SIMPLE[schema["type"]]


_SIMPLE = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "objects",
}
