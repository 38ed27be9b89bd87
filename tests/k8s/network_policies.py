"""Who may reach whom: NetworkPolicies leave exactly the arrows of the design open."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tests.k8s.building import Object
from tests.k8s.objects import Break, detects, named, of_kind, pod_labels, pods_of, ports, selects, title, with_pods

ANYWHERE = "anywhere"


class Arrow(NamedTuple):
    """A caller may connect to a port of a callee."""

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
"""Those of docs/architecture.md, metrics for Prometheus, and DNS."""
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
    """Every connection that both sides allow; one from or to beyond the namespace needs one side only."""
    pods = {name for name, _, _ in pods_of(objects)}
    into, out = _openings(objects)
    to_public_ports = {one for one in out if Arrow(ANYWHERE, one.called, one.port) in into}
    beyond = {one for one in out if one.called not in pods}
    return {one for one in into if one in out or one.caller not in pods} | to_public_ports | beyond


def _openings(objects: Sequence[Object]) -> tuple[set[Arrow], set[Arrow]]:
    """What callees allow, and what callers allow."""
    pods = {name: labels for name, labels, _ in pods_of(objects)}
    into: set[Arrow] = set()
    out: set[Arrow] = set()
    for policy in of_kind(objects, "NetworkPolicy"):
        own = [name for name, labels in pods.items() if selects(policy["spec"]["podSelector"], labels)]
        into |= {Arrow(peer, name, port) for peer, port in _rules(policy, "Ingress", "from", pods) for name in own}
        out |= {Arrow(name, peer, port) for peer, port in _rules(policy, "Egress", "to", pods) for name in own}
    return into, out


def _rules(policy: Object, direction: str, side: str, pods: dict[str, dict[str, str]]) -> Iterator[tuple[str, int]]:
    """Peers and ports of a direction that the policy is for; port 0 stands for every port."""
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


@detects(Break("NetworkPolicy", "nobody", "spec/policyTypes", ["Ingress"]))
def everything_is_closed_by_default(objects: Sequence[Object]) -> Iterator[str]:
    """One policy is for all pods, in both directions, and opens nothing."""
    spec = named(objects, "NetworkPolicy", "nobody")["spec"]
    opened = [*spec.get("ingress", []), *spec.get("egress", [])]
    if spec["podSelector"] or opened or set(spec["policyTypes"]) != {"Ingress", "Egress"}:
        yield "the NetworkPolicy nobody does not close everything"


@detects(Break("NetworkPolicy", "engine", "spec/ingress/0/from/0/podSelector", {}))
def arrows_have_two_ends(objects: Sequence[Object]) -> Iterator[str]:
    """Within the namespace neither side opens what the other does not."""
    pods = {name for name, _, _ in pods_of(objects)}
    into, out = _openings(objects)
    for one in (into | out) - arrows(objects):
        if {one.caller, one.called} <= pods:
            yield f"only one side opens the port {one.port} of {one.called} to {one.caller}"


@detects(Break("Service", "engine", "spec/ports/0/targetPort", "players"))
def services_lead_to_open_ports(objects: Sequence[Object]) -> Iterator[str]:
    """Each port of a Service is a named port of its pods, and somebody may reach it."""
    reachable = {(one.called, one.port) for one in arrows(objects)}
    for service in [one for one in of_kind(objects, "Service") if "selector" in one["spec"]]:
        selector = {"matchLabels": service["spec"]["selector"]}
        behind = [owner for owner in with_pods(objects) if selects(selector, pod_labels(owner))]
        if not behind:
            yield f"{title(service)} selects no pod"
        for owner in behind:
            numbers = {name: number for number, name in ports(owner).items()}
            for port in service["spec"]["ports"]:
                if (pod_labels(owner)["app.kubernetes.io/name"], numbers.get(port["targetPort"])) not in reachable:
                    yield f"{title(service)}: nobody may reach the port {port['name']} of {title(owner)}"
