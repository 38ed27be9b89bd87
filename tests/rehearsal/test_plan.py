"""What a cluster would start is read from manifests, and what this cannot do is told."""

from typing import Any

import pytest

from rehearsal.manifests import CannotRehearse
from rehearsal.plan import Key, Needs, Probe, plan_of, quantity
from tests.k8s.building import build
from tests.rehearsal.small import engine, objects, plan


def test_a_deployment_has_as_many_pods_as_its_autoscaler_wants_at_least() -> None:
    assert (engine().name, engine().replicas, engine().min_ready_seconds) == ("engine", 3, 15)
    assert (engine().pod.grace_seconds, engine().pod.ports) == (45, {"grpc": 7720, "metrics": 7729})


def test_a_container_has_its_command_and_variables() -> None:
    (schema,), (container,) = engine().pod.initial, engine().pod.containers
    assert schema.environment == {"CROUPIER_DATABASE": Key("postgres-app", "uri")}
    assert container.arguments == ("serve", "engine")
    assert container.environment["CROUPIER_LISTEN"] == "0.0.0.0:7720"
    assert container.mounts == {"/etc/croupier/tls": "tls", "/tmp": "temporary"}  # noqa: S108 - the container's
    assert container.pre_stop_seconds == 10
    assert container.needs == engine().pod.needs == Needs(0.6, 512 * 2**20, 2, 2 * 2**30)


def test_probes_are_those_of_the_kubelet_with_its_usual_numbers() -> None:
    (container,) = engine().pod.containers
    assert container.startup == Probe("grpc", 7728, ("live",), 2, 60, 5)
    assert container.readiness == Probe("httpGet", 7729, ("/ready",), 10, 3, 1)
    assert container.liveness is None


def test_volumes_name_what_is_in_them() -> None:
    assert engine().pod.volumes == {"tls": ("engine-tls",), "keys": ("signing", "public"), "temporary": ()}


def test_names_lead_to_those_whom_a_service_selects() -> None:
    assert plan().names == {"engine": "engine"}


def test_the_rest_of_a_plan() -> None:
    assert [one.owner for one in plan().jobs] == ["migrate-0.1.0"]
    assert plan().configuration == {"public": {"lobby.public.pem": "a key"}}
    assert plan().database_settings == {"max_connections": "400"}


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        (("strategy", "rollingUpdate", "maxUnavailable"), 1, "only maxUnavailable 0 and maxSurge 1"),
        (("template", "spec", "volumes"), [{"name": "x", "nfs": {}}], "the volume x is of a kind"),
        (("template", "spec", "containers", 0, "resources"), {"requests": {"cpu": "much"}}, "'much' is no quantity"),
        (
            ("template", "spec", "containers", 0, "env"),
            [{"name": "NODE", "valueFrom": {"fieldRef": {}}}],
            "where NODE comes from",
        ),
        (("template", "spec", "hostNetwork"), True, "hostNetwork of engine cannot be rehearsed"),
        (
            ("template", "spec", "containers", 0, "envFrom"),
            [{"secretRef": {"name": "x"}}],
            "envFrom of engine, container engine",
        ),
        (("template", "spec", "initContainers", 0, "restartPolicy"), "Always", "restartPolicy of engine, container"),
        (("template", "spec", "containers", 0, "readinessProbe", "initialDelaySeconds"), 5, "initialDelaySeconds of"),
        (("template", "spec", "containers", 0, "lifecycle", "preStop"), {"exec": {"command": ["x"]}}, "exec of engine"),
        (("template", "spec", "containers", 0, "volumeMounts", 0, "subPath"), "x", "subPath of engine"),
        (("template", "spec", "volumes", 0, "secret", "items"), [], "items of engine, volume tls"),
    ],
)
def test_what_cannot_be_rehearsed_is_told(path: tuple[Any, ...], value: object, line: str) -> None:
    things = objects()
    place = things[0]["spec"]
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    with pytest.raises(CannotRehearse, match=line):
        plan_of(things)


def test_workloads_of_another_kind_are_told() -> None:
    things = [*objects(), {"kind": "StatefulSet", "metadata": {"name": "cache"}}]
    with pytest.raises(CannotRehearse, match="StatefulSet cache cannot be rehearsed"):
        plan_of(things)


def test_quantities() -> None:
    assert [quantity(text) for text in ("2", "100m", "128Mi", "1Gi", 3)] == [2, 0.1, 128 * 2**20, 2**30, 3]


def test_production_is_all_there() -> None:
    found = plan_of(build("production"))
    assert {one.name: one.replicas for one in found.deployments} == {"door": 2, "lobby": 2, "engine": 3, "scoring": 2}
    assert found.names == {name: name for name in ("door", "lobby", "engine", "scoring")}
    assert found.database_settings["max_connections"] == "400"
    assert len(found.monitors) == len(found.rules) == 1
