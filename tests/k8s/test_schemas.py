"""Every object is valid by Kubernetes' schemas, or by those of custom resources."""

from collections.abc import Mapping
from typing import Any

import jsonschema
import kubernetes_validate
import pytest

from tests.k8s.building import Object, build
from tests.k8s.custom_resources import SCHEMAS
from tests.k8s.objects import Break, named, title

pytestmark = pytest.mark.cluster

OLDEST = "1.30"
"""The first version with the sleep action of preStop."""
NEWEST = kubernetes_validate.latest_version()


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
