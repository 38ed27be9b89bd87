"""One break at least for each policy on starting and lasting."""

from collections.abc import Mapping, Sequence

from tests.k8s.breaking import FIRST, MAIN, POD, Break

DRAIN = f"{POD}/containers/drain"
KEYS = f"{POD}/volumes/keys/projected"
NAME_ONLY = {"app.kubernetes.io/name": "croupier", "app.kubernetes.io/part-of": "croupier"}

MORE_BREAKS: Mapping[str, Sequence[Break]] = {
    "commands_are_known": [
        Break("Deployment", "engine", f"{MAIN}/args", ["serve", "engin"]),
        Break("Deployment", "engine", f"{MAIN}/args", ["serve", "lobby"]),
        Break("Deployment", "engine", f"{MAIN}/command", ["sh", "-c", "true"]),
        Break("Deployment", "engine", f"{FIRST}/args", ["migrate", "--service", "engine", "--wait"]),
        Break("Deployment", "door", f"{FIRST}/args", ["doors", "config"]),
        Break("Deployment", "door", f"{DRAIN}/command/2", "croupier.door.drains"),
        Break("Job", "migrate-", f"{MAIN}/args", ["migrate", "--all"]),
    ],
    "all_services_are_migrated": [
        Break("Job", "migrate-", f"{MAIN}/args", ["migrate", "--service", "lobby"]),
        Break("Job", "migrate-", f"{MAIN}/args", ["migrate"]),
        Break("Job", "migrate-", f"{POD}/restartPolicy", "Never"),
    ],
    "secrets_can_be_read": [
        Break("Deployment", "engine", f"{POD}/securityContext/fsGroup"),
        Break("Deployment", "engine", f"{KEYS}/defaultMode"),
        Break("Deployment", "lobby", f"{POD}/volumes/tls/secret/defaultMode", 0o400),
    ],
    "programs_have_room_to_write": [Break("Deployment", "engine", f"{MAIN}/volumeMounts/temporary")],
    "the_door_finds_its_configuration": [
        Break("Deployment", "door", f"{MAIN}/volumeMounts/configuration"),
        Break("Deployment", "door", f"{MAIN}/args/1", "/etc/envoy/envoi.yaml"),
        Break("Deployment", "door", f"{FIRST}/args/3", "/tmp"),  # noqa: S108 - in a pod
        Break("Deployment", "door", f"{DRAIN}/args/0", "127.0.0.1:7710"),
        Break("Deployment", "door", DRAIN),
    ],
    "nobody_asks_for_more_than_he_may_have": [
        Break("Deployment", "engine", f"{MAIN}/resources/requests/memory", "4Gi")
    ],
    "probes_ask_ports_that_there_are": [
        Break("Deployment", "door", f"{MAIN}/startupProbe/httpGet/port", "metric"),
        Break("Deployment", "door", f"{MAIN}/livenessProbe/tcpSocket/port", 7701),
    ],
    "addresses_lead_to_the_right_port": [
        Break("Deployment", "engine", f"{MAIN}/env/CROUPIER_SCORING_CONTROL/value", "dns:///scoring:7730"),
        Break("Deployment", "door", f"{FIRST}/env/CROUPIER_LOBBY/value", "engine:7720"),
    ],
    "keys_are_their_owners": [
        Break("Deployment", "engine", f"{POD}/volumes/tls/secret/secretName", "lobby-tls"),
        Break("Deployment", "scoring", f"{KEYS}/sources", [{"secret": {"name": "engine-signing-key"}}]),
    ],
    "all_or_nobody_speaks_tls": [
        Break("Deployment", "engine", f"{MAIN}/env/CROUPIER_TLS_CA"),
        Break("Deployment", "door", f"{FIRST}/env/CROUPIER_UPSTREAM_KEY"),
    ],
    "instances_are_replaced_one_by_one": [
        Break("Deployment", "engine", "spec/strategy", {"type": "Recreate"}),
        Break("Deployment", "lobby", "spec/strategy/rollingUpdate/maxUnavailable", 1),
        Break("Deployment", "scoring", f"{POD}/topologySpreadConstraints"),
        Break("Deployment", "engine", "spec/progressDeadlineSeconds"),
        Break("PodDisruptionBudget", "door", "spec/maxUnavailable", 0),
    ],
    "autoscalers_are_patient": [
        Break("HorizontalPodAutoscaler", "lobby", ""),
        Break("HorizontalPodAutoscaler", "lobby", "spec/minReplicas", 9),
        Break("HorizontalPodAutoscaler", "door", "spec/behavior"),
        Break("ScaledObject", "engine", "spec/maxReplicaCount", 2),
        Break("ScaledObject", "engine", "spec/advanced"),
    ],
    "names_tell_what_callers_need": [
        Break("Service", "engine", "spec/clusterIP"),
        Break("Service", "door", "spec/externalTrafficPolicy"),
    ],
    "names_outlast_a_failover": [Break("Deployment", "engine", f"{MAIN}/readinessProbe/failureThreshold", 2)],
    "the_database_holds_as_many_as_it_lets_in": [
        Break("Cluster", "postgres", "spec/resources/limits/memory", "1Gi"),
        Break("Cluster", "postgres", "spec/postgresql/parameters/max_connections", "800"),
    ],
    "the_door_holds_as_many_as_it_lets_in": [
        Break("Deployment", "door", f"{MAIN}/resources/limits/memory", "1700Mi"),
        Break("Deployment", "door", f"{FIRST}/env/0", {"name": "CROUPIER_CONNECTIONS_LIMIT", "value": "40000"}),
    ],
    "players_come_first": [
        Break("Deployment", "engine", f"{POD}/priorityClassName", "croupier-load"),
        Break("Job", "load-workers", f"{POD}/priorityClassName", "croupier-serving"),
    ],
    "the_namespace_refuses_what_is_not_restricted": [Break("Namespace", "croupier", "metadata/labels", NAME_ONLY)],
    "everything_is_watched": [
        Break("PodMonitor", "croupier", "spec/selector/matchExpressions/0/values", ["door"]),
        Break("PodMonitor", "croupier", "spec/podMetricsEndpoints/0/relabelings"),
        Break(
            "ScaledObject", "engine", "spec/triggers/0/metadata/query", 'sum(croupier_stream{job="croupier-engine"})'
        ),
    ],
    "the_database_can_lose_an_instance": [
        Break("Cluster", "postgres", "spec/instances", 2),
        Break("Cluster", "postgres", "spec/postgresql/synchronous"),
        Break("Cluster", "postgres", "spec/inheritedMetadata/labels", {"app.kubernetes.io/name": "postgres"}),
    ],
}
