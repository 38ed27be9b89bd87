"""The front door: clients on one side of it, services on the other."""

from k8s.dashboards.board import Dashboard, Form, Panel, Query, Row, Unit
from k8s.dashboards.queries import of, quantile, rate, total

_EXPIRIES = of("lobby|engine|scoring", "croupier_tls_certificate_expiry_timestamp_seconds")


def _clients(metric: str) -> str:
    return of("door", metric, envoy_http_conn_manager_prefix="door")


def _services(metric: str) -> str:
    return of("door", metric, envoy_cluster_name="lobby|engine|scoring")


_TIMES = _services("envoy_cluster_upstream_rq_time_bucket")

_CLIENTS = Row(
    "Clients",
    (
        Panel(
            "Connections",
            "By door.",
            (Query(total(_clients("envoy_http_downstream_cx_active"), "pod"), "{{pod}}"),),
        ),
        Panel(
            "Requests under way",
            "Streams for the most part.",
            (Query(total(_clients("envoy_http_downstream_rq_active"), "pod"), "{{pod}}"),),
        ),
        Panel(
            "Answers by class",
            "As HTTP sees them: gRPC has its own codes inside of 2xx. 4xx are refusals, 5xx are ours.",
            (
                Query(
                    rate(_clients("envoy_http_downstream_rq_xx"), "envoy_response_code_class"),
                    "{{envoy_response_code_class}}xx",
                ),
            ),
            Unit.PER_SECOND,
        ),
        Panel(
            "Refused",
            "Too many requests of one address, tokens that do not hold, and connections beyond the limit.",
            (
                Query(rate(of("door", "envoy_http_local_rate_limit_rate_limited")), "too many of one address"),
                Query(rate(_clients("envoy_http_jwt_authn_denied")), "no valid token"),
                Query(rate(of("door", "envoy_listener_downstream_global_cx_overflow")), "too many connections"),
            ),
            Unit.PER_SECOND,
        ),
        Panel(
            "Days until a certificate ends",
            "The first of those that the door shows to clients and services, and of those of the services.",
            (
                Query(f"min({of('door', 'envoy_server_days_until_first_cert_expiring')})", "door"),
                Query(f"(min({_EXPIRIES}) - time()) / 86400", "services"),
            ),
            Unit.DAYS,
            Form.FIGURE,
        ),
    ),
)

_SERVICES = Row(
    "Services behind it",
    (
        Panel(
            "Replicas that are well",
            "As the door's own probes see them.",
            (
                Query(
                    f"min by (envoy_cluster_name) ({_services('envoy_cluster_membership_healthy')})",
                    "{{envoy_cluster_name}}",
                ),
            ),
        ),
        Panel(
            "Replicas left alone for a while",
            "They answered UNAVAILABLE, or not at all, again and again.",
            (
                Query(
                    f"max by (envoy_cluster_name) ({_services('envoy_cluster_outlier_detection_ejections_active')})",
                    "{{envoy_cluster_name}}",
                ),
            ),
        ),
        Panel(
            "Time of requests, 99 of 100",
            "Streams count when they end, and lift it. Look at the step, not at the height.",
            (
                Query(
                    f"{quantile(0.99, _TIMES, 'envoy_cluster_name')} / 1000",
                    "{{envoy_cluster_name}}",
                ),
            ),
            Unit.SECONDS,
        ),
        Panel(
            "Requests tried again",
            "Only those that cannot count twice.",
            (
                Query(
                    rate(_services("envoy_cluster_upstream_rq_retry"), "envoy_cluster_name"), "{{envoy_cluster_name}}"
                ),
            ),
            Unit.PER_SECOND,
        ),
        Panel(
            "Connections that failed",
            "To replicas that are gone, or whose certificate was refused.",
            (
                Query(
                    rate(_services("envoy_cluster_upstream_cx_connect_fail"), "envoy_cluster_name"),
                    "{{envoy_cluster_name}}",
                ),
            ),
            Unit.PER_SECOND,
        ),
    ),
)

DOOR = Dashboard("croupier-door", "croupier: the front door", (_CLIENTS, _SERVICES))
