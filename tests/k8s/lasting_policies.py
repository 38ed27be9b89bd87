"""What keeps the house open while instances come and go: roll-outs, nodes, autoscalers, metrics, the database."""

from collections.abc import Iterator, Sequence

from croupier.door.settings import DoorSettings
from croupier.runtime.schema_versions import MIGRATION_SECONDS
from croupier.runtime.settings import read_settings
from rehearsal.manifests import Object
from rehearsal.plan import quantity
from tests.k8s.exported import exported
from tests.k8s.expressions import faults
from tests.k8s.objects import (
    containers,
    environment,
    main_container,
    named,
    of_kind,
    pod,
    pod_labels,
    selects,
    title,
    with_pods,
)
from tests.k8s.reference_policies import SERVICES

ALL_SERVICES = (*SERVICES, "door")
SLOWLY_SECONDS = 300
FAILOVER_SECONDS = 30
BYTES_OF_A_DOOR, BYTES_OF_A_PHONE = 100 * 2**20, 66_000
"""docs/measured.md: with nobody there and some room, and for each that is quiet."""
BYTES_OF_A_DATABASE, BYTES_OF_A_CONNECTION = 128 * 2**20, 141 * 2**20 // 33
"""docs/measured.md: what all connections share, and what each had of it and for itself."""
NODES = "kubernetes.io/hostname"
OF_THE_OPERATOR = ("cnpg.io/", *(f"app.kubernetes.io/{name}" for name in ("name", "instance", "version", "component")))
"""Labels that CloudNativePG gives its pods and volumes itself."""


def instances_are_replaced_one_by_one(objects: Sequence[Object]) -> Iterator[str]:
    """A new one is ready before an old one goes, they are spread over nodes, and a node can be emptied."""
    budgets = {one["metadata"]["name"]: one["spec"] for one in of_kind(objects, "PodDisruptionBudget")}
    for name in ALL_SERVICES:
        owner = named(objects, "Deployment", name)
        rolling = owner["spec"].get("strategy", {}).get("rollingUpdate", {})
        if (rolling.get("maxSurge"), rolling.get("maxUnavailable")) != (1, 0):
            yield f"{title(owner)} takes old ones away before new ones are ready"
        if name in SERVICES and owner["spec"].get("progressDeadlineSeconds", 600) <= MIGRATION_SECONDS:
            yield f"{title(owner)} is given up while its tables are brought up to date"
        if NODES not in [one["topologyKey"] for one in pod(owner).get("topologySpreadConstraints", [])]:
            yield f"{title(owner)} may have all its instances on one node"
        if not budgets.get(name, {}).get("maxUnavailable"):
            yield f"{title(owner)} keeps nodes from being emptied"


def autoscalers_are_patient(objects: Sequence[Object]) -> Iterator[str]:
    """Where one service is scaled all are, between numbers that can be, and fewer they become slowly."""
    scaled = set()
    for one in of_kind(objects, "HorizontalPodAutoscaler", "ScaledObject"):
        spec = one["spec"]
        scaled.add(spec["scaleTargetRef"]["name"])
        least, most = (spec.get(f"{which}Replicas", spec.get(f"{which}ReplicaCount")) for which in ("min", "max"))
        if not 1 <= least < most:
            yield f"{title(one)} goes from {least} to {most}"
        behaviour = spec.get("behavior") or spec.get("advanced", {}).get("horizontalPodAutoscalerConfig", {}).get(
            "behavior", {}
        )
        if behaviour.get("scaleDown", {}).get("stabilizationWindowSeconds", 0) < SLOWLY_SECONDS:
            yield f"{title(one)} sends instances away at once"
    if missing := set(ALL_SERVICES) - scaled if scaled else set():
        yield f"nothing scales {sorted(missing)}"


def names_tell_what_callers_need(objects: Sequence[Object]) -> Iterator[str]:
    """Callers within see every replica; the door sees the addresses of its clients, which its limits go by."""
    for name in SERVICES:
        if named(objects, "Service", name)["spec"].get("clusterIP") != "None":
            yield f"Service {name} hides its replicas"
    door = named(objects, "Service", "door")["spec"]
    if door.get("type") == "LoadBalancer" and door.get("externalTrafficPolicy") != "Local":
        yield "Service door hides the addresses of clients"


def names_outlast_a_failover(objects: Sequence[Object]) -> Iterator[str]:
    """While the database has no primary for half a minute nobody is taken from the names."""
    for name in SERVICES:
        probe = main_container(named(objects, "Deployment", name))["readinessProbe"]
        if probe["periodSeconds"] * probe["failureThreshold"] < FAILOVER_SECONDS:
            yield f"the name {name} is empty before the database is back"


def players_come_first(objects: Sequence[Object]) -> Iterator[str]:
    """What people play on has a higher priority than everything else."""
    values = {one["metadata"]["name"]: one["value"] for one in of_kind(objects, "PriorityClass")}
    for owner in with_pods(objects):
        is_load = owner["metadata"]["name"].startswith("load-")
        if (values.get(pod(owner).get("priorityClassName"), 0) > 0) is is_load:
            yield f"{title(owner)} has the priority of others"


def the_namespace_refuses_what_is_not_restricted(objects: Sequence[Object]) -> Iterator[str]:
    """The cluster itself keeps the strictest of its standards."""
    for one in of_kind(objects, "Namespace"):
        if one["metadata"]["labels"].get("pod-security.kubernetes.io/enforce") != "restricted":
            yield f"{title(one)} takes pods with privileges"


def everything_is_watched(objects: Sequence[Object]) -> Iterator[str]:
    """Metrics of all services are read under the names that rules go by, and scaling asks for what there is."""
    for monitor in of_kind(objects, "PodMonitor"):
        for name in ALL_SERVICES:
            if not selects(monitor["spec"]["selector"], pod_labels(named(objects, "Deployment", name))):
                yield f"{title(monitor)} reads nothing of {name}"
        for endpoint in monitor["spec"]["podMetricsEndpoints"]:
            relabelled = {one["targetLabel"]: one["replacement"] for one in endpoint.get("relabelings", [])}
            if relabelled.get("job") != "croupier-$1":
                yield f"{title(monitor)} does not name jobs as rules do"
    for scaled in of_kind(objects, "ScaledObject"):
        for trigger in scaled["spec"]["triggers"]:
            yield from (f"{title(scaled)}: {one}" for one in faults(trigger["metadata"].get("query", ""), exported()))


def the_database_can_lose_an_instance(objects: Sequence[Object]) -> Iterator[str]:
    """What was acknowledged is on a standby too, one standby may go, and its operator's labels are its own."""
    for one in of_kind(objects, "Cluster"):
        copies = one["spec"].get("postgresql", {}).get("synchronous", {}).get("number", 0)
        if not 1 <= copies < one["spec"]["instances"] - 1:
            yield f"{title(one)}: {copies} of {one['spec']['instances']} have what was acknowledged"
        for label in one["spec"].get("inheritedMetadata", {}).get("labels", {}):
            if label.startswith(OF_THE_OPERATOR):
                yield f"{title(one)} and its operator both set {label}"


def the_door_holds_as_many_as_it_lets_in(objects: Sequence[Object]) -> Iterator[str]:
    """It refuses connections, and calls, before the cluster kills it for its memory."""
    parts = {one["name"]: one for one in containers(named(objects, "Deployment", "door"))}
    settings = read_settings(DoorSettings, "door", [], environment(parts["configuration"]))
    needed = BYTES_OF_A_DOOR + settings.connections_limit * BYTES_OF_A_PHONE
    if needed > (own := settings.memory_limit_mebibytes * 2**20):
        yield f"the door lets {settings.connections_limit} in, which is {needed / 2**20:.0f} MiB"
    if own >= quantity(parts["door"]["resources"]["limits"]["memory"]):
        yield "the door is killed for its memory before it refuses anything"


def the_database_holds_as_many_as_it_lets_in(objects: Sequence[Object]) -> Iterator[str]:
    """It refuses connections before the cluster kills it for its memory."""
    for one in of_kind(objects, "Cluster"):
        connections = int(one["spec"]["postgresql"]["parameters"]["max_connections"])
        needed = BYTES_OF_A_DATABASE + connections * BYTES_OF_A_CONNECTION
        if needed > quantity(one["spec"]["resources"]["limits"]["memory"]):
            yield f"{title(one)} lets {connections} in, which is {needed / 2**20:.0f} MiB"


POLICIES = (
    the_database_holds_as_many_as_it_lets_in,
    the_door_holds_as_many_as_it_lets_in,
    instances_are_replaced_one_by_one,
    autoscalers_are_patient,
    names_tell_what_callers_need,
    names_outlast_a_failover,
    players_come_first,
    the_namespace_refuses_what_is_not_restricted,
    everything_is_watched,
    the_database_can_lose_an_instance,
)
