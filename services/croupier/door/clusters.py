"""The services behind the door: where they are, how their health is seen, and how the door is known to them."""

from croupier.door.envoy_types import Config, message, seconds, socket_address, typed
from croupier.door.settings import DoorSettings
from croupier.door.transport import upstream_tls
from croupier.runtime.addresses import addresses_of, ip_of

CONNECT_SECONDS = 2
MOST_CALLS = 100_000
"""At a time and service. Nearly all of them are streams of quiet tables."""
WINDOW_BYTES = 256 * 1024
"""What a stream may hold back for a client that reads slowly, before the service hears of it."""


def clusters(settings: DoorSettings) -> list[Config]:
    """One for each service."""
    return [
        _cluster("lobby", settings.lobby, "LEAST_REQUEST", settings),
        _cluster("engine", settings.engine, "RING_HASH", settings),
        _cluster("scoring", settings.scoring, "LEAST_REQUEST", settings),
    ]


def admin_cluster(settings: DoorSettings) -> Config:
    """Envoy's own administration, for the metrics' listener."""
    return {
        "name": "admin",
        "type": "STATIC",
        "connect_timeout": seconds(CONNECT_SECONDS),
        "load_assignment": _endpoints("admin", (settings.admin_listen,)),
    }


def collector_cluster(name: str, settings: DoorSettings) -> Config:
    """Who takes traces."""
    return _reached(name, (settings.traces.endpoint,))


def _cluster(name: str, addresses: str, policy: str, settings: DoorSettings) -> Config:
    return {
        **_reached(name, addresses_of(addresses)),
        "lb_policy": policy,
        "ignore_health_on_host_removal": True,
        # Where every replica looks ill, calls go to all of them: their own answers say more than a refusal here.
        "common_lb_config": {"healthy_panic_threshold": {"value": 1}},
        "health_checks": [_health_check()],
        "outlier_detection": _outlier_detection(),
        "circuit_breakers": {"thresholds": [_limits()]},
        **upstream_tls(name, settings),
    }


def _reached(name: str, addresses: tuple[str, ...]) -> Config:
    """How whoever speaks gRPC is found and spoken to."""
    http2 = message("upstreams.http.v3.HttpProtocolOptions", explicit_http_config={"http2_protocol_options": _http2()})
    return {
        "name": name,
        **({"type": "STATIC"} if None not in map(ip_of, addresses) else {"cluster_type": _names()}),
        "connect_timeout": seconds(CONNECT_SECONDS),
        "load_assignment": _endpoints(name, addresses),
        "typed_extension_protocol_options": {"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": http2},
    }


def _names() -> Config:
    """All addresses that stand behind names; a replica that comes or goes is seen at the next look."""
    return typed("envoy.clusters.dns", "clusters.dns.v3.DnsCluster", dns_refresh_rate="2s", dns_lookup_family="ALL")


def _endpoints(name: str, addresses: tuple[str, ...]) -> Config:
    hosts = [{"endpoint": {"address": socket_address(address)}} for address in addresses]
    return {"cluster_name": name, "endpoints": [{"lb_endpoints": hosts}]}


def _health_check() -> Config:
    return {
        "timeout": "2s",
        "interval": "2s",
        "no_traffic_interval": "5s",
        "unhealthy_interval": "1s",
        "unhealthy_threshold": 2,
        "healthy_threshold": 1,
        "grpc_health_check": {},
    }


def _outlier_detection() -> Config:
    """A replica that answers UNAVAILABLE or cannot be reached, again and again, is left alone for a while."""
    return {
        "consecutive_gateway_failure": 5,
        "enforcing_consecutive_gateway_failure": 100,
        "enforcing_consecutive_5xx": 0,
        "enforcing_success_rate": 0,
        "split_external_local_origin_errors": True,
        "consecutive_local_origin_failure": 3,
        "enforcing_local_origin_success_rate": 0,
        "base_ejection_time": "5s",
        "max_ejection_time": "30s",
        # Never all of them.
        "max_ejection_percent": 67,
    }


def _limits() -> Config:
    return {
        "max_connections": 1024,
        "max_pending_requests": 4096,
        "max_requests": MOST_CALLS,
        "max_retries": 64,
    }


def _http2() -> Config:
    return {
        "max_concurrent_streams": 1000,
        "initial_stream_window_size": WINDOW_BYTES,
        "initial_connection_window_size": 16 * WINDOW_BYTES,
        # A replica that hangs is left after 8 seconds at most, as clients leave it that reach it without a door.
        "connection_keepalive": {"interval": "4s", "timeout": "4s"},
    }
