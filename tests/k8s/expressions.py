"""Metrics, services and labels in PromQL expressions."""

import re
from collections.abc import Iterator, Mapping

from tests.k8s.exported import TARGET_LABELS

_SELECTOR = re.compile(r'(?<!")\b((?:croupier|process|envoy)_\w+|up)\b(?!\s*[(:=])(?:\{([^}]*)\})?')
_MATCHER = re.compile(r'(\w+)\s*(?:=~|!=|!~|=)\s*"([^"]*)"')
_GROUPING = re.compile(r"\b(?:by|on)\s*\(([^)]*)\)")
_RECORDED = re.compile(r"\b\w+:\w+:\w+\b")
LABELS_OF_RECORDS = frozenset({"envoy_cluster_name"})


def faults(expression: str, exported: Mapping[str, Mapping[str, frozenset[str]]]) -> Iterator[str]:
    """Yield metrics and labels of an expression that no service exports; recording rules are left out."""
    plain = _GROUPING.sub("", _RECORDED.sub("recorded", expression))
    labels = TARGET_LABELS | LABELS_OF_RECORDS | {"le", ""}
    for metric, matchers in _SELECTOR.findall(plain):
        matched = dict(_MATCHER.findall(matchers))
        jobs = _jobs(matched.get("job", "")) or [job for job, series in exported.items() if metric in series]
        if not jobs:
            yield f"no service exports {metric}"
        for job in jobs:
            known = exported.get(job, {}).get(metric)
            if known is None:
                yield f"{job} does not export {metric}"
                continue
            labels |= known
            for label in matched.keys() - known - TARGET_LABELS:
                yield f"{metric} has no label {label}"
    for group in _GROUPING.findall(expression):
        for label in {name.strip() for name in group.split(",")} - labels:
            yield f"nothing in {expression!r} has the label {label}"


def _jobs(pattern: str) -> list[str]:
    """Return the jobs of a pattern such as croupier-(lobby|engine), or all without a pattern."""
    head, bracket, alternatives = pattern.partition("(")
    names = alternatives.rstrip(")").split("|") if bracket else [""]
    return [head + name for name in names] if pattern else []
