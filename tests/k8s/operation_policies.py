"""Rules for uninterrupted service: versions, roll-outs, scaling, metrics, the database."""

from collections.abc import Iterator, Sequence

from croupier.gateway.settings import GatewaySettings
from croupier.runtime.database.drivers import POOL_SIZE
from croupier.runtime.database.schema_versions import MIGRATION_SECONDS
from tests.k8s.building import Object
from tests.k8s.exported import exported, faults
from tests.k8s.objects import (
    FIRST,
    MAIN,
    NAME_LABEL,
    POD,
    SCALERS,
    SERVICES,
    Break,
    container_of,
    detects,
    each_container,
    environment,
    main_container,
    named,
    of_kind,
    pod,
    pod_labels,
    pods_of,
    quantity,
    selects,
    settings_of,
    title,
    with_pods,
)

ALL_SERVICES = (*SERVICES, "gateway")
VERSION_LABEL = "app.kubernetes.io/version"
NODES = "kubernetes.io/hostname"
SCALE_DOWN_SECONDS = 300
FAILOVER_SECONDS = 30
HANGING_SECONDS = 72
"""docs/kubernetes.md has this number, too."""
MIN_GRACE_SECONDS = 2
CONNECTIONS_BESIDE_THE_POOL = 2
"""The connections of an instance beside its pool: an engine has one that appends and one for notifications."""
INSTANCES_IN_A_ROLL_OUT = 2
"""The instances of a service that its autoscaler does not count: a starting one and a draining one."""
CONNECTIONS_OF_THE_DATABASE = 10
"""Connections that PostgreSQL reserves for superusers, which its operator uses."""
BYTES_OF_A_GATEWAY, BYTES_OF_A_PHONE = 100 * 2**20, 66_000
"""docs/measured.md: without players and with some reserve, and for each quiet player."""
BYTES_OF_A_DATABASE, BYTES_OF_A_CONNECTION = 128 * 2**20, 141 * 2**20 // 33
"""docs/measured.md: shared by all connections, and used by each connection."""
OF_THE_OPERATOR = ("cnpg.io/", *(f"app.kubernetes.io/{name}" for name in ("name", "instance", "version", "component")))
"""Labels that CloudNativePG sets on its pods and volumes."""


@detects(
    Break("Deployment", "lobby", "metadata/labels", {"app.kubernetes.io/version": "0.0.9"}),
    Break("Deployment", "engine", f"{FIRST}/image", "registry.example.org/croupier:0.0.9"),
)
def the_version_is_one(objects: Sequence[Object]) -> Iterator[str]:
    """All containers of croupier have one image tag, which is in the migration's name and in the labels."""
    job = named(objects, "Job", "migrate-")
    _, tag = _name_and_tag(main_container(job)["image"])
    if job["metadata"]["name"] != f"migrate-{tag}":
        yield f"{title(job)} is not named by its version {tag}"
    for owner in (job, *of_kind(objects, "Deployment")):
        if owner["metadata"]["labels"].get(VERSION_LABEL, tag) != tag:
            yield f"{title(owner)} is not labelled with its version {tag}"
    for _, container, label in each_container(objects):
        name, other = _name_and_tag(container["image"])
        if name.startswith("croupier") and other != tag:
            yield f"{label} has another version than the migration"


def _name_and_tag(image: str) -> tuple[str, str]:
    """Return an image's name and tag, without registry and digest."""
    name, _, tag = image.partition("@")[0].rpartition("/")[2].partition(":")
    return name, tag


@detects(
    Break("Deployment", "scoring", f"{POD}/topologySpreadConstraints"),
    Break("PodDisruptionBudget", "gateway", "spec/maxUnavailable", 0),
    Break("PodDisruptionBudget", "lobby", "spec/selector/matchLabels", {"app.kubernetes.io/name": "motor"}),
)
def instances_are_replaced_one_by_one(objects: Sequence[Object]) -> Iterator[str]:
    """A new instance is ready before an old one ends, they spread over nodes, and a node can be drained."""
    for name in ALL_SERVICES:
        owner = named(objects, "Deployment", name)
        rolling = owner["spec"]["strategy"].get("rollingUpdate", {})
        if (rolling.get("maxSurge"), rolling.get("maxUnavailable")) != (1, 0):
            yield f"{title(owner)} ends old instances before new ones are ready"
        if name in SERVICES and owner["spec"].get("progressDeadlineSeconds", 600) <= MIGRATION_SECONDS:
            yield f"{title(owner)} is given up while its tables are migrated"
        spread = {one["topologyKey"]: one for one in pod(owner).get("topologySpreadConstraints", [])}
        if NODES not in spread or not all(selects(one["labelSelector"], pod_labels(owner)) for one in spread.values()):
            yield f"{title(owner)} may have all its instances on one node"
        budgets = [one["spec"] for one in of_kind(objects, "PodDisruptionBudget") if one["metadata"]["name"] == name]
        if not any(one.get("maxUnavailable") and selects(one["selector"], pod_labels(owner)) for one in budgets):
            yield f"{title(owner)} has no disruption budget by which a node can be drained"


@detects(Break("Deployment", "engine", f"{POD}/terminationGracePeriodSeconds", 30))
def there_is_time_to_drain(objects: Sequence[Object]) -> Iterator[str]:
    """The grace period is longer than preStop and drain together, and preStop outlasts the callers' caches."""
    for name in ALL_SERVICES:
        owner = named(objects, "Deployment", name)
        container = main_container(owner)
        drain = int(environment(container).get("CROUPIER_DRAIN_SECONDS", "0"))
        sleep = container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
        if sleep < 1:
            yield f"{title(owner)} ends before its callers have noticed"
        if pod(owner).get("terminationGracePeriodSeconds", 30) <= sleep + drain:
            yield f"{title(owner)} is killed before it has drained"


@detects(
    Break("Deployment", "engine", f"{MAIN}/livenessProbe/terminationGracePeriodSeconds"),
    Break("Deployment", "gateway", f"{MAIN}/livenessProbe/failureThreshold", 9),
)
def a_process_that_hangs_is_ended_soon(objects: Sequence[Object]) -> Iterator[str]:
    """The liveness probe has a grace period of its own, since a process that hangs drains nothing."""
    for name in ALL_SERVICES:
        owner = named(objects, "Deployment", name)
        if (seconds := seconds_until_killed(owner)) > HANGING_SECONDS:
            yield f"{title(owner)} may hang for {seconds} seconds"


def seconds_until_killed(owner: Object) -> int:
    """Return the longest time from the moment at which a process hangs until it is killed."""
    probe = main_container(owner)["livenessProbe"]
    noticed: int = probe["periodSeconds"] * probe["failureThreshold"] + probe["timeoutSeconds"]
    grace: int = probe.get("terminationGracePeriodSeconds", pod(owner).get("terminationGracePeriodSeconds", 30))
    # preStop takes the whole grace period, and kubelet always adds two seconds for the process itself.
    return noticed + grace + MIN_GRACE_SECONDS


@detects(
    Break("HorizontalPodAutoscaler", "lobby"),
    Break("Deployment", "lobby", "spec/replicas", 2),
    Break("ScaledObject", "engine", "spec/maxReplicaCount", 2),
    Break("ScaledObject", "engine", "spec/triggers/0/metadata/query", "sum(croupier_stream)"),
)
def one_autoscaler_scales_each_service_slowly(objects: Sequence[Object]) -> Iterator[str]:
    """All services are scaled or none, each by one autoscaler that alone sets the number, and down slowly."""
    scaled = [one["spec"]["scaleTargetRef"]["name"] for one in of_kind(objects, *SCALERS)]
    if scaled and sorted(scaled) != sorted(ALL_SERVICES):
        yield f"{sorted(scaled)} are scaled"
    for name in scaled:
        if name in ALL_SERVICES and "replicas" in named(objects, "Deployment", name)["spec"]:
            yield f"Deployment {name} sets the number that its autoscaler sets"
    for one in of_kind(objects, *SCALERS):
        spec = one["spec"]
        minimum, maximum = _bounds(one)
        if not 1 <= minimum < maximum:
            yield f"{title(one)} scales from {minimum} to {maximum}"
        behavior = spec.get("behavior") or spec.get("advanced", {}).get("horizontalPodAutoscalerConfig", {}).get(
            "behavior", {}
        )
        if behavior.get("scaleDown", {}).get("stabilizationWindowSeconds", 0) < SCALE_DOWN_SECONDS:
            yield f"{title(one)} scales down at once"
        for trigger in spec.get("triggers", []):
            yield from (f"{title(one)}: {fault}" for fault in faults(trigger["metadata"].get("query", ""), exported()))


def _bounds(autoscaler: Object) -> tuple[int, int]:
    spec = autoscaler["spec"]
    minimum, maximum = (spec.get(f"{which}Replicas", spec.get(f"{which}ReplicaCount")) for which in ("min", "max"))
    return minimum, maximum


@detects(
    Break("Service", "engine", "spec/clusterIP"),
    Break("Service", "gateway", "spec/externalTrafficPolicy"),
    Break("Service", "gateway", "spec/ipFamilyPolicy"),
    Break("Service", "lobby", "spec/ipFamilyPolicy", "PreferDualStack"),
)
def names_resolve_to_replicas(objects: Sequence[Object]) -> Iterator[str]:
    """Callers see every replica once, also during a failover of the database.

    Players may use both versions of IP, and the gateway sees their addresses.
    """
    for name in SERVICES:
        if named(objects, "Service", name)["spec"].get("clusterIP") != "None":
            yield f"Service {name} hides its replicas"
        probe = main_container(named(objects, "Deployment", name))["readinessProbe"]
        if probe["periodSeconds"] * probe["failureThreshold"] < FAILOVER_SECONDS:
            yield f"the name {name} is empty before the database is back"
    for service in of_kind(objects, "Service"):
        policy, is_public = service["spec"].get("ipFamilyPolicy"), service["metadata"]["name"] == "gateway"
        if policy != ("PreferDualStack" if is_public else None):
            yield f"{title(service)} has the ipFamilyPolicy {policy}"
        if service["spec"].get("type") == "LoadBalancer" and service["spec"].get("externalTrafficPolicy") != "Local":
            yield f"{title(service)} hides the addresses of clients"


@detects(Break("Job", "load-workers", f"{POD}/priorityClassName", "croupier-serving"))
def services_have_priority_over_the_load_test(objects: Sequence[Object]) -> Iterator[str]:
    """Every pod has a priority class; only those of the load test have a negative priority."""
    values = {one["metadata"]["name"]: one["value"] for one in of_kind(objects, "PriorityClass")}
    for owner in with_pods(objects):
        is_load = owner["metadata"]["name"].startswith("load-")
        if (values.get(pod(owner).get("priorityClassName"), 0) > 0) is is_load:
            yield f"{title(owner)} has the priority of others"


@detects(Break("Namespace", "croupier", "metadata/labels", {}))
def the_namespace_is_restricted(objects: Sequence[Object]) -> Iterator[str]:
    """The cluster refuses pods that do not meet the Pod Security Standard `restricted`."""
    for one in of_kind(objects, "Namespace"):
        if one["metadata"]["labels"].get("pod-security.kubernetes.io/enforce") != "restricted":
            yield f"{title(one)} admits pods with privileges"


@detects(
    Break("PodMonitor", "croupier", "spec/selector/matchExpressions/0/values", ["gateway"]),
    Break("PodMonitor", "croupier", "spec/podMetricsEndpoints/0/port", "figures"),
)
def metrics_are_collected(objects: Sequence[Object]) -> Iterator[str]:
    """Each PodMonitor selects all services, reads a port that they have, and names jobs as the rules do."""
    for monitor in of_kind(objects, "PodMonitor"):
        selected = [pod for pod in pods_of(objects) if selects(monitor["spec"]["selector"], pod[1])]
        if missing := set(ALL_SERVICES) - {labels[NAME_LABEL] for _, labels, _ in selected}:
            yield f"{title(monitor)} does not select {missing}"
        for endpoint in monitor["spec"]["podMetricsEndpoints"]:
            if not all(endpoint["port"] in ports.values() for _, _, ports in selected):
                yield f"{title(monitor)} reads the port {endpoint['port']}, which not all of its pods have"
            relabelled = {one["targetLabel"]: one["replacement"] for one in endpoint.get("relabelings", [])}
            if relabelled.get("job") != "croupier-$1":
                yield f"{title(monitor)} does not name jobs as rules do"


@detects(
    Break("Cluster", "postgres", "spec/postgresql/parameters/max_connections", "350"),
    Break("Cluster", "postgres", "spec/resources/limits/memory", "1Gi"),
)
def the_database_accepts_all_connections(objects: Sequence[Object]) -> Iterator[str]:
    """With every autoscaler at its maximum and in a roll-out, the database has connections and memory for all."""
    for cluster in of_kind(objects, "Cluster"):
        limit = int(cluster["spec"]["postgresql"]["parameters"]["max_connections"])
        instances = sum(
            _bounds(one)[1] + INSTANCES_IN_A_ROLL_OUT
            for one in of_kind(objects, *SCALERS)
            if one["spec"]["scaleTargetRef"]["name"] in SERVICES
        )
        wanted = instances * (POOL_SIZE + CONNECTIONS_BESIDE_THE_POOL) + CONNECTIONS_OF_THE_DATABASE
        if wanted > limit:
            yield f"{title(cluster)} accepts {limit} connections, and the services may open {wanted}"
        memory = BYTES_OF_A_DATABASE + limit * BYTES_OF_A_CONNECTION
        if memory > quantity(cluster["spec"]["resources"]["limits"]["memory"]):
            yield f"{title(cluster)} needs {memory / 2**20:.0f} MiB for {limit} connections"


@detects(Break("Cluster", "postgres", "spec/instances", 2))
def the_database_can_lose_an_instance(objects: Sequence[Object]) -> Iterator[str]:
    """A commit waits for a standby, one standby may be lost, and the operator's labels are its own."""
    for one in of_kind(objects, "Cluster"):
        copies = one["spec"].get("postgresql", {}).get("synchronous", {}).get("number", 0)
        if not 1 <= copies < one["spec"]["instances"] - 1:
            yield f"{title(one)}: {copies} of {one['spec']['instances']} have what was acknowledged"
        for label in one["spec"].get("inheritedMetadata", {}).get("labels", {}):
            if label.startswith(OF_THE_OPERATOR):
                yield f"{title(one)} and its operator both set {label}"


@detects(Break("Deployment", "gateway", f"{FIRST}/env/0", {"name": "CROUPIER_MAX_CONNECTIONS", "value": "40000"}))
def the_gateway_has_memory_for_its_connections(objects: Sequence[Object]) -> Iterator[str]:
    """The gateway refuses connections and calls before the cluster kills it for its memory."""
    making, envoy = (container_of(objects, "gateway", name) for name in ("configuration", "gateway"))
    settings = settings_of(GatewaySettings, environment(making))
    needed = BYTES_OF_A_GATEWAY + settings.max_connections * BYTES_OF_A_PHONE
    if needed > (own := settings.memory_limit_mebibytes * 2**20):
        yield f"the gateway needs {needed / 2**20:.0f} MiB for {settings.max_connections} connections"
    if own >= quantity(envoy["resources"]["limits"]["memory"]):
        yield "the gateway is killed for its memory before it refuses anything"
