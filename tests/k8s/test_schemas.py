"""Every object is valid by Kubernetes' schemas, or by those of custom resources, limited to the fields in use.

These are of the Prometheus Operator, CloudNativePG and KEDA.
"""

from collections.abc import Mapping
from typing import Any

import jsonschema
import kubernetes_validate
import pytest

from tests.k8s.building import Object, build
from tests.k8s.objects import Break, named, title

pytestmark = pytest.mark.cluster

OLDEST = "1.30"
"""The first version with the sleep action of preStop."""
NEWEST = kubernetes_validate.latest_version()

_STRING = {"type": "string"}
_STRINGS = {"type": "array", "items": _STRING}
_STRINGS_BY_NAME = {"type": "object", "additionalProperties": _STRING}
_INTEGER = {"type": "integer"}
_BOOLEAN = {"type": "boolean"}
_ANY_OBJECT = {"type": "object"}
_DURATION = {"type": "string", "pattern": r"^\d+(ms|s|m|h)$"}


def _object(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    """Return the schema of an object with these properties and no other."""
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": list(required)}


def _list(**properties: Any) -> dict[str, Any]:
    return {"type": "array", "items": _object(**properties)}


def _custom_resource(version: str, spec: Any) -> dict[str, Any]:
    metadata = _object(("name",), name=_STRING, namespace=_STRING, labels=_STRINGS_BY_NAME)
    required = ("apiVersion", "kind", "metadata", "spec")
    return _object(required, apiVersion={"const": version}, kind=_STRING, metadata=metadata, spec=spec)


_RELABELINGS = _list(sourceLabels=_STRINGS, targetLabel=_STRING, replacement=_STRING)
_POD_MONITOR = _object(
    ("selector", "podMetricsEndpoints"),
    selector=_ANY_OBJECT,
    podMetricsEndpoints=_list(
        port=_STRING, path=_STRING, interval=_DURATION, scrapeTimeout=_DURATION, relabelings=_RELABELINGS
    ),
)
_STORAGE = _object(("size",), size={"type": "string", "pattern": r"^\d+Gi$"})
_PINNED_IMAGE = {"type": "string", "pattern": r":\d+\.\d+[\w.-]*@sha256:[0-9a-f]{64}$"}
_CLUSTER = _object(
    ("instances", "storage", "imageName"),
    instances=_INTEGER,
    imageName=_PINNED_IMAGE,
    inheritedMetadata=_object(labels=_STRINGS_BY_NAME),
    bootstrap=_object(initdb=_object(("database", "owner"), database=_STRING, owner=_STRING)),
    managed=_object(
        roles=_list(
            name=_STRING, ensure={"enum": ["present", "absent"]}, login=_BOOLEAN, passwordSecret=_object(name=_STRING)
        )
    ),
    postgresql=_object(
        parameters=_STRINGS_BY_NAME,
        synchronous=_object(("method", "number"), method={"enum": ["any", "first"]}, number=_INTEGER),
    ),
    affinity=_object(
        enablePodAntiAffinity=_BOOLEAN,
        topologyKey=_STRING,
        podAntiAffinityType={"enum": ["preferred", "required"]},
    ),
    storage=_STORAGE,
    walStorage=_STORAGE,
    resources=_ANY_OBJECT,
)

_SCALED_OBJECT = _object(
    ("scaleTargetRef", "triggers"),
    scaleTargetRef=_object(("name",), name=_STRING),
    minReplicaCount=_INTEGER,
    maxReplicaCount=_INTEGER,
    pollingInterval=_INTEGER,
    advanced=_object(horizontalPodAutoscalerConfig=_object(behavior=_ANY_OBJECT)),
    # KEDA reads all metadata as strings.
    triggers=_list(
        required=("type", "metadata"),
        type={"enum": ["prometheus", "cpu"]},
        metricType={"enum": ["Utilization"]},
        metadata=_STRINGS_BY_NAME,
    ),
)

SCHEMAS: Mapping[str, Mapping[str, Any]] = {
    "PodMonitor": _custom_resource("monitoring.coreos.com/v1", _POD_MONITOR),
    # promtool checks the rest.
    "PrometheusRule": _custom_resource("monitoring.coreos.com/v1", _object(("groups",), groups={"type": "array"})),
    "Cluster": _custom_resource("postgresql.cnpg.io/v1", _CLUSTER),
    "ScaledObject": _custom_resource("keda.sh/v1alpha1", _SCALED_OBJECT),
}


def faults(thing: Object, version: str) -> list[str]:
    """Return the faults of an object by the schema of its kind."""
    schema: Mapping[str, Any] | None = SCHEMAS.get(thing["kind"])
    try:
        if schema is not None:
            jsonschema.validate(thing, schema)
        else:
            kubernetes_validate.validate(thing, version, strict=True)
    except (jsonschema.ValidationError, kubernetes_validate.ValidationError) as fault:
        return [f"{title(thing)}: {fault.message}"]
    return []


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
@pytest.mark.parametrize("folder", ["laptop", pytest.param("production", marks=pytest.mark.slow), "everything"])
def test_every_object_is_valid(folder: str, version: str) -> None:
    assert [fault for one in build(folder) for fault in faults(one, version)] == []


@pytest.mark.parametrize(
    "broken",
    [
        Break("Deployment", "engine", "spec/template/spec/containers/0/imagePull", "Always"),
        Break("Deployment", "engine", "spec/selector"),
        Break("HorizontalPodAutoscaler", "lobby", "spec/maxReplicas", "many"),
        Break("NetworkPolicy", "engine", "spec/ingress/0/ports/0/port", {}),
        Break("Cluster", "postgres", "spec/instances", "3"),
        Break("Cluster", "postgres", "spec/instance", 3),
        Break("Cluster", "postgres", "spec/imageName", "ghcr.io/cloudnative-pg/postgresql:latest"),
        Break("PodMonitor", "croupier", "spec/podMetricsEndpoints/0/ports", "metrics"),
        Break("ScaledObject", "engine", "spec/triggers/0/metadata/threshold", 4000),
    ],
    ids=str,
)
def test_an_invalid_object_is_detected(broken: Break) -> None:
    objects = broken.of(build("everything"))
    assert faults(named(objects, broken.kind, broken.name), NEWEST) != []
