"""The metrics that the services and Envoy export, and those that PromQL expressions name."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

from prometheus_client import CollectorRegistry, ProcessCollector

from croupier.engine.metrics import EngineMetrics
from croupier.lobby.metrics import LobbyMetrics
from croupier.runtime.observation.loop_monitor import LoopMonitor
from croupier.runtime.observation.metrics import RpcMetrics, export_expiry
from croupier.runtime.tls.tls import Tls
from croupier.scoring.servicer import entries_counter

TARGET_LABELS = frozenset({"namespace", "job", "pod", "container", "instance"})
"""Labels that Prometheus adds for the pod."""
SUFFIXES = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count"), "gauge": ("",)}
_MANAGER = frozenset({"envoy_http_conn_manager_prefix"})
_CLUSTER = frozenset({"envoy_cluster_name"})

ENVOY: Mapping[str, frozenset[str]] = {
    "envoy_cluster_membership_healthy": _CLUSTER,
    "envoy_cluster_outlier_detection_ejections_active": _CLUSTER,
    "envoy_cluster_upstream_cx_connect_fail": _CLUSTER,
    "envoy_cluster_upstream_rq_retry": _CLUSTER,
    "envoy_cluster_upstream_rq_time_bucket": _CLUSTER | {"le"},
    "envoy_http_downstream_cx_active": _MANAGER,
    "envoy_http_downstream_rq_active": _MANAGER,
    "envoy_http_downstream_rq_xx": _MANAGER | {"envoy_response_code_class"},
    "envoy_http_jwt_authn_denied": _MANAGER,
    "envoy_http_local_rate_limit_rate_limited": frozenset({"envoy_local_http_ratelimit_prefix"}),
    "envoy_listener_downstream_global_cx_overflow": frozenset({"envoy_listener_address"}),
    "envoy_server_days_until_first_cert_expiring": frozenset(),
}
"""Envoy's metrics in use, with their labels; test_programs.py finds them on the page of a running gateway."""
ON_FIRST_REQUEST = {"envoy_cluster_upstream_rq_time_bucket"}
"""Metrics that are not on the page before the first request."""


def exported() -> dict[str, dict[str, frozenset[str]]]:
    """Return the labels of each series by its name, by job."""
    return {f"croupier-{service}": _series(registry) for service, registry in _registries().items()} | {
        "croupier-gateway": {**ENVOY, "up": frozenset()}
    }


def _registries() -> dict[str, CollectorRegistry]:
    registries = {service: CollectorRegistry() for service in ("lobby", "engine", "scoring")}
    RpcMetrics(registries["lobby"])
    LobbyMetrics(registries["lobby"])
    EngineMetrics(registries["engine"])
    RpcMetrics(registries["scoring"])
    entries_counter(registries["scoring"])
    some_tls = cast("Tls", SimpleNamespace(identity=SimpleNamespace(ends=datetime.now(UTC))))
    for registry in registries.values():
        ProcessCollector(registry=registry)
        export_expiry(registry, some_tls)
        LoopMonitor(registry, float, float)
    return registries


def _series(registry: CollectorRegistry) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {"up": frozenset()}
    for family in registry.collect():
        # Only samples have labels, and there are none yet.
        collector: Any = registry._names_to_collectors.get(family.name)  # noqa: SLF001 - there is no public way
        labels = frozenset(getattr(collector, "_labelnames", ()))
        for suffix in SUFFIXES.get(family.type, ()):
            found[family.name + suffix] = labels | ({"le"} if suffix == "_bucket" else set())
    return found


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
