"""The result of a load test, as far as two of them are compared: read from result.json, tolerant of missing figures."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from types import MappingProxyType
from typing import Any

from croupier.cli.faults import CommandFault, misused
from loadtest.report.result import FORMAT_VERSION

FILE = "result.json"
MAX_BYTES = 4 * 2**20
"""A result has a few hundred kilobytes; parsed, hostile JSON takes some twenty times its size."""
PERCENTILES: Mapping[str, float] = MappingProxyType({"p50": 0.5, "p95": 0.05, "p99": 0.01, "p999": 0.001})
"""The shares of samples beyond them."""
CONDITIONS = ("scenario", "seed", "command", "machine", "cores", "backend", "processes")
TABLES, ACTIONS, SECONDS = "tables finished", "actions a second", "seconds of load"
CPU, VIOLATIONS, FAILURES = "CPU per thousand actions, ms", "violations", "calls that failed"
MEMORY = "memory of services, MiB"


@dataclass(frozen=True, slots=True)
class LoadResult:
    """The conditions and figures of a run by name; a figure that was not measured is missing.

    `samples` has the number of samples that a figure rests on: for a percentile those beyond it.
    """

    conditions: Mapping[str, str]
    figures: Mapping[str, float]
    samples: Mapping[str, float]


def percentile(latency: str, which: str) -> str:
    """Return the name of a figure: a percentile of a latency, such as p99 or p999."""
    return f"{latency} {'p99.9' if which == 'p999' else which}, ms"


def read_result(path: Path) -> LoadResult:
    """Return the result in a file, or in the result.json of a folder; raises CommandFault for anything else."""
    file = path / FILE if path.is_dir() else path
    body = _body(file)
    if "format" not in body or not isinstance(body.get("conditions"), dict):
        raise _no_result(file)
    if body["format"] != FORMAT_VERSION:
        raise misused(f"{file} is a result of another format: this version reads format {FORMAT_VERSION}")
    measured = ((name, _number(value)) for name, value in _figures(body))
    return LoadResult(
        conditions=dict(_conditions(body["conditions"])),
        figures={name: value for name, value in measured if value is not None},
        samples={name: number for name, value in _samples(body) if (number := _number(value)) is not None},
    )


def _body(file: Path) -> dict[str, Any]:
    if not file.is_file():
        raise misused(f"{file} is no file: name a {FILE} of a load test, or the folder that holds it")
    try:
        with file.open("rb") as opened:
            content = opened.read(MAX_BYTES + 1)
        body = json.loads(content) if len(content) <= MAX_BYTES else None
    except OSError as fault:
        raise misused(f"{file} cannot be read: {fault.strerror}") from None
    except (ValueError, RecursionError):
        raise _no_result(file) from None
    if not isinstance(body, dict):
        raise _no_result(file)
    return body


def _no_result(file: Path) -> CommandFault:
    return misused(f"{file} is not a result of a load test: name its {FILE}, or the folder that holds it")


def _conditions(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from ((name, str(body[name])) for name in CONDITIONS if name in body)
    versions = body.get("versions")
    for name, version in sorted(versions.items()) if isinstance(versions, dict) else ():
        yield f"version of {name}", str(version)


def _figures(body: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield every figure by its name, in the order of display."""
    yield SECONDS, body["conditions"].get("seconds")
    yield TABLES, body.get("tables_finished")
    yield ACTIONS, body.get("actions_per_second")
    for latency in _objects(body, "latencies"):
        for which in PERCENTILES if latency.get("count") else ():
            yield percentile(str(latency.get("name")), which), latency.get(which)
    # A service's use of 0 was not measured.
    yield CPU, body.get("server_cpu_milliseconds_per_thousand_actions") or None
    memory_bytes = _sum(body, "services", "memory_last_bytes")
    yield MEMORY, memory_bytes / 2**20 if memory_bytes else None
    yield VIOLATIONS, _sum(body, "violations", "count")
    yield FAILURES, _sum(body, "failures", "count")


def _samples(body: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    yield TABLES, body.get("tables_finished")
    yield ACTIONS, body.get("actions")
    for latency in _objects(body, "latencies"):
        count = _number(latency.get("count")) or 0.0
        for which, share in PERCENTILES.items():
            yield percentile(str(latency.get("name")), which), count * share


def _objects(body: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    listed = body.get(name)
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _sum(body: Mapping[str, Any], name: str, field: str) -> float | None:
    """Return the sum of a field over a list of objects; None if there is no such list."""
    if not isinstance(body.get(name), list):
        return None
    return sum(_number(one.get(field)) or 0.0 for one in _objects(body, name))


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if isfinite(value) else None
    except OverflowError:
        return None
