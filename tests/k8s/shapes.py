"""Schemas of the operators' objects, limited to the fields in use."""

from collections.abc import Mapping
from typing import Any

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_LABELS = {"type": "object", "additionalProperties": _TEXT}
_NUMBER = {"type": "integer"}
_ANY = {"type": "object"}
_DURATION = {"type": "string", "pattern": r"^\d+(ms|s|m|h)$"}


def _closed(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    shape = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**shape, "required": list(required)}


def _list(**properties: Any) -> dict[str, Any]:
    return {"type": "array", "items": _closed(**properties)}


def _object(version: str, spec: Any) -> dict[str, Any]:
    metadata = _closed(("name",), name=_TEXT, namespace=_TEXT, labels=_LABELS)
    required = ("apiVersion", "kind", "metadata", "spec")
    return _closed(required, apiVersion={"const": version}, kind=_TEXT, metadata=metadata, spec=spec)


_RELABELINGS = _list(sourceLabels=_TEXTS, targetLabel=_TEXT, replacement=_TEXT)
_POD_MONITOR = _closed(
    ("selector", "podMetricsEndpoints"),
    selector=_ANY,
    podMetricsEndpoints=_list(
        port=_TEXT, path=_TEXT, interval=_DURATION, scrapeTimeout=_DURATION, relabelings=_RELABELINGS
    ),
)
_STORAGE = _closed(("size",), size={"type": "string", "pattern": r"^\d+Gi$"})
_PINNED_IMAGE = {"type": "string", "pattern": r":\d+\.\d+"}
_CLUSTER = _closed(
    ("instances", "storage", "imageName"),
    instances=_NUMBER,
    imageName=_PINNED_IMAGE,
    inheritedMetadata=_closed(labels=_LABELS),
    bootstrap=_closed(initdb=_closed(("database", "owner"), database=_TEXT, owner=_TEXT)),
    postgresql=_closed(
        parameters=_LABELS,
        synchronous=_closed(("method", "number"), method={"enum": ["any", "first"]}, number=_NUMBER),
    ),
    affinity=_closed(
        enablePodAntiAffinity={"type": "boolean"},
        topologyKey=_TEXT,
        podAntiAffinityType={"enum": ["preferred", "required"]},
    ),
    storage=_STORAGE,
    walStorage=_STORAGE,
    resources=_ANY,
)

_SCALED = _closed(
    ("scaleTargetRef", "triggers"),
    scaleTargetRef=_closed(("name",), name=_TEXT),
    minReplicaCount=_NUMBER,
    maxReplicaCount=_NUMBER,
    pollingInterval=_NUMBER,
    advanced=_closed(horizontalPodAutoscalerConfig=_closed(behavior=_ANY)),
    # KEDA reads all metadata as texts.
    triggers=_list(
        required=("type", "metadata"),
        type={"enum": ["prometheus", "cpu"]},
        metricType={"enum": ["Utilization"]},
        metadata=_LABELS,
    ),
)

SHAPES: Mapping[str, Mapping[str, Any]] = {
    "PodMonitor": _object("monitoring.coreos.com/v1", _POD_MONITOR),
    # promtool checks the rest.
    "PrometheusRule": _object("monitoring.coreos.com/v1", _closed(("groups",), groups={"type": "array"})),
    "Cluster": _object("postgresql.cnpg.io/v1", _CLUSTER),
    "ScaledObject": _object("keda.sh/v1alpha1", _SCALED),
}
"""Schemas by kind."""
