"""What a cluster would start, as frozen values that are read from manifests; nothing here runs anything."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rehearsal.manifests import CannotRehearse, Object, of_kind
from rehearsal.understood import check

_SUFFIXES: Mapping[str, float] = {"": 1, "m": 1e-3, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "k": 1e3, "M": 1e6, "G": 1e9}


@dataclass(frozen=True, slots=True)
class Key:
    """One entry of a Secret or ConfigMap."""

    source: str
    name: str


@dataclass(frozen=True, slots=True)
class Probe:
    """How the kubelet asks a container how it is; `what` is the service, path or command."""

    kind: str
    port: int
    what: tuple[str, ...]
    period_seconds: float
    failures: int
    timeout_seconds: float


@dataclass(frozen=True, slots=True)
class Needs:
    """Processors (in cores) and memory (in bytes) that a container asks for, and may have."""

    cpu: float = 0.0
    memory: float = 0.0
    cpu_limit: float = 0.0
    memory_limit: float = 0.0


@dataclass(frozen=True, slots=True)
class Container:
    """A container: its image's name, command and arguments, variables, and what is mounted where, by path."""

    name: str
    image: str
    command: tuple[str, ...]
    arguments: tuple[str, ...]
    environment: Mapping[str, str | Key]
    mounts: Mapping[str, str]
    startup: Probe | None = None
    readiness: Probe | None = None
    liveness: Probe | None = None
    pre_stop_seconds: float = 0.0
    needs: Needs = Needs()


@dataclass(frozen=True, slots=True)
class PodPlan:
    """Pods of one kind; `volumes` names the Secrets and ConfigMaps of each, none for an empty folder."""

    owner: str
    labels: Mapping[str, str]
    ports: Mapping[str, int]
    initial: tuple[Container, ...]
    containers: tuple[Container, ...]
    volumes: Mapping[str, tuple[str, ...]]
    grace_seconds: float = 30.0

    @property
    def needs(self) -> Needs:
        """What all its containers that stay need together."""
        each = [one.needs for one in self.containers]
        return Needs(
            cpu=sum(one.cpu for one in each),
            memory=sum(one.memory for one in each),
            cpu_limit=sum(one.cpu_limit for one in each),
            memory_limit=sum(one.memory_limit for one in each),
        )


@dataclass(frozen=True, slots=True)
class Deployment:
    """So many pods of a kind, and how they are replaced."""

    name: str
    replicas: int
    min_ready_seconds: float
    pod: PodPlan


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that is started."""

    jobs: tuple[PodPlan, ...]
    deployments: tuple[Deployment, ...]
    names: Mapping[str, str]
    """The deployment behind each name that others call."""
    configuration: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The ConfigMaps."""
    database_settings: Mapping[str, str] = field(default_factory=dict)
    monitors: tuple[Object, ...] = ()
    rules: tuple[Object, ...] = ()


def plan_of(objects: Sequence[Object]) -> Plan:
    """The plan that objects describe; raises CannotRehearse for what this does not know."""
    check(objects)
    least = {one["spec"]["scaleTargetRef"]["name"]: one["spec"] for one in of_kind(objects, "HorizontalPodAutoscaler")}
    deployments = tuple(
        _deployment(one, least.get(one["metadata"]["name"], {})) for one in of_kind(objects, "Deployment")
    )
    clusters = of_kind(objects, "Cluster")
    return Plan(
        jobs=tuple(_pod(one) for one in of_kind(objects, "Job")),
        deployments=deployments,
        names={name: owner for one in of_kind(objects, "Service") for name, owner in _name(one, deployments)},
        configuration={one["metadata"]["name"]: one.get("data", {}) for one in of_kind(objects, "ConfigMap")},
        database_settings=clusters[0]["spec"]["postgresql"].get("parameters", {}) if clusters else {},
        monitors=tuple(of_kind(objects, "PodMonitor")),
        rules=tuple(of_kind(objects, "PrometheusRule")),
    )


def _name(service: Object, deployments: Sequence[Deployment]) -> list[tuple[str, str]]:
    selector = service["spec"].get("selector", {})
    return [
        (service["metadata"]["name"], one.name)
        for one in deployments
        if selector and selector.items() <= one.pod.labels.items()
    ]


def _deployment(thing: Object, autoscaler: Object) -> Deployment:
    spec, rolling = thing["spec"], thing["spec"].get("strategy", {}).get("rollingUpdate", {})
    if (rolling.get("maxUnavailable"), rolling.get("maxSurge")) != (0, 1):
        raise CannotRehearse(f"{thing['metadata']['name']}: only maxUnavailable 0 and maxSurge 1 can be rehearsed")
    return Deployment(
        name=thing["metadata"]["name"],
        replicas=spec.get("replicas") or autoscaler.get("minReplicas", 1),
        min_ready_seconds=spec.get("minReadySeconds", 0),
        pod=_pod(thing),
    )


def _pod(owner: Object) -> PodPlan:
    template = owner["spec"]["template"]
    spec = template["spec"]
    ports = {
        port["name"]: port["containerPort"]
        for one in spec["containers"]
        for port in one.get("ports", ())
        if "name" in port
    }
    return PodPlan(
        owner=owner["metadata"]["name"],
        labels=template.get("metadata", {}).get("labels", {}),
        ports=ports,
        initial=tuple(_container(one, ports) for one in spec.get("initContainers", ())),
        containers=tuple(_container(one, ports) for one in spec["containers"]),
        volumes={one["name"]: _sources(one) for one in spec.get("volumes", ())},
        grace_seconds=spec.get("terminationGracePeriodSeconds", 30),
    )


def _sources(volume: Object) -> tuple[str, ...]:
    if "emptyDir" in volume:
        return ()
    if "projected" in volume:
        return tuple(name for source in volume["projected"]["sources"] for name in _sources({"name": "", **source}))
    if "secret" in volume:
        secret = volume["secret"]
        return (secret.get("secretName") or secret["name"],)
    if "configMap" in volume:
        return (volume["configMap"]["name"],)
    raise CannotRehearse(f"the volume {volume['name']} is of a kind that cannot be rehearsed")


def _container(thing: Object, ports: Mapping[str, int]) -> Container:
    hook = thing.get("lifecycle", {}).get("preStop", {})
    return Container(
        name=thing["name"],
        image=thing["image"],
        command=tuple(thing.get("command", ())),
        arguments=tuple(thing.get("args", ())),
        environment={one["name"]: _value(one) for one in thing.get("env", ())},
        mounts={one["mountPath"]: one["name"] for one in thing.get("volumeMounts", ())},
        startup=_probe(thing.get("startupProbe"), ports),
        readiness=_probe(thing.get("readinessProbe"), ports),
        liveness=_probe(thing.get("livenessProbe"), ports),
        pre_stop_seconds=hook.get("sleep", {}).get("seconds", 0),
        needs=_needs(thing.get("resources", {})),
    )


def _value(variable: Object) -> str | Key:
    if "value" in variable:
        return str(variable["value"])
    origin = variable["valueFrom"]
    reference = origin.get("secretKeyRef") or origin.get("configMapKeyRef")
    if reference is None:
        raise CannotRehearse(f"where {variable['name']} comes from cannot be rehearsed")
    return Key(reference["name"], reference["key"])


def _probe(thing: Object | None, ports: Mapping[str, int]) -> Probe | None:
    if thing is None:
        return None
    kind = next(kind for kind in ("grpc", "httpGet", "tcpSocket", "exec") if kind in thing)
    how: Mapping[str, Any] = thing[kind]
    port = how.get("port", 0)
    return Probe(
        kind=kind,
        port=ports[port] if isinstance(port, str) else port,
        what=tuple(how.get("command", ())) or (how.get("service") or how.get("path") or "",),
        period_seconds=thing.get("periodSeconds", 10),
        failures=thing.get("failureThreshold", 3),
        timeout_seconds=thing.get("timeoutSeconds", 1),
    )


def _needs(resources: Object) -> Needs:
    asked, most = resources.get("requests", {}), resources.get("limits", {})
    return Needs(
        cpu=quantity(asked.get("cpu", 0)),
        memory=quantity(asked.get("memory", 0)),
        cpu_limit=quantity(most.get("cpu", 0)),
        memory_limit=quantity(most.get("memory", 0)),
    )


def quantity(text: str | int) -> float:
    """What Kubernetes writes as 100m or 128Mi, as a number."""
    found = re.fullmatch(r"([\d.]+)(\w*)", str(text))
    if found is None or found[2] not in _SUFFIXES:
        raise CannotRehearse(f"{text!r} is no quantity that can be read")
    return float(found[1]) * _SUFFIXES[found[2]]
