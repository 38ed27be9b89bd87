"""The gateway: connections to clients and to services."""

from k8s.dashboards.board import Dashboard, Form, Query, Unit, panel
from k8s.dashboards.queries import extreme, of, quantile, rate, total

_EXPIRIES = of("lobby|engine|scoring", "croupier_tls_certificate_expiry_timestamp_seconds")
_CLUSTER = "envoy_cluster_name"


def _clients(metric: str) -> str:
    return of("gateway", metric, envoy_http_conn_manager_prefix="gateway")


def _services(metric: str) -> str:
    return of("gateway", f"envoy_cluster_{metric}", envoy_cluster_name="lobby|engine|engine_websocket|scoring")


_CLIENTS = (
    panel("Connections", "By gateway.", total(_clients("envoy_http_downstream_cx_active"), "pod")),
    panel("Running requests", "Mostly streams.", total(_clients("envoy_http_downstream_rq_active"), "pod")),
    panel(
        "Answers by class",
        "HTTP status classes: gRPC has its own codes within 2xx. 4xx are refusals, 5xx are our failures.",
        rate(_clients("envoy_http_downstream_rq_xx"), "envoy_response_code_class").called(
            "{{envoy_response_code_class}}xx"
        ),
    ),
    panel(
        "Refused",
        "Too many requests of one address or network, invalid tokens, and connections beyond the limit.",
        rate(of("gateway", "envoy_http_local_rate_limit_rate_limited")).called("too many requests"),
        rate(_clients("envoy_http_jwt_authn_denied")).called("no valid token"),
        rate(of("gateway", "envoy_listener_downstream_global_cx_overflow")).called("too many connections"),
    ),
    panel(
        "Days until a certificate expires",
        "The first to expire of the gateway's certificates, and of those of the services.",
        Query(f"min({of('gateway', 'envoy_server_days_until_first_cert_expiring')})", "gateway"),
        Query(f"(min({_EXPIRIES}) - time()) / 86400", "services"),
        unit=Unit.DAYS,
        form=Form.FIGURE,
    ),
)
_SERVICES = (
    panel(
        "Healthy replicas",
        "By the gateway's health checks.",
        extreme("min", _services("membership_healthy"), _CLUSTER),
    ),
    panel(
        "Ejected replicas",
        "They answered UNAVAILABLE, or not at all, repeatedly.",
        extreme("max", _services("outlier_detection_ejections_active"), _CLUSTER),
    ),
    panel(
        "Duration of requests, p99",
        "Streams count when they end, and increase it. Look at changes, not at the value.",
        quantile(0.99, _services("upstream_rq_time_bucket"), _CLUSTER).divided(1000),
    ),
    panel("Retried requests", "Only idempotent ones.", rate(_services("upstream_rq_retry"), _CLUSTER)),
    panel(
        "Failed connections",
        "To replicas that have ended, or whose certificate was refused.",
        rate(_services("upstream_cx_connect_fail"), _CLUSTER),
    ),
)

GATEWAY = Dashboard("croupier-gateway", "croupier: the gateway", {"Clients": _CLIENTS, "Services": _SERVICES})
