"""Plain data as YAML, in the plainest of its forms: blocks, and scalars as JSON has them."""

import json
import re
from collections.abc import Iterator
from typing import Any

_WORD = re.compile(r"[a-z][a-z0-9_]*")
_NO_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""What YAML takes for true, false or nothing."""


def as_yaml(content: dict[str, Any]) -> str:
    """The text of a document; its values are what JSON can hold."""
    return "".join(f"{line}\n" for line in _lines(content))


def _lines(value: Any) -> Iterator[str]:
    match value:
        case dict() if value:
            for key, one in value.items():
                yield from _entry(key if _WORD.fullmatch(key) and key not in _NO_WORDS else _scalar(key), one)
        case list() | tuple() if value:
            for one in value:
                first, *others = _lines(one)
                yield f"- {first}"
                yield from (f"  {line}" for line in others)
        case _:
            yield _scalar(value)


def _entry(key: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict | list | tuple) and value:
        yield f"{key}:"
        yield from (f"  {line}" for line in _lines(value))
    else:
        yield f"{key}: {_scalar(value)}"


def _scalar(value: Any) -> str:
    """As in JSON, but without its pairs of surrogates, which YAML does not put together."""
    return re.sub(r"[^ -~]", lambda found: f"\\U{ord(found[0]):08x}", json.dumps(value, ensure_ascii=False))
