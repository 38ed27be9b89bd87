"""Who may reach whom: the arrows that the NetworkPolicies leave open are exactly those of the design."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rehearsal.manifests import Object
from tests.k8s.objects import of_kind, pod_labels, pods_of, ports, selects, title, with_pods

ANYWHERE = "anywhere"


class Arrow(NamedTuple):
    """Somebody may connect to a port of somebody."""

    caller: str
    called: str
    port: int


ARROWS = frozenset(
    {
        Arrow(ANYWHERE, "door", 7700),
        Arrow("door", "lobby", 7710),
        Arrow("door", "engine", 7720),
        Arrow("door", "scoring", 7730),
        Arrow("lobby", "engine", 7721),
        Arrow("engine", "scoring", 7731),
        *(Arrow(caller, "postgres", 5432) for caller in ("lobby", "engine", "scoring", "migrate")),
        *(Arrow(caller, "kube-system", 53) for caller in ("door", "lobby", "engine", "scoring", "migrate")),
        *(
            Arrow("monitoring", called, port)
            for called, port in (("door", 7708), ("lobby", 7719), ("engine", 7729), ("scoring", 7739))
        ),
    }
)
"""docs/architecture.md, the metrics for Prometheus, and names."""
OF_THE_DATABASE = frozenset(
    {
        Arrow("postgres", "postgres", 5432),
        Arrow("postgres", "postgres", 8000),
        Arrow("cnpg-system", "postgres", 5432),
        Arrow("cnpg-system", "postgres", 8000),
        Arrow("monitoring", "postgres", 9187),
        *(Arrow("postgres", called, port) for called, port in (("kube-system", 53), (ANYWHERE, 443), (ANYWHERE, 6443))),
    }
)
OF_THE_LOAD_TEST = frozenset(
    {
        Arrow("load-worker", "load-master", 5557),
        *(Arrow(caller, "door", 7700) for caller in ("load-master", "load-worker")),
        *(Arrow(caller, "kube-system", 53) for caller in ("load-master", "load-worker")),
    }
)
OF_TRACES = frozenset(Arrow(caller, "monitoring", 4317) for caller in ("door", "lobby", "engine", "scoring"))
EXPECTED = {
    "laptop": ARROWS,
    "production": ARROWS | OF_THE_DATABASE,
    "everything": ARROWS | OF_THE_DATABASE | OF_THE_LOAD_TEST | OF_TRACES,
}


def arrows(objects: Sequence[Object]) -> set[Arrow]:
    """Every connection that both sides allow; those from and to beyond the namespace need one side only."""
    pods = {name for name, _, _ in pods_of(objects)}
    into, out = _openings(objects)
    through_open_doors = {one for one in out if Arrow(ANYWHERE, one.called, one.port) in into}
    beyond = {one for one in out if one.called not in pods}
    return {one for one in into if one in out or one.caller not in pods} | through_open_doors | beyond


def _openings(objects: Sequence[Object]) -> tuple[set[Arrow], set[Arrow]]:
    """What the called allow, and what the callers allow."""
    pods = {name: labels for name, labels, _ in pods_of(objects)}
    into: set[Arrow] = set()
    out: set[Arrow] = set()
    for policy in of_kind(objects, "NetworkPolicy"):
        own = [name for name, labels in pods.items() if selects(policy["spec"]["podSelector"], labels)]
        for peer, port in _rules(policy, "ingress", "from", pods):
            into |= {Arrow(peer, name, port) for name in own}
        for peer, port in _rules(policy, "egress", "to", pods):
            out |= {Arrow(name, peer, port) for name in own}
    return into, out


def _rules(policy: Object, direction: str, side: str, pods: dict[str, dict[str, str]]) -> Iterator[tuple[str, int]]:
    for rule in policy["spec"].get(direction, []):
        for port in rule.get("ports", [{"port": 0}]):
            for peer in rule.get(side, [{}]):
                for name in _names(peer, pods):
                    yield name, port["port"]


def _names(peer: Object, pods: dict[str, dict[str, str]]) -> list[str]:
    if "namespaceSelector" in peer:
        return [peer["namespaceSelector"].get("matchLabels", {}).get("kubernetes.io/metadata.name", ANYWHERE)]
    if "podSelector" in peer:
        return [name for name, labels in pods.items() if selects(peer["podSelector"], labels)]
    return [ANYWHERE]


def nobody_reaches_anything_by_default(objects: Sequence[Object]) -> Iterator[str]:
    """One policy is for all pods, in both directions, and opens nothing."""
    for policy in of_kind(objects, "NetworkPolicy"):
        spec = policy["spec"]
        closed = not spec.get("ingress") and not spec.get("egress")
        if not spec["podSelector"] and closed and set(spec["policyTypes"]) == {"Ingress", "Egress"}:
            return
    yield "no NetworkPolicy closes everything that is not opened"


def arrows_have_two_ends(objects: Sequence[Object]) -> Iterator[str]:
    """Within the namespace nobody opens what the other side does not."""
    pods = {name for name, _, _ in pods_of(objects)}
    into, out = _openings(objects)
    whole = arrows(objects)
    for one in (into | out) - whole:
        if {one.caller, one.called} <= pods:
            yield f"the arrow from {one.caller} to the port {one.port} of {one.called} has one end"


def policies_are_for_somebody(objects: Sequence[Object]) -> Iterator[str]:
    """Each policy selects pods that there are, names the directions it opens, and opens ports only."""
    every = [labels for _, labels, _ in pods_of(objects)]
    for policy in of_kind(objects, "NetworkPolicy"):
        spec = policy["spec"]
        if not any(selects(spec["podSelector"], labels) for labels in every):
            yield f"{title(policy)} selects no pod"
        for direction in ("ingress", "egress"):
            if spec.get(direction) and direction.capitalize() not in spec["policyTypes"]:
                yield f"{title(policy)} opens {direction} without saying so"
            if any(not rule.get("ports") for rule in spec.get(direction, [])):
                yield f"{title(policy)} opens every port"


def ports_have_names_and_arrows(objects: Sequence[Object]) -> Iterator[str]:
    """Each port has a name; each port of a Service is one of its pods, and somebody may reach it."""
    open_ports = {(one.called, one.port) for one in arrows(objects)}
    for owner in with_pods(objects):
        if "" in ports(owner).values():
            yield f"{title(owner)} has a port without name"
    for service in of_kind(objects, "Service"):
        if service["spec"].get("type") == "ExternalName":
            continue
        behind = [
            owner
            for owner in with_pods(objects)
            if selects({"matchLabels": service["spec"]["selector"]}, pod_labels(owner))
        ]
        if not behind:
            yield f"{title(service)} selects no pod"
        for port in service["spec"]["ports"]:
            if not port.get("name"):
                yield f"{title(service)} has a port without name"
            for owner in behind:
                yield from _fault_of_port(service, port, owner, open_ports)


def _fault_of_port(service: Object, port: Object, owner: Object, open_ports: set[tuple[str, int]]) -> Iterator[str]:
    numbers = [number for number, name in ports(owner).items() if name == port.get("targetPort")]
    if not numbers:
        yield f"{title(service)} leads to the port {port.get('targetPort')!r}, which {title(owner)} does not have"
    elif (pod_labels(owner)["app.kubernetes.io/name"], numbers[0]) not in open_ports:
        yield f"{title(service)}: nobody may reach the port {port['name']}"


POLICIES = (
    nobody_reaches_anything_by_default,
    arrows_have_two_ends,
    policies_are_for_somebody,
    ports_have_names_and_arrows,
)
