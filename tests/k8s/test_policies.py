"""The manifests meet each policy, and each policy detects a manifest that does not."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import pytest

from tests.k8s import container_policies, network_policies, operation_policies
from tests.k8s.building import Object, build, every_folder
from tests.k8s.network_policies import EXPECTED, arrows
from tests.k8s.objects import Break, container_of, environment, named, of_kind

Policy = Callable[[Sequence[Object]], Iterator[str]]

pytestmark = pytest.mark.cluster

ALL: tuple[Policy, ...] = (
    *container_policies.POLICIES,
    *network_policies.POLICIES,
    *operation_policies.POLICIES,
)
POD = "spec/template/spec"
MAIN = f"{POD}/containers/0"
FIRST = f"{POD}/initContainers/0"
ENV = f"{MAIN}/env"

BREAKS: Mapping[str, Sequence[Break]] = {
    "commands_exist": [
        Break("Deployment", "engine", f"{MAIN}/args", ["serve", "lobby"]),
        Break("Deployment", "door", f"{POD}/containers/drain/command/2", "croupier.door.drains"),
        Break("Job", "migrate-", f"{MAIN}/args", ["migrate", "--all"]),
    ],
    "settings_are_accepted": [
        Break("Deployment", "scoring"),
        Break("Deployment", "engine", f"{ENV}/CROUPIER_LISTEN/name", "CROUPIER_LISTENS"),
        Break("Deployment", "engine", f"{ENV}/CROUPIER_SIGNING_KEY"),
        Break("Deployment", "engine", f"{ENV}/CROUPIER_DRAIN_SECONDS/name", "CROUPIER_SHUFFLE_SEED"),
    ],
    "ports_are_those_of_the_settings": [
        Break("Deployment", "lobby", f"{ENV}/CROUPIER_METRICS_LISTEN/value", "127.0.0.1:7719"),
        Break("Deployment", "lobby", f"{MAIN}/ports/health"),
        Break("Deployment", "door", f"{MAIN}/ports/0/name"),
    ],
    "probes_ask_the_right_port": [
        Break("Deployment", "engine", f"{MAIN}/livenessProbe/grpc/service"),
        Break("Deployment", "engine", f"{MAIN}/startupProbe/grpc/port", 7720),
        Break("Deployment", "door", f"{MAIN}/startupProbe/httpGet/port", "metric"),
    ],
    "addresses_lead_to_the_right_port": [
        Break("Deployment", "engine", f"{ENV}/CROUPIER_SCORING_CONTROL/value", "dns:///scoring:7730"),
        Break("Deployment", "door", f"{FIRST}/env/CROUPIER_LOBBY/value", "engine:7720"),
    ],
    "secrets_are_those_that_exist": [
        Break("Deployment", "engine", f"{POD}/volumes/tls/secret/secretName", "lobby-tls"),
        Break("Deployment", "engine", f"{POD}/volumes/keys/projected/defaultMode"),
        Break("Job", "migrate-", f"{ENV}/CROUPIER_DATABASE/valueFrom/secretKeyRef/key", "url"),
    ],
    "mutual_tls_is_everywhere_or_nowhere": [Break("Deployment", "engine", f"{ENV}/CROUPIER_TLS_CA")],
    "volumes_are_limited_and_temporary_files_possible": [
        Break("Deployment", "engine", f"{POD}/volumes/temporary/emptyDir/sizeLimit"),
        Break("Deployment", "engine", f"{MAIN}/volumeMounts/temporary"),
    ],
    "the_gateway_finds_its_configuration": [
        Break("Deployment", "door", f"{MAIN}/volumeMounts/configuration"),
        Break("Deployment", "door", f"{POD}/containers/drain/args/0", "127.0.0.1:7710"),
    ],
    "the_traces_of_the_gateway_are_forwarded": [Break("Deployment", "door", f"{POD}/containers/traces")],
    "the_load_test_finds_the_gateway": [Break("Job", "load-workers", "spec/parallelism", 2)],
    "the_schema_is_migrated_before": [
        Break("Job", "migrate-", f"{MAIN}/args", ["migrate", "--service", "lobby"]),
        Break("Deployment", "engine", f"{FIRST}/args", ["migrate"]),
    ],
    "everything_is_closed_by_default": [Break("NetworkPolicy", "nobody", "spec/policyTypes", ["Ingress"])],
    "arrows_have_two_ends": [Break("NetworkPolicy", "engine", "spec/ingress/0/from/0/podSelector", {})],
    "services_lead_to_open_ports": [Break("Service", "engine", "spec/ports/0/targetPort", "players")],
    "the_version_is_one": [
        Break("Deployment", "lobby", "metadata/labels", {"app.kubernetes.io/version": "0.0.9"}),
        Break("Deployment", "engine", f"{FIRST}/image", "registry.example.org/croupier:0.0.9"),
    ],
    "instances_are_replaced_one_by_one": [
        Break("Deployment", "scoring", f"{POD}/topologySpreadConstraints"),
        Break("PodDisruptionBudget", "door", "spec/maxUnavailable", 0),
        Break("PodDisruptionBudget", "lobby", "spec/selector/matchLabels", {"app.kubernetes.io/name": "motor"}),
    ],
    "there_is_time_to_drain": [Break("Deployment", "engine", f"{POD}/terminationGracePeriodSeconds", 30)],
    "one_autoscaler_scales_each_service_slowly": [
        Break("HorizontalPodAutoscaler", "lobby"),
        Break("Deployment", "lobby", "spec/replicas", 2),
        Break("ScaledObject", "engine", "spec/maxReplicaCount", 2),
        Break("ScaledObject", "engine", "spec/triggers/0/metadata/query", "sum(croupier_stream)"),
    ],
    "names_resolve_to_replicas": [
        Break("Service", "engine", "spec/clusterIP"),
        Break("Service", "door", "spec/externalTrafficPolicy"),
    ],
    "services_have_priority_over_the_load_test": [
        Break("Job", "load-workers", f"{POD}/priorityClassName", "croupier-serving")
    ],
    "the_namespace_is_restricted": [Break("Namespace", "croupier", "metadata/labels", {})],
    "references_exist": [
        Break("Deployment", "engine", f"{MAIN}/volumeMounts/keys/name", "key"),
        Break("Deployment", "engine", f"{MAIN}/resources/requests/memory", "4Gi"),
        Break("ConfigMap", "load-"),
    ],
    "metrics_are_collected": [
        Break("PodMonitor", "croupier", "spec/selector/matchExpressions/0/values", ["door"]),
        Break("PodMonitor", "croupier", "spec/podMetricsEndpoints/0/port", "figures"),
    ],
    "no_secret_is_written_down": [
        Break("Deployment", "engine", f"{ENV}/CROUPIER_DATABASE", {"name": "X", "value": "postgresql://a:b@c/d"}),
        Break("ConfigMap", "dashboards", "kind", "Secret"),
    ],
    "the_database_accepts_all_connections": [
        Break("Cluster", "postgres", "spec/postgresql/parameters/max_connections", "350"),
        Break("Cluster", "postgres", "spec/resources/limits/memory", "1Gi"),
    ],
    "the_database_can_lose_an_instance": [Break("Cluster", "postgres", "spec/instances", 2)],
    "the_gateway_has_memory_for_its_connections": [
        Break("Deployment", "door", f"{FIRST}/env/0", {"name": "CROUPIER_CONNECTIONS_LIMIT", "value": "40000"})
    ],
}


@every_folder
@pytest.mark.parametrize("policy", ALL, ids=lambda policy: policy.__name__)
def test_the_manifests_meet_the_policy(policy: Policy, folder: str) -> None:
    assert list(policy(build(folder))) == []


@pytest.mark.parametrize("policy", ALL, ids=lambda policy: policy.__name__)
def test_the_policy_detects_each_break(policy: Policy) -> None:
    objects = build("everything")
    missed = [str(one) for one in BREAKS[policy.__name__] if not list(policy(one.of(objects)))]
    assert missed == []


@every_folder
def test_the_arrows_are_those_of_the_design(folder: str) -> None:
    assert arrows(build(folder)) == EXPECTED[folder]


@pytest.mark.parametrize(
    "broken",
    [
        Break("NetworkPolicy", "door", "spec/egress/0/ports/0/port", 7721),
        Break("NetworkPolicy", "engine", "spec/ingress/0/ports"),
        Break("NetworkPolicy", "postgres"),
        Break("NetworkPolicy", "lobby", "spec/egress"),
        Break("NetworkPolicy", "traces", "spec/egress/0/to"),
    ],
    ids=str,
)
def test_an_arrow_too_many_or_too_few_is_detected(broken: Break) -> None:
    assert arrows(broken.of(build("everything"))) != EXPECTED["everything"]


def test_production_is_what_its_page_describes() -> None:
    objects = build("production")
    least = {one["metadata"]["name"]: one["spec"]["minReplicas"] for one in of_kind(objects, "HorizontalPodAutoscaler")}
    assert least == {"door": 2, "lobby": 2, "engine": 3, "scoring": 2}
    assert {"Cluster", "NetworkPolicy", "PodMonitor", "PrometheusRule"} <= {one["kind"] for one in objects}
    assert "CROUPIER_TLS_KEY" in environment(container_of(objects, "engine", "engine"))
    assert "CROUPIER_CERTIFICATE" in environment(container_of(objects, "door", "configuration"))
    gateway = named(objects, "Service", "door")["spec"]
    assert (gateway["type"], gateway["ports"][0]["port"]) == ("LoadBalancer", 443)
