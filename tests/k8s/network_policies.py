"""NetworkPolicies allow exactly the connections of docs/architecture.md."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tests.k8s.building import Object
from tests.k8s.objects import Break, detects, named, of_kind, pod_labels, pods_of, ports, selects, title, with_pods

ANYWHERE = "anywhere"


class NetworkConnection(NamedTuple):
    """A connection of a caller to a port of a callee."""

    caller: str
    called: str
    port: int


CONNECTIONS = frozenset(
    {
        NetworkConnection(ANYWHERE, "gateway", 7700),
        NetworkConnection("gateway", "lobby", 7710),
        NetworkConnection("gateway", "engine", 7720),
        NetworkConnection("gateway", "scoring", 7730),
        NetworkConnection("lobby", "engine", 7721),
        NetworkConnection("engine", "scoring", 7731),
        *(NetworkConnection(caller, "postgres", 5432) for caller in ("lobby", "engine", "scoring", "migrate")),
        *(
            NetworkConnection(caller, "kube-system", 53)
            for caller in ("gateway", "lobby", "engine", "scoring", "migrate")
        ),
        *(
            NetworkConnection("monitoring", called, port)
            for called, port in (("gateway", 7708), ("lobby", 7719), ("engine", 7729), ("scoring", 7739))
        ),
    }
)
"""The connections of docs/architecture.md, metrics for Prometheus, and DNS."""
OF_THE_DATABASE = frozenset(
    {
        NetworkConnection("postgres", "postgres", 5432),
        NetworkConnection("postgres", "postgres", 8000),
        NetworkConnection("cnpg-system", "postgres", 5432),
        NetworkConnection("cnpg-system", "postgres", 8000),
        NetworkConnection("monitoring", "postgres", 9187),
        *(
            NetworkConnection("postgres", called, port)
            for called, port in (("kube-system", 53), (ANYWHERE, 443), (ANYWHERE, 6443))
        ),
    }
)
OF_THE_LOAD_TEST = frozenset(
    {
        NetworkConnection("load-worker", "load-master", 5557),
        *(NetworkConnection(caller, "gateway", 7700) for caller in ("load-master", "load-worker")),
        *(NetworkConnection(caller, "kube-system", 53) for caller in ("load-master", "load-worker")),
    }
)
OF_TRACES = frozenset(
    NetworkConnection(caller, "monitoring", 4317) for caller in ("gateway", "lobby", "engine", "scoring")
)
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
