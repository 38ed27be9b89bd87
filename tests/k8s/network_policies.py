"""NetworkPolicies allow exactly the connections of docs/architecture.md."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from tests.k8s.building import Object
from tests.k8s.objects import Break, detects, named, of_kind, pod_labels, pods_of, ports, selects, title, with_pods

ANYWHERE = "anywhere"


class NetworkConnection(NamedTuple):
    """A connection of a caller to a port of a callee."""

    caller: str
    called: str
    port: int


def _connections(text: str) -> frozenset[NetworkConnection]:
    """Return the connections of lines such as "lobby engine -> postgres:5432 kube-system:53"."""
    found = set()
    for callers, _, called in (line.partition(" -> ") for line in text.strip().splitlines()):
        for caller, (name, _, port) in product(callers.split(), (one.partition(":") for one in called.split())):
            found.add(NetworkConnection(caller, name, int(port)))
    return frozenset(found)


CONNECTIONS = _connections("""
anywhere -> gateway:7700
gateway -> lobby:7710 engine:7720 engine:7722 scoring:7730
lobby -> engine:7721
engine -> scoring:7731
lobby engine scoring migrate -> postgres:5432
gateway lobby engine scoring migrate -> kube-system:53
monitoring -> gateway:7708 lobby:7719 engine:7729 scoring:7739
""")
"""The connections of docs/architecture.md, metrics for Prometheus, and DNS."""
OF_THE_DATABASE = _connections("""
postgres cnpg-system -> postgres:5432 postgres:8000
monitoring -> postgres:9187
postgres -> kube-system:53 anywhere:443 anywhere:6443
""")
OF_THE_LOAD_TEST = _connections("""
load-worker -> load-master:5557
load-master load-worker -> gateway:7700 kube-system:53
""")
OF_TRACES = _connections("gateway lobby engine scoring -> monitoring:4317")
EXPECTED = {
    "laptop": CONNECTIONS,
    "production": CONNECTIONS | OF_THE_DATABASE,
    "everything": CONNECTIONS | OF_THE_DATABASE | OF_THE_LOAD_TEST | OF_TRACES,
}


def connections(objects: Sequence[Object]) -> set[NetworkConnection]:
    """Return every connection that both sides allow, or that one side allows from or to another namespace."""
    pods = {name for name, _, _ in pods_of(objects)}
    into, out = _openings(objects)
    to_public_ports = {one for one in out if NetworkConnection(ANYWHERE, one.called, one.port) in into}
    beyond = {one for one in out if one.called not in pods}
    return {one for one in into if one in out or one.caller not in pods} | to_public_ports | beyond


def _openings(objects: Sequence[Object]) -> tuple[set[NetworkConnection], set[NetworkConnection]]:
    """Return the connections that callees allow, and those that callers allow."""
    pods = {name: labels for name, labels, _ in pods_of(objects)}
    into: set[NetworkConnection] = set()
    out: set[NetworkConnection] = set()
    for policy in of_kind(objects, "NetworkPolicy"):
        own = [name for name, labels in pods.items() if selects(policy["spec"]["podSelector"], labels)]
        into |= {
            NetworkConnection(peer, name, port)
            for peer, port in _rules(policy, "Ingress", "from", pods)
            for name in own
        }
        out |= {
            NetworkConnection(name, peer, port) for peer, port in _rules(policy, "Egress", "to", pods) for name in own
        }
    return into, out


def _rules(policy: Object, direction: str, side: str, pods: dict[str, dict[str, str]]) -> Iterator[tuple[str, int]]:
    """Yield peers and ports of a policy's direction; port 0 stands for every port."""
    if direction in policy["spec"]["policyTypes"]:
        for rule in policy["spec"].get(direction.lower(), []):
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


@detects(Break("NetworkPolicy", "default-deny", "spec/policyTypes", ["Ingress"]))
def everything_is_closed_by_default(objects: Sequence[Object]) -> Iterator[str]:
    """One policy is for all pods, in both directions, and opens nothing."""
    spec = named(objects, "NetworkPolicy", "default-deny")["spec"]
    opened = [*spec.get("ingress", []), *spec.get("egress", [])]
    if spec["podSelector"] or opened or set(spec["policyTypes"]) != {"Ingress", "Egress"}:
        yield "the NetworkPolicy default-deny does not close everything"


@detects(Break("NetworkPolicy", "engine", "spec/ingress/0/from/0/podSelector", {}))
def connections_are_allowed_on_both_sides(objects: Sequence[Object]) -> Iterator[str]:
    """Within the namespace no connection is allowed by one side only."""
    pods = {name for name, _, _ in pods_of(objects)}
    into, out = _openings(objects)
    for one in (into | out) - connections(objects):
        if {one.caller, one.called} <= pods:
            yield f"only one side opens the port {one.port} of {one.called} to {one.caller}"


@detects(Break("Service", "engine", "spec/ports/0/targetPort", "players"))
def services_lead_to_open_ports(objects: Sequence[Object]) -> Iterator[str]:
    """Each port of a Service is a named port of its pods, and a connection to it is allowed."""
    reachable = {(one.called, one.port) for one in connections(objects)}
    for service in [one for one in of_kind(objects, "Service") if "selector" in one["spec"]]:
        selector = {"matchLabels": service["spec"]["selector"]}
        behind = [owner for owner in with_pods(objects) if selects(selector, pod_labels(owner))]
        if not behind:
            yield f"{title(service)} selects no pod"
        for owner in behind:
            numbers = {name: number for number, name in ports(owner).items()}
            for port in service["spec"]["ports"]:
                if (pod_labels(owner)["app.kubernetes.io/name"], numbers.get(port["targetPort"])) not in reachable:
                    yield f"{title(service)}: no connection is allowed to the port {port['name']} of {title(owner)}"
