"""What objects say of each other is true."""

import re
from collections.abc import Iterator, Sequence

from croupier.runtime.database import POOL_SIZE
from rehearsal.manifests import Object
from tests.k8s.objects import (
    LASTING,
    NAME_LABEL,
    containers,
    named,
    of_kind,
    pod,
    pod_labels,
    pods_of,
    selects,
    strings,
    title,
    with_pods,
)

WITHOUT_NAMESPACE = ("Namespace", "PriorityClass")
SERVICES = ("lobby", "engine", "scoring")
MORE_THAN_THE_POOL = 2
"""Connections of an instance beside its pool: an engine has one that appends and one for news."""
IN_A_ROLL_OUT = 2
"""Instances of a service beside those that its autoscaler counts: one that starts, and one that drains."""
OF_THE_DATABASE_ITSELF = 10
"""Connections that PostgreSQL keeps for superusers and its operator uses."""
LINKED = re.compile(r"\w+://[^\s/:@]*:[^\s/@]+@")
SECRET_NAME = re.compile(r"PASSWORD|TOKEN|SECRET(?!S_FOLDER)|CREDENTIAL")


def everything_is_labelled(objects: Sequence[Object]) -> Iterator[str]:
    """The standard labels, on objects and on pods, and one namespace."""
    for one in objects:
        labels = one["metadata"].get("labels", {})
        if NAME_LABEL not in labels or labels.get("app.kubernetes.io/part-of") != "croupier":
            yield f"{title(one)} lacks standard labels"
        if one["kind"] not in WITHOUT_NAMESPACE and one["metadata"].get("namespace") != "croupier":
            yield f"{title(one)} is in no namespace"
    for owner in with_pods(objects):
        if pod_labels(owner).get(NAME_LABEL) != owner["metadata"]["labels"].get(NAME_LABEL):
            yield f"the pods of {title(owner)} are called otherwise"


def selectors_match(objects: Sequence[Object]) -> Iterator[str]:
    """What selects pods finds those that it is for."""
    every = [labels for _, labels, _ in pods_of(objects)]
    for owner in of_kind(objects, *LASTING):
        selectors = [owner["spec"]["selector"]]
        selectors += [one["labelSelector"] for one in pod(owner).get("topologySpreadConstraints", [])]
        if not all(selects(one, pod_labels(owner)) for one in selectors):
            yield f"{title(owner)} does not select its own pods"
    for one in of_kind(objects, "PodDisruptionBudget", "PodMonitor"):
        if not any(selects(one["spec"]["selector"], labels) for labels in every):
            yield f"{title(one)} selects no pod"
    for one in of_kind(objects, "PodMonitor"):
        yield from _faults_of_monitor(one, objects)


def _faults_of_monitor(monitor: Object, objects: Sequence[Object]) -> Iterator[str]:
    for name, labels, ports in pods_of(objects):
        if selects(monitor["spec"]["selector"], labels):
            for endpoint in monitor["spec"]["podMetricsEndpoints"]:
                if endpoint["port"] not in ports.values():
                    yield f"{title(monitor)} reads the port {endpoint['port']}, which {name} does not have"


def names_lead_somewhere(objects: Sequence[Object]) -> Iterator[str]:
    """Autoscalers, volumes and settings name what there is."""
    deployments = {one["metadata"]["name"] for one in of_kind(objects, "Deployment")}
    for one in of_kind(objects, "HorizontalPodAutoscaler", "ScaledObject"):
        if one["spec"]["scaleTargetRef"]["name"] not in deployments:
            yield f"{title(one)} scales what is not there"
    there = {(one["kind"], one["metadata"]["name"]) for one in objects}
    for owner in with_pods(objects):
        volumes = {volume["name"]: volume for volume in pod(owner).get("volumes", [])}
        claims = {one["metadata"]["name"] for one in owner["spec"].get("volumeClaimTemplates", [])}
        for container in containers(owner):
            mounted = {one["name"] for one in container.get("volumeMounts", [])}
            if unknown := mounted - volumes.keys() - claims:
                yield f"{title(owner)}: {container['name']} mounts {unknown}, which is no volume"
            for one in container.get("envFrom", []):
                if ("ConfigMap", one["configMapRef"]["name"]) not in there:
                    yield f"{title(owner)} reads settings that are not there"
        for volume in volumes.values():
            claim = volume.get("persistentVolumeClaim", {}).get("claimName")
            if claim and ("PersistentVolumeClaim", claim) not in there:
                yield f"{title(owner)} claims the volume {claim}, which is not there"


def services_scale_and_survive(objects: Sequence[Object]) -> Iterator[str]:
    """Each service may lose one instance at a time, and has one thing only that says how many there are."""
    budgets = {one["metadata"]["name"] for one in of_kind(objects, "PodDisruptionBudget")}
    scaled = [
        one["spec"]["scaleTargetRef"]["name"] for one in of_kind(objects, "HorizontalPodAutoscaler", "ScaledObject")
    ]
    for name in (*SERVICES, "door"):
        owner = named(objects, "Deployment", name)
        if name not in budgets:
            yield f"{title(owner)} has no PodDisruptionBudget"
        if scaled.count(name) > 1:
            yield f"{title(owner)} is scaled by several"
        if name in scaled and "replicas" in owner["spec"]:
            yield f"{title(owner)} says how many there are, which its autoscaler does"


def passwords_come_from_elsewhere(objects: Sequence[Object]) -> Iterator[str]:
    """No Secret is among the objects, no variable holds one, no text is a URL with a password."""
    for one in objects:
        if one["kind"] == "Secret":
            yield f"{title(one)} holds what belongs in no repository"
        for path, text in strings(one):
            if LINKED.search(text) or "PRIVATE KEY" in text:
                yield f"{title(one)} has a password or key at {path}"
    for owner in with_pods(objects):
        for container in containers(owner):
            for variable in container.get("env", []):
                if SECRET_NAME.search(variable["name"]) and "value" in variable:
                    yield f"{title(owner)}: {variable['name']} is written down"


def the_database_takes_all_connections(objects: Sequence[Object]) -> Iterator[str]:
    """With every autoscaler at its highest, and in a roll-out, all together open no more than the database takes."""
    for cluster in of_kind(objects, "Cluster"):
        most = int(cluster["spec"]["postgresql"]["parameters"]["max_connections"])
        wanted = sum(
            (one["spec"].get("maxReplicas", one["spec"].get("maxReplicaCount")) + IN_A_ROLL_OUT)
            * (POOL_SIZE + MORE_THAN_THE_POOL)
            for one in of_kind(objects, "HorizontalPodAutoscaler", "ScaledObject")
            if one["spec"]["scaleTargetRef"]["name"] in SERVICES
        )
        if wanted > most - OF_THE_DATABASE_ITSELF:
            yield f"{title(cluster)} takes {most} connections, and the services may want {wanted}"


def the_load_test_finds_whom_it_needs(objects: Sequence[Object]) -> Iterator[str]:
    """The master waits for as many workers as there are, and its door is a Service."""
    for workers in [one for one in of_kind(objects, "Job") if one["metadata"]["name"] == "load-workers"]:
        given = named(objects, "ConfigMap", "load-")["data"]
        if {workers["spec"]["parallelism"], workers["spec"]["completions"]} != {int(given["WORKERS"])}:
            yield f"{title(workers)} are not the {given['WORKERS']} that the master waits for"
        name, _, port = given["DOOR"].partition(":")
        if int(port) not in [one["port"] for one in named(objects, "Service", name)["spec"]["ports"]]:
            yield f"{title(workers)} find no door at {given['DOOR']}"


POLICIES = (
    everything_is_labelled,
    selectors_match,
    names_lead_somewhere,
    services_scale_and_survive,
    passwords_come_from_elsewhere,
    the_database_takes_all_connections,
    the_load_test_finds_whom_it_needs,
)
