"""What manifests may say here: what else they said would be left out without a word, and so is refused."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rehearsal.manifests import CannotRehearse, Object

_WITHOUT_EFFECT = {"securityContext", "imagePullPolicy", "terminationMessagePath", "terminationMessagePolicy"}
"""Of a container: what docs/rehearsal.md says is not rehearsed."""
_OTHER_WORKLOADS = {"StatefulSet", "DaemonSet", "CronJob", "ReplicaSet", "Pod"}
_CONTAINER = _WITHOUT_EFFECT | {
    *("name", "image", "command", "args", "env", "ports", "volumeMounts", "resources", "lifecycle"),
    *("startupProbe", "readinessProbe", "livenessProbe"),
}
_PROBE = {"grpc", "httpGet", "tcpSocket", "exec", "periodSeconds", "failureThreshold", "timeoutSeconds"}
_POD = {
    *("containers", "initContainers", "volumes", "terminationGracePeriodSeconds", "restartPolicy"),
    *("securityContext", "serviceAccountName", "automountServiceAccountToken", "enableServiceLinks"),
    *("priorityClassName", "topologySpreadConstraints", "affinity", "nodeSelector", "tolerations", "imagePullSecrets"),
}


def check(objects: Iterable[Object]) -> None:
    """Raises CannotRehearse for the first thing that is said of pods and that no rehearsal does."""
    for one in objects:
        if one["kind"] in _OTHER_WORKLOADS:
            raise CannotRehearse(
                f"{one['kind']} {one['metadata']['name']} cannot be rehearsed: Deployments and Jobs can"
            )
        if one["kind"] in ("Deployment", "Job"):
            for where, said, known in _of_pod(one["spec"]["template"]["spec"]):
                if unknown := sorted(said.keys() - known):
                    of = f"{one['metadata']['name']}{where}"
                    raise CannotRehearse(f"{', '.join(unknown)} of {of} cannot be rehearsed")


def _of_pod(spec: Object) -> Iterator[tuple[str, Mapping[str, object], set[str]]]:
    """Where something is said, what is, and what may be."""
    yield "", spec, _POD
    for volume in spec.get("volumes", ()):
        for source in (volume, *volume.get("projected", {}).get("sources", ())):
            for kind in ("secret", "configMap"):
                yield f", volume {volume['name']}", source.get(kind, {}), {"name", "secretName", "defaultMode"}
    for container in (*spec.get("initContainers", ()), *spec["containers"]):
        where = f", container {container['name']}"
        yield where, container, _CONTAINER
        yield from ((where, *one) for one in _of_container(container))


def _of_container(container: Object) -> Sequence[tuple[Mapping[str, object], set[str]]]:
    hooks = container.get("lifecycle", {})
    return (
        *((container.get(name, {}), _PROBE) for name in ("startupProbe", "readinessProbe", "livenessProbe")),
        *((one, {"name", "mountPath", "readOnly"}) for one in container.get("volumeMounts", ())),
        (hooks, {"preStop"}),
        (hooks.get("preStop", {}), {"sleep"}),
    )
