"""Results as JSON text, and back."""

import json
from collections.abc import Mapping
from dataclasses import MISSING, asdict, fields, is_dataclass
from math import isfinite, nan
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from loadtest.report.result import FORMAT_VERSION, Result


def to_json(result: Result) -> str:
    """The text of result.json; figures that are no numbers become null."""
    return json.dumps(_plain(asdict(result)), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def from_json(text: str) -> Result:
    """The result that a text holds; raises ValueError in one line if it is none, or one of another format.

    Fields that this version does not know are passed over, and those that have a default may be missing.
    """
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise ValueError(f"not a result of a load test: no JSON ({fault})") from None
    if not isinstance(body, dict) or "format" not in body:
        raise ValueError('not a result of a load test: an object with "format" is expected')
    if body["format"] != FORMAT_VERSION:
        raise ValueError(f"a result of format {body['format']!r}: this version reads format {FORMAT_VERSION}")
    decoded: Result = _read(Result, body, "result")
    return decoded


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value


def _read(kind: Any, value: Any, place: str) -> Any:
    """A value of the named type; `place` says where it stands."""
    origin, parts = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        return _object(kind, value, place)
    if origin is UnionType:
        return None if value is None else _read(parts[0], value, place)
    if origin is tuple:
        items = _checked(value, list, place)
        return tuple(_read(parts[0], item, f"{place}[{at}]") for at, item in enumerate(items))
    if origin is Mapping:
        pairs = _checked(value, dict, place)
        return {key: _read(parts[1], item, f"{place}.{key}") for key, item in pairs.items()}
    if kind is float:
        return nan if value is None else _float(_checked(value, (int, float), place), place)
    return _checked(value, kind, place)


def _float(value: float, place: str) -> float:
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"not a result of a load test: {place} is too large") from None


def _object(kind: Any, value: Any, place: str) -> Any:
    body, hints = _checked(value, dict, place), get_type_hints(kind)
    for one in fields(kind):
        if one.name not in body and one.default is MISSING and one.default_factory is MISSING:
            raise ValueError(f"not a whole result of a load test: {place} has no {one.name!r}")
    known = [one.name for one in fields(kind) if one.name in body]
    return kind(**{name: _read(hints[name], body[name], f"{place}.{name}") for name in known})


def _checked(value: Any, kind: Any, place: str) -> Any:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ValueError(f"not a result of a load test: {place} cannot be {type(value).__name__}")
    return value
