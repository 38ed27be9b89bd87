"""The manifests meet each policy, and each policy detects a manifest that does not."""

import pytest

from tests.k8s import container_policies, network_policies, operation_policies, volume_policies
from tests.k8s.building import build, every_folder
from tests.k8s.network_policies import EXPECTED, connections
from tests.k8s.objects import Break, Policy, container_of, environment, named, of_kind

pytestmark = pytest.mark.cluster

MODULES = (container_policies, volume_policies, network_policies, operation_policies)
every_policy = pytest.mark.parametrize(
    "policy",
    [one for module in MODULES for one in vars(module).values() if isinstance(one, Policy)],
    ids=lambda policy: policy.check.__name__,
)


@every_folder
@every_policy
def test_the_manifests_meet_the_policy(policy: Policy, folder: str) -> None:
    assert list(policy.check(build(folder))) == []


@every_policy
def test_the_policy_detects_each_break(policy: Policy) -> None:
    objects = build("everything")
    missed = [str(one) for one in policy.breaks if not list(policy.check(one.of(objects)))]
    assert missed == []


@every_folder
def test_the_connections_are_those_of_the_design(folder: str) -> None:
    assert connections(build(folder)) == EXPECTED[folder]


@pytest.mark.parametrize(
    "broken",
    [
        Break("NetworkPolicy", "gateway", "spec/egress/0/ports/0/port", 7721),
        Break("NetworkPolicy", "engine", "spec/ingress/0/ports"),
        Break("NetworkPolicy", "postgres"),
        Break("NetworkPolicy", "lobby", "spec/egress"),
        Break("NetworkPolicy", "traces", "spec/egress/0/to"),
    ],
    ids=str,
)
def test_a_connection_too_many_or_too_few_is_detected(broken: Break) -> None:
    assert connections(broken.of(build("everything"))) != EXPECTED["everything"]


def test_production_is_as_its_page_describes() -> None:
    objects = build("production")
    least = {one["metadata"]["name"]: one["spec"]["minReplicas"] for one in of_kind(objects, "HorizontalPodAutoscaler")}
    assert least == {"gateway": 2, "lobby": 2, "engine": 3, "scoring": 2}
    assert {"Cluster", "NetworkPolicy", "PodMonitor", "PrometheusRule"} <= {one["kind"] for one in objects}
    assert "CROUPIER_TLS_KEY" in environment(container_of(objects, "engine", "engine"))
    assert "CROUPIER_CERTIFICATE" in environment(container_of(objects, "gateway", "configuration"))
    gateway = named(objects, "Service", "gateway")["spec"]
    assert (gateway["type"], gateway["ports"][0]["port"]) == ("LoadBalancer", 443)
