"""Parts of Kubernetes objects, by name, and ways to break them."""

import copy
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from croupier.runtime.settings import AnySettings, read_settings
from tests.k8s.building import Object

NAME_LABEL = "app.kubernetes.io/name"
DATABASE_LABEL = "cnpg.io/cluster"
POD_OWNERS = ("Deployment", "StatefulSet", "Job")
SCALERS = ("HorizontalPodAutoscaler", "ScaledObject")
SERVICES = ("lobby", "engine", "scoring")
POD = "spec/template/spec"
MAIN = f"{POD}/containers/0"
FIRST = f"{POD}/initContainers/0"
ENV = f"{MAIN}/env"
"""Paths of a pod, of its first container and init container, and of that container's variables."""
PROBES = ("startupProbe", "readinessProbe", "livenessProbe")
_UNITS = {"": 1, "m": 1e-3, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


def title(thing: Object) -> str:
    return f"{thing['kind']} {thing['metadata']['name']}"


def of_kind(objects: Iterable[Object], *kinds: str) -> list[Object]:
    return [one for one in objects if one["kind"] in kinds]


def named(objects: Iterable[Object], kind: str, name: str) -> Object:
    """Return the one object of this kind and name; a name that ends with - is a prefix."""
    (found,) = (
        one
        for one in of_kind(objects, kind)
        if (own := one["metadata"]["name"]) == name or (name.endswith("-") and own.startswith(name))
    )
    return found


def with_pods(objects: Iterable[Object]) -> list[Object]:
    return of_kind(objects, *POD_OWNERS)


def pod(owner: Object) -> Object:
    found: Object = owner["spec"]["template"]["spec"]
    return found


def pod_labels(owner: Object) -> dict[str, str]:
    found: dict[str, str] = owner["spec"]["template"]["metadata"].get("labels", {})
    return found


def containers(owner: Object) -> list[Object]:
    """Return all containers, init containers first."""
    return [*pod(owner).get("initContainers", []), *pod(owner)["containers"]]


def each_container(objects: Iterable[Object]) -> Iterator[tuple[Object, Object, str]]:
    """Yield every container with its owner and a title for faults."""
    for owner in with_pods(objects):
        for container in containers(owner):
            yield owner, container, f"{title(owner)}: {container['name']}"


def container_of(objects: Iterable[Object], deployment: str, name: str) -> Object:
    (found,) = (one for one in containers(named(objects, "Deployment", deployment)) if one["name"] == name)
    return found


def main_container(owner: Object) -> Object:
    """Return the first container that is not an init container."""
    first: Object = pod(owner)["containers"][0]
    return first


def environment(container: Object) -> dict[str, str]:
    """Return the variables by name; the value of a reference is the reference."""
    return {one["name"]: str(one.get("value", one.get("valueFrom"))) for one in container.get("env", [])}


def settings_of(kind: type[AnySettings], given: Mapping[str, str]) -> AnySettings:
    """Return the settings that a program reads from these variables; raises SettingsError."""
    with patch.dict(os.environ, given, clear=True):
        return read_settings(kind, "", [])


def ports(owner: Object) -> dict[int, str]:
    """Return the names of the ports of an object's pods, by number; empty without a name."""
    return {port["containerPort"]: port.get("name", "") for one in containers(owner) for port in one.get("ports", [])}


def selects(selector: Object | None, labels: dict[str, str]) -> bool:
    """Return whether a label selector matches these labels; one without conditions matches all."""
    conditions = selector or {}
    return all(labels.get(name) == value for name, value in conditions.get("matchLabels", {}).items()) and all(
        labels.get(one["key"]) in one.get("values", []) for one in conditions.get("matchExpressions", [])
    )


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from strings(part)


def pods_of(objects: Sequence[Object]) -> list[tuple[str, dict[str, str], dict[int, str]]]:
    """Return name, labels and ports of every kind of pod, those of a CloudNativePG cluster included."""
    own = [(pod_labels(one).get(NAME_LABEL, ""), pod_labels(one), ports(one)) for one in with_pods(objects)]
    clusters = [
        (
            one["metadata"]["name"],
            {DATABASE_LABEL: one["metadata"]["name"], **one["spec"].get("inheritedMetadata", {}).get("labels", {})},
            {5432: "postgresql"},
        )
        for one in of_kind(objects, "Cluster")
    ]
    return own + clusters


def quantity(text: str | int) -> float:
    """Return a Kubernetes quantity such as 100m or 128Mi as a number."""
    number, unit = re.fullmatch(r"([\d.]+)(\w*)", str(text)).groups()  # type: ignore[union-attr]
    return float(number) * _UNITS[unit]


REMOVED = object()
"""In place of a value: the element is removed."""


@dataclass(frozen=True, slots=True)
class Break:
    """Another value at a path of one object, or no object if the path is empty; a name that ends with - is a prefix."""

    kind: str
    name: str
    path: str = ""
    value: Any = REMOVED

    def __str__(self) -> str:
        return f"{self.kind} {self.name} {self.path}"

    def of(self, objects: Sequence[Object]) -> list[Object]:
        broken = copy.deepcopy(list(objects))
        place: Any = named(broken, self.kind, self.name)
        if not self.path:
            return [one for one in broken if one is not place]
        *way, last = self.path.split("/")
        for step in way:
            place = place[_key(place, step)]
        if self.value is REMOVED:
            del place[_key(place, last)]
        else:
            place[_key(place, last)] = self.value
        return broken


@dataclass(frozen=True, slots=True)
class Policy:
    """A rule for all objects of a folder; `check` yields the faults, and each of the breaks is one."""

    check: Callable[[Sequence[Object]], Iterator[str]]
    breaks: tuple[Break, ...]


def detects(*breaks: Break) -> Callable[[Callable[[Sequence[Object]], Iterator[str]]], Policy]:
    """Return a decorator that turns a function into a policy which detects these breaks."""
    return lambda check: Policy(check, breaks)


def _key(place: Any, step: str) -> Any:
    """A step into a list is an index, or the name of an element."""
    if not isinstance(place, list):
        return step
    return int(step) if step.isdecimal() else [one.get("name") for one in place].index(step)
