"""What expressions of Prometheus speak of: metrics, services and labels."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.k8s.exported import TARGET_LABELS

_SELECTOR = re.compile(r'(?<!")\b((?:croupier|process|envoy)_\w+|up)\b(?!\s*[(:=])(?:\{([^}]*)\})?')
_MATCHER = re.compile(r'(\w+)\s*(?:=~|!=|!~|=)\s*"([^"]*)"')
_GROUPING = re.compile(r"\b(?:by|on)\s*\(([^)]*)\)")
_RECORDED = re.compile(r"\b\w+:\w+:\w+\b")
LABELS_OF_RECORDS = frozenset({"envoy_cluster_name"})


@dataclass(frozen=True, slots=True)
class Selector:
    """A metric in an expression, the services that it is asked of, and the labels that are matched."""

    metric: str
    jobs: tuple[str, ...]
    labels: frozenset[str]


def selectors(expression: str) -> list[Selector]:
    """The metrics of an expression; those of recording rules are left out."""
    plain = _GROUPING.sub("", _RECORDED.sub("recorded", expression))
    return [_selector(match[1], match[2] or "") for match in _SELECTOR.finditer(plain)]


def _selector(metric: str, matchers: str) -> Selector:
    matched = dict(_MATCHER.findall(matchers))
    return Selector(metric, _jobs(matched.get("job", "")), frozenset(matched))


def _jobs(pattern: str) -> tuple[str, ...]:
    head, bracket, alternatives = pattern.partition("(")
    names = alternatives.rstrip(")").split("|") if bracket else [""]
    return tuple(head + name for name in names) if pattern else ()


def faults(expression: str, exported: dict[str, dict[str, frozenset[str]]]) -> Iterator[str]:
    """What an expression asks that no service tells."""
    labels = TARGET_LABELS | LABELS_OF_RECORDS | {"le", ""}
    for one in selectors(expression):
        jobs = one.jobs or tuple(job for job, series in exported.items() if one.metric in series)
        if not jobs:
            yield f"no service exports {one.metric}"
        for job in jobs:
            known = exported.get(job, {})
            if one.metric not in known:
                yield f"{job} does not export {one.metric}"
                continue
            labels |= known[one.metric]
            for label in one.labels - known[one.metric] - TARGET_LABELS:
                yield f"{one.metric} has no label {label}"
    for group in _GROUPING.findall(expression):
        for label in {name.strip() for name in group.split(",")} - labels:
            yield f"nothing in {expression!r} has the label {label}"
