"""Encodes and decodes results as JSON."""

import json
from dataclasses import asdict, is_dataclass
from typing import Any, get_args, get_origin, get_type_hints

from loadtest.report.result import Result


def to_json(result: Result) -> str:
    """Return the text of result.json."""
    return json.dumps(asdict(result), indent=1, ensure_ascii=False) + "\n"


def from_json(text: str) -> Result:
    """Return the result that to_json wrote."""
    result: Result = _read(Result, json.loads(text))
    return result


def _read(kind: Any, value: Any) -> Any:
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{name: _read(hints[name], one) for name, one in value.items()})
    if get_origin(kind) is tuple:
        return tuple(_read(get_args(kind)[0], one) for one in value)
    return value
