"""Parts of Kubernetes objects, by the names that the policies speak of."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rehearsal.manifests import Object

NAME_LABEL = "app.kubernetes.io/name"
DATABASE_LABEL = "cnpg.io/cluster"
POD_OWNERS = ("Deployment", "StatefulSet", "Job")
LASTING = ("Deployment", "StatefulSet")


def title(thing: Object) -> str:
    """Kind and name, for faults."""
    return f"{thing['kind']} {thing['metadata']['name']}"


def of_kind(objects: Iterable[Object], *kinds: str) -> list[Object]:
    """The objects of these kinds."""
    return [one for one in objects if one["kind"] in kinds]


def named(objects: Iterable[Object], kind: str, name: str) -> Object:
    """The one object of this kind and name; a name that ends with - is the beginning of one."""
    (found,) = (one for one in of_kind(objects, kind) if _is_called(one["metadata"]["name"], name))
    return found


def _is_called(name: str, wanted: str) -> bool:
    return name.startswith(wanted) if wanted.endswith("-") else name == wanted


def with_pods(objects: Iterable[Object]) -> list[Object]:
    """The objects that start pods of ours."""
    return of_kind(objects, *POD_OWNERS)


def pod(owner: Object) -> Object:
    """The specification of the pods that it starts."""
    return _part(owner, "spec", "template", "spec")


def pod_labels(owner: Object) -> dict[str, str]:
    """The labels of the pods that it starts."""
    labels: dict[str, str] = _part(owner, "spec", "template", "metadata").get("labels", {})
    return labels


def _part(thing: Object, *path: str) -> Object:
    for name in path:
        thing = thing.get(name) or {}
    return thing


def containers(owner: Object) -> list[Object]:
    """All containers, those for the start first."""
    return [*pod(owner).get("initContainers", []), *pod(owner).get("containers", [])]


def main_container(owner: Object) -> Object:
    """The first container of those that stay."""
    first: Object = pod(owner)["containers"][0]
    return first


def environment(container: Object) -> dict[str, str]:
    """The variables that are written down, by name; the value of one that comes from elsewhere says from where."""
    return {one["name"]: str(one.get("value", one.get("valueFrom"))) for one in container.get("env", [])}


def ports(owner: Object) -> dict[int, str]:
    """The names of the ports that its pods have, by number; empty where one has none."""
    return {port["containerPort"]: port.get("name", "") for one in containers(owner) for port in one.get("ports", [])}


def selects(selector: Object | None, labels: dict[str, str]) -> bool:
    """Whether a label selector takes these labels; one without conditions takes all."""
    conditions = selector or {}
    return all(labels.get(name) == value for name, value in conditions.get("matchLabels", {}).items()) and all(
        labels.get(one["key"]) in one.get("values", []) for one in conditions.get("matchExpressions", [])
    )


def strings(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a value, with the path to it."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from strings(part, f"{path}.{name}")
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from strings(part, f"{path}.{index}")
    elif isinstance(value, str):
        yield path, value


def pods_of(objects: Sequence[Object]) -> list[tuple[str, dict[str, str], dict[int, str]]]:
    """The name, labels and ports of every kind of pod, those of a CloudNativePG cluster among them."""
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
