"""The front door: clients on one side of it, services on the other."""

from k8s.dashboards.board import Dashboard, Form, Query, Unit, panel
from k8s.dashboards.queries import extreme, of, quantile, rate, total

_EXPIRIES = of("lobby|engine|scoring", "croupier_tls_certificate_expiry_timestamp_seconds")
_CLUSTER = "envoy_cluster_name"


def _clients(metric: str) -> str:
    return of("door", metric, envoy_http_conn_manager_prefix="door")


def _services(metric: str) -> str:
    return of("door", f"envoy_cluster_{metric}", envoy_cluster_name="lobby|engine|scoring")


_CLIENTS = (
    panel("Connections", "By door.", total(_clients("envoy_http_downstream_cx_active"), "pod")),
    panel(
        "Requests under way", "Streams for the most part.", total(_clients("envoy_http_downstream_rq_active"), "pod")
    ),
    panel(
        "Answers by class",
        "As HTTP sees them: gRPC has its own codes inside of 2xx. 4xx are refusals, 5xx are ours.",
        rate(_clients("envoy_http_downstream_rq_xx"), "envoy_response_code_class").called(
            "{{envoy_response_code_class}}xx"
        ),
    ),
    panel(
        "Refused",
        "Too many requests of one address, tokens that do not hold, and connections beyond the limit.",
        rate(of("door", "envoy_http_local_rate_limit_rate_limited")).called("too many of one address"),
        rate(_clients("envoy_http_jwt_authn_denied")).called("no valid token"),
        rate(of("door", "envoy_listener_downstream_global_cx_overflow")).called("too many connections"),
    ),
    panel(
        "Days until a certificate ends",
        "The first of those that the door shows to clients and services, and of those of the services.",
        Query(f"min({of('door', 'envoy_server_days_until_first_cert_expiring')})", "door"),
        Query(f"(min({_EXPIRIES}) - time()) / 86400", "services"),
        unit=Unit.DAYS,
        form=Form.FIGURE,
    ),
)
_SERVICES = (
    panel(
        "Replicas that are well",
        "As the door's own probes see them.",
        extreme("min", _services("membership_healthy"), _CLUSTER),
    ),
    panel(
        "Replicas left alone for a while",
        "They answered UNAVAILABLE, or not at all, again and again.",
        extreme("max", _services("outlier_detection_ejections_active"), _CLUSTER),
    ),
    panel(
        "Time of requests, 99 of 100",
        "Streams count when they end, and lift it. Look at the step, not at the height.",
        quantile(0.99, _services("upstream_rq_time_bucket"), _CLUSTER).divided(1000),
    ),
    panel(
        "Requests tried again", "Only those that cannot count twice.", rate(_services("upstream_rq_retry"), _CLUSTER)
    ),
    panel(
        "Connections that failed",
        "To replicas that are gone, or whose certificate was refused.",
        rate(_services("upstream_cx_connect_fail"), _CLUSTER),
    ),
)

DOOR = Dashboard("croupier-door", "croupier: the front door", {"Clients": _CLIENTS, "Services behind it": _SERVICES})
