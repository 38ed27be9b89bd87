"""What every pod has to keep: each policy gives the faults that it finds, none if all is well."""

import re
from collections.abc import Iterator, Sequence

from rehearsal.manifests import Object
from tests.k8s.objects import (
    LASTING,
    containers,
    environment,
    main_container,
    named,
    of_kind,
    pod,
    ports,
    title,
    with_pods,
)

SMALLEST_USER = 1000
VERSION_LABEL = "app.kubernetes.io/version"
DATABASE_USERS = {"postgres": 999}
"""Users that images of others come with."""


def nobody_is_root(objects: Sequence[Object]) -> Iterator[str]:
    """A numeric user of its own, nothing writable, no capability, no way to become more."""
    for owner in with_pods(objects):
        security = pod(owner).get("securityContext", {})
        least = DATABASE_USERS.get(owner["metadata"]["name"], SMALLEST_USER)
        if security.get("runAsNonRoot") is not True or security.get("runAsUser", 0) < least:
            yield f"{title(owner)} may be root"
        if security.get("seccompProfile") != {"type": "RuntimeDefault"}:
            yield f"{title(owner)} has no seccomp profile"
        for container in containers(owner):
            own = container.get("securityContext", {})
            if own.get("readOnlyRootFilesystem") is not True:
                yield f"{title(owner)}: {container['name']} can write to its root file system"
            if own.get("allowPrivilegeEscalation") is not False or own.get("privileged"):
                yield f"{title(owner)}: {container['name']} may gain privileges"
            if own.get("capabilities") != {"drop": ["ALL"]}:
                yield f"{title(owner)}: {container['name']} keeps capabilities"


def nothing_of_the_node_is_used(objects: Sequence[Object]) -> Iterator[str]:
    """No network, processes or folders of the node, and no port of it."""
    for owner in with_pods(objects):
        for name in ("hostNetwork", "hostPID", "hostIPC"):
            if pod(owner).get(name):
                yield f"{title(owner)} has {name}"
        for volume in pod(owner).get("volumes", []):
            if "hostPath" in volume:
                yield f"{title(owner)} mounts a folder of the node"
        for container in containers(owner):
            if any("hostPort" in port for port in container.get("ports", [])):
                yield f"{title(owner)}: {container['name']} takes a port of the node"


def nobody_can_speak_to_the_cluster(objects: Sequence[Object]) -> Iterator[str]:
    """An account of its own, without token, and no variables that tell of other services."""
    accounts = {one["metadata"]["name"]: one for one in of_kind(objects, "ServiceAccount")}
    for owner in with_pods(objects):
        account = accounts.get(pod(owner).get("serviceAccountName", ""))
        if account is None:
            yield f"{title(owner)} has no service account of this house"
        elif account.get("automountServiceAccountToken") is not False:
            yield f"{title(account)} hands out its token"
        if pod(owner).get("automountServiceAccountToken") is not False:
            yield f"{title(owner)} mounts a token"
        if pod(owner).get("enableServiceLinks") is not False:
            yield f"{title(owner)} gets variables of services"


def everything_has_limits(objects: Sequence[Object]) -> Iterator[str]:
    """Processor and memory asked for and limited, folders in memory or on disk bounded, a priority."""
    priorities = {one["metadata"]["name"] for one in of_kind(objects, "PriorityClass")}
    for owner in with_pods(objects):
        for container in containers(owner):
            for kind in ("requests", "limits"):
                missing = {"cpu", "memory"} - container.get("resources", {}).get(kind, {}).keys()
                if missing:
                    yield f"{title(owner)}: {container['name']} has no {kind} of {' and '.join(sorted(missing))}"
        for volume in pod(owner).get("volumes", []):
            if "emptyDir" in volume and not (volume["emptyDir"] or {}).get("sizeLimit"):
                yield f"{title(owner)}: the folder {volume['name']} can grow without end"
        if pod(owner).get("priorityClassName") not in priorities:
            yield f"{title(owner)} has no priority of this house"


def everything_that_stays_is_probed(objects: Sequence[Object]) -> Iterator[str]:
    """Ready and live are asked, on ports that are there; live depends on nothing but the process."""
    for owner in of_kind(objects, *LASTING):
        for container in pod(owner)["containers"]:
            for kind in ("readinessProbe", "livenessProbe"):
                if kind not in container:
                    yield f"{title(owner)}: {container['name']} has no {kind}"
            if "grpc" in container.get("readinessProbe", {}):
                yield from _faults_of_grpc_probes(owner, container)


def _faults_of_grpc_probes(owner: Object, container: Object) -> Iterator[str]:
    wanted = {"startupProbe": "live", "readinessProbe": "", "livenessProbe": "live"}
    for kind, service in wanted.items():
        probe = container.get(kind, {}).get("grpc", {})
        if ports(owner).get(probe.get("port")) != "health":
            yield f"{title(owner)}: the {kind} of {container['name']} does not ask the port health"
        if probe.get("service", "") != service:
            yield f"{title(owner)}: the {kind} of {container['name']} has to ask for {service!r}"


def there_is_time_to_end(objects: Sequence[Object]) -> Iterator[str]:
    """The cluster waits for longer than preStop and drain take together."""
    for owner in of_kind(objects, "Deployment"):
        container = main_container(owner)
        drain = environment(container).get("CROUPIER_DRAIN_SECONDS")
        if drain is None and container["name"] != "door":
            continue
        sleep = container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
        if sleep < 1:
            yield f"{title(owner)} goes before others have heard of it"
        if pod(owner).get("terminationGracePeriodSeconds", 30) <= sleep + int(drain or 0):
            yield f"{title(owner)} is killed before it has drained"


def images_are_pinned(objects: Sequence[Object]) -> Iterator[str]:
    """Each image has a tag with a number in it, and never one that moves."""
    for owner in with_pods(objects):
        for container in containers(owner):
            yield from _fault_of_image(f"{title(owner)}: {container['name']}", container["image"])
    for cluster in of_kind(objects, "Cluster"):
        yield from _fault_of_image(title(cluster), cluster["spec"].get("imageName", ""))


def _fault_of_image(who: str, image: str) -> Iterator[str]:
    _, tag = _name_and_tag(image)
    if "latest" in tag or not re.search(r"\d+\.\d+", tag):
        yield f"{who} has the image {image!r}, which can change"


def the_version_is_one(objects: Sequence[Object]) -> Iterator[str]:
    """All of croupier's containers have one image, and names and labels go by its tag."""
    job = next(
        one for one in of_kind(objects, "Job") if one["metadata"]["labels"]["app.kubernetes.io/name"] == "migrate"
    )
    _, tag = _name_and_tag(main_container(job)["image"])
    if job["metadata"]["name"] != f"migrate-{tag}":
        yield f"{title(job)} is not named by its version {tag}"
    for owner in (job, *of_kind(objects, "Deployment")):
        if owner["metadata"]["labels"].get(VERSION_LABEL, tag) != tag:
            yield f"{title(owner)} is not labelled with its version {tag}"
    for owner in with_pods(objects):
        for container in containers(owner):
            name, other = _name_and_tag(container["image"])
            if name.startswith("croupier") and other != tag:
                yield f"{title(owner)}: {container['name']} has another version than the migration"


def _name_and_tag(image: str) -> tuple[str, str]:
    """Without its registry, and without a digest."""
    name, _, tag = image.partition("@")[0].rpartition("/")[2].partition(":")
    return name, tag


def services_wait_for_their_schema(objects: Sequence[Object]) -> Iterator[str]:
    """What uses the database has something before it that waits until its tables are up to date."""
    for name in ("lobby", "engine", "scoring"):
        owner = named(objects, "Deployment", name)
        waiting = [one.get("args", []) for one in pod(owner).get("initContainers", [])]
        if not any(one[:3] == ["migrate", "--service", name] and "--wait" in one for one in waiting):
            yield f"{title(owner)} does not wait for its schema"


POLICIES = (
    nobody_is_root,
    nothing_of_the_node_is_used,
    nobody_can_speak_to_the_cluster,
    everything_has_limits,
    everything_that_stays_is_probed,
    there_is_time_to_end,
    images_are_pinned,
    the_version_is_one,
    services_wait_for_their_schema,
)
