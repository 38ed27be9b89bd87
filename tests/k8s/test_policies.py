"""The manifests keep the policies, and each policy sees it when they do not."""

from collections.abc import Mapping, Sequence

import pytest

from tests.k8s import (
    lasting_policies,
    network_policies,
    pod_policies,
    reference_policies,
    setting_policies,
    start_policies,
)
from tests.k8s.breaking import FIRST, MAIN, POD, Break, Policy
from tests.k8s.building import build, every_folder
from tests.k8s.more_breaks import MORE_BREAKS
from tests.k8s.network_policies import EXPECTED, arrows
from tests.k8s.objects import containers, environment, named, of_kind

ALL: tuple[Policy, ...] = (
    *pod_policies.POLICIES,
    *network_policies.POLICIES,
    *reference_policies.POLICIES,
    *setting_policies.POLICIES,
    *start_policies.POLICIES,
    *lasting_policies.POLICIES,
)

BREAKS: Mapping[str, Sequence[Break]] = {
    **MORE_BREAKS,
    "nobody_is_root": [
        Break("Deployment", "engine", f"{POD}/securityContext/runAsNonRoot"),
        Break("Deployment", "engine", f"{POD}/securityContext/runAsUser", 0),
        Break("Job", "migrate-", f"{POD}/securityContext/seccompProfile"),
        Break("Deployment", "door", f"{MAIN}/securityContext/readOnlyRootFilesystem", False),
        Break("Deployment", "lobby", f"{FIRST}/securityContext/allowPrivilegeEscalation"),
        Break("Job", "load-workers", f"{MAIN}/securityContext/capabilities/drop", []),
    ],
    "nothing_of_the_node_is_used": [
        Break("Deployment", "door", f"{POD}/hostNetwork", True),
        Break("Deployment", "engine", f"{POD}/volumes/temporary/hostPath", {"path": "/"}),
        Break("Deployment", "engine", f"{MAIN}/ports/0/hostPort", 7720),
    ],
    "nobody_can_speak_to_the_cluster": [
        Break("Deployment", "engine", f"{POD}/automountServiceAccountToken"),
        Break("Deployment", "engine", f"{POD}/serviceAccountName", "default"),
        Break("Deployment", "engine", f"{POD}/enableServiceLinks", True),
        Break("ServiceAccount", "scoring", "automountServiceAccountToken", True),
    ],
    "everything_has_limits": [
        Break("Deployment", "scoring", f"{MAIN}/resources/limits/memory"),
        Break("Deployment", "scoring", f"{FIRST}/resources/requests"),
        Break("Deployment", "engine", f"{POD}/volumes/temporary/emptyDir/sizeLimit"),
        Break("Deployment", "engine", f"{POD}/priorityClassName", "other"),
    ],
    "everything_that_stays_is_probed": [
        Break("Deployment", "engine", f"{MAIN}/livenessProbe"),
        Break("Deployment", "engine", f"{MAIN}/livenessProbe/grpc/service"),
        Break("Deployment", "engine", f"{MAIN}/readinessProbe/grpc/service", "live"),
        Break("Deployment", "engine", f"{MAIN}/startupProbe/grpc/port", 7720),
        Break("Deployment", "door", f"{MAIN}/readinessProbe"),
    ],
    "there_is_time_to_end": [
        Break("Deployment", "engine", f"{POD}/terminationGracePeriodSeconds", 30),
        Break("Deployment", "engine", f"{MAIN}/env/CROUPIER_DRAIN_SECONDS/value", "60"),
        Break("Deployment", "lobby", f"{MAIN}/lifecycle"),
        Break("Deployment", "door", f"{POD}/terminationGracePeriodSeconds", 20),
    ],
    "images_are_pinned": [
        Break("Deployment", "engine", f"{MAIN}/image", "registry.example.org/croupier"),
        Break("Deployment", "door", f"{MAIN}/image", "envoyproxy/envoy:distroless-latest"),
        Break("Cluster", "postgres", "spec/imageName", "ghcr.io/cloudnative-pg/postgresql"),
    ],
    "the_version_is_one": [
        Break("Job", "migrate-", "metadata/name", "migrate"),
        Break("Deployment", "lobby", "metadata/labels", {"app.kubernetes.io/version": "0.0.9"}),
        Break("Deployment", "engine", f"{FIRST}/image", "registry.example.org/croupier:0.0.9"),
    ],
    "services_wait_for_their_schema": [
        Break("Deployment", "engine", f"{FIRST}/args", ["migrate"]),
        Break("Deployment", "lobby", f"{POD}/initContainers"),
    ],
    "nobody_reaches_anything_by_default": [
        Break("NetworkPolicy", "nobody", ""),
        Break("NetworkPolicy", "nobody", "spec/policyTypes", ["Ingress"]),
        Break("NetworkPolicy", "nobody", "spec/ingress", [{}]),
    ],
    "arrows_have_two_ends": [
        Break("NetworkPolicy", "engine", "spec/ingress/0/from/0/podSelector", {}),
        Break("NetworkPolicy", "door", "spec/egress/0/ports/0/port", 7721),
        Break("NetworkPolicy", "scoring", "spec/ingress"),
    ],
    "policies_are_for_somebody": [
        Break("NetworkPolicy", "engine", "spec/podSelector/matchLabels", {"app.kubernetes.io/name": "motor"}),
        Break("NetworkPolicy", "engine", "spec/policyTypes", ["Ingress"]),
        Break("NetworkPolicy", "engine", "spec/ingress/0/ports"),
    ],
    "ports_have_names_and_arrows": [
        Break("Deployment", "engine", f"{MAIN}/ports/0/name"),
        Break("Service", "engine", "spec/ports/0/name"),
        Break("Service", "engine", "spec/ports/0/targetPort", "players"),
        Break("Service", "engine", "spec/selector", {"app.kubernetes.io/name": "motor"}),
        Break("NetworkPolicy", "scoring", ""),
    ],
    "everything_is_labelled": [
        Break("Deployment", "engine", "metadata/labels", {"app.kubernetes.io/name": "engine"}),
        Break("Service", "engine", "metadata/labels"),
        Break("Service", "engine", "metadata/namespace"),
        Break("Deployment", "engine", "spec/template/metadata/labels", {}),
    ],
    "selectors_match": [
        Break("Deployment", "engine", "spec/selector/matchLabels", {"app.kubernetes.io/name": "motor"}),
        Break("PodDisruptionBudget", "lobby", "spec/selector/matchLabels", {"app.kubernetes.io/name": "motor"}),
        Break("PodMonitor", "croupier", "spec/podMetricsEndpoints/0/port", "figures"),
        Break("Deployment", "engine", f"{POD}/topologySpreadConstraints/0/labelSelector/matchLabels", {"a": "b"}),
    ],
    "names_lead_somewhere": [
        Break("HorizontalPodAutoscaler", "lobby", "spec/scaleTargetRef/name", "lobbies"),
        Break("ScaledObject", "engine", "spec/scaleTargetRef/name", "engines"),
        Break("Deployment", "engine", f"{MAIN}/volumeMounts/keys/name", "key"),
        Break("PersistentVolumeClaim", "load-reports", ""),
        Break("ConfigMap", "load-", ""),
    ],
    "services_scale_and_survive": [
        Break("PodDisruptionBudget", "engine", ""),
        Break("Deployment", "lobby", "spec/replicas", 2),
        Break("HorizontalPodAutoscaler", "lobby", "spec/scaleTargetRef/name", "engine"),
    ],
    "passwords_come_from_elsewhere": [
        Break("Deployment", "engine", f"{MAIN}/env/CROUPIER_DATABASE", {"name": "X", "value": "postgresql://a:b@c/d"}),
        Break("Deployment", "engine", f"{MAIN}/env/CROUPIER_DATABASE", {"name": "PGPASSWORD", "value": "sesame"}),
        Break("ConfigMap", "dashboards", "kind", "Secret"),
    ],
    "the_database_takes_all_connections": [
        Break("Cluster", "postgres", "spec/postgresql/parameters/max_connections", "350"),
        Break("ScaledObject", "engine", "spec/maxReplicaCount", 40),
    ],
    "the_load_test_finds_whom_it_needs": [
        Break("Job", "load-workers", "spec/parallelism", 2),
        Break("ConfigMap", "load-", "data/DOOR", "door:7700"),
    ],
    "settings_are_known_and_whole": [
        Break("Deployment", "engine", f"{MAIN}/env/CROUPIER_LISTEN/name", "CROUPIER_LISTENS"),
        Break("Deployment", "engine", f"{MAIN}/env/CROUPIER_SIGNING_KEY"),
        Break("Deployment", "engine", f"{MAIN}/env/CROUPIER_DRAIN_SECONDS/value", "soon"),
        Break("Deployment", "engine", f"{MAIN}/env/CROUPIER_DRAIN_SECONDS/name", "CROUPIER_SHUFFLE_SEED"),
        Break("Deployment", "door", f"{FIRST}/env/CROUPIER_LOBBY_PUBLIC_KEY"),
    ],
    "every_service_is_configured": [
        Break("Deployment", "scoring", ""),
        Break("Deployment", "door", f"{POD}/initContainers"),
    ],
    "ports_are_those_that_are_set": [
        Break("Deployment", "lobby", f"{MAIN}/env/CROUPIER_METRICS_LISTEN/value", "0.0.0.0:7777"),
        Break("Deployment", "lobby", f"{MAIN}/env/CROUPIER_METRICS_LISTEN/value", "127.0.0.1:7719"),
        Break("Deployment", "lobby", f"{MAIN}/ports/health"),
    ],
    "addresses_are_those_of_services": [
        Break("Deployment", "lobby", f"{MAIN}/env/CROUPIER_ENGINE_CONTROL/value", "dns:///engine:7777"),
        Break("Service", "scoring", "spec/ports/control"),
        Break("Service", "traces", "spec/ports/0/port", 4318),
    ],
    "the_doors_traces_are_handed_on": [
        Break("Deployment", "engine", f"{MAIN}/env/CROUPIER_TRACES_ENDPOINT/value", "door:7700"),
        Break("Deployment", "door", f"{POD}/containers/traces"),
        Break("Deployment", "door", f"{POD}/containers/traces/args", ["127.0.0.1:4317", "collector:4317"]),
        Break("Deployment", "door", f"{FIRST}/env/CROUPIER_TRACES_ENDPOINT/value", "127.0.0.1:4318"),
    ],
    "files_are_mounted": [
        Break("Deployment", "engine", f"{MAIN}/env/CROUPIER_SIGNING_KEY/value", "/etc/croupier/keys/lobby.private.pem"),
        Break("Deployment", "engine", f"{MAIN}/volumeMounts/tls"),
        Break("Deployment", "door", f"{FIRST}/volumeMounts/certificate"),
    ],
    "secrets_are_those_that_are_made": [
        Break("Deployment", "engine", f"{POD}/volumes/tls/secret/secretName", "engine-certificate"),
        Break("Job", "migrate-", f"{MAIN}/env/CROUPIER_DATABASE/valueFrom/secretKeyRef/key", "url"),
    ],
}


@every_folder
@pytest.mark.parametrize("policy", ALL, ids=lambda policy: policy.__name__)
def test_the_manifests_keep_the_policy(policy: Policy, folder: str) -> None:
    assert list(policy(build(folder))) == []


@pytest.mark.parametrize("policy", ALL, ids=lambda policy: policy.__name__)
def test_the_policy_sees_each_break(policy: Policy) -> None:
    objects = build("everything")
    unseen = [str(one) for one in BREAKS[policy.__name__] if not list(policy(one.of(objects)))]
    assert unseen == []


def test_production_is_what_its_page_says() -> None:
    objects = build("production")
    least = {one["metadata"]["name"]: one["spec"]["minReplicas"] for one in of_kind(objects, "HorizontalPodAutoscaler")}
    assert least == {"door": 2, "lobby": 2, "engine": 3, "scoring": 2}
    assert {"Cluster", "NetworkPolicy", "PodMonitor", "PrometheusRule"} <= {one["kind"] for one in objects}
    engine, configuration = (
        environment(next(one for one in containers(named(objects, "Deployment", owner)) if one["name"] == name))
        for owner, name in (("engine", "engine"), ("door", "configuration"))
    )
    assert engine.keys() >= start_policies.MUTUAL_TLS
    assert {"CROUPIER_CERTIFICATE", *start_policies.MUTUAL_TLS_OF_THE_DOOR} <= configuration.keys()
    door = named(objects, "Service", "door")["spec"]
    assert (door["type"], door["ports"][0]["port"]) == ("LoadBalancer", 443)


@every_folder
def test_the_arrows_are_those_of_the_design(folder: str) -> None:
    assert arrows(build(folder)) == EXPECTED[folder]


@pytest.mark.parametrize(
    "broken",
    [
        Break("NetworkPolicy", "door", "spec/egress/0/ports/0/port", 7721),
        Break("NetworkPolicy", "door", "spec/ingress/1/ports/0/port", 7709),
        Break("NetworkPolicy", "postgres", ""),
        Break("NetworkPolicy", "lobby", "spec/egress"),
        Break("NetworkPolicy", "traces", "spec/egress/0/to"),
        Break("NetworkPolicy", "traces", "spec/egress/0/ports/0/port", 4318),
    ],
    ids=str,
)
def test_an_arrow_too_many_or_too_few_is_seen(broken: Break) -> None:
    assert arrows(broken.of(build("everything"))) != EXPECTED["everything"]
