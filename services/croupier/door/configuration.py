"""The whole of Envoy's configuration, made from the door's settings."""

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from croupier.door.clusters import admin_cluster, clusters, collector_cluster
from croupier.door.envoy_types import Config, seconds, socket_address, typed
from croupier.door.filters import host_settings, http_filters
from croupier.door.overload import overload
from croupier.door.refusals import HEADER_KIBIBYTES, MOST_HEADERS, local_replies
from croupier.door.routes import routes
from croupier.door.settings import DoorSettings
from croupier.door.tracing import COLLECTOR, HEADERS, RUNTIME, tracing
from croupier.door.transport import downstream_tls

QUIET_SECONDS = 60
"""How long a request may rest in the middle, where no route says otherwise."""
DRAIN_SECONDS = 10
BUFFER_BYTES = 64 * 1024
SOL_SOCKET, SO_KEEPALIVE = 1, 9
_RUNTIME: Config = {
    # A connection that opens and resets streams as fast as it can has to wait for its turn like all others.
    "http.max_requests_per_io_cycle": 10,
}


def bootstrap(settings: DoorSettings, key: Ed25519PublicKey) -> Config:
    """Envoy's configuration as plain data; `key` is the lobby's."""
    metrics = [_metrics_listener(settings)] if settings.metrics_listen else []
    return {
        "node": {"id": "door", "cluster": "croupier"},
        "admin": {"address": socket_address(settings.admin_listen)},
        "static_resources": {
            "listeners": [_players_listener(settings, key), *metrics],
            "clusters": [
                *clusters(settings),
                *([admin_cluster(settings)] if metrics else []),
                *([collector_cluster(COLLECTOR, settings)] if settings.traces.endpoint else []),
            ],
        },
        "overload_manager": overload(settings),
        "layered_runtime": {"layers": [{"name": "fixed", "static_layer": {**_RUNTIME, **RUNTIME}}]},
    }


def _players_listener(settings: DoorSettings, key: Ed25519PublicKey) -> Config:
    manager = typed(
        "envoy.filters.network.http_connection_manager",
        "filters.network.http_connection_manager.v3.HttpConnectionManager",
        **_connections(settings),
        **_requests(settings),
        **tracing(settings),
        http_filters=http_filters(settings, key),
        route_config=_route_config(settings),
        local_reply_config=local_replies(),
        access_log=_access_log(settings),
    )
    return {
        "name": "players",
        "address": socket_address(settings.listen),
        "per_connection_buffer_limit_bytes": BUFFER_BYTES,
        "socket_options": [
            {"description": "keepalive", "level": SOL_SOCKET, "name": SO_KEEPALIVE, "int_value": 1, "state": 0}
        ],
        "filter_chains": [{"filters": [manager], **downstream_tls(settings)}],
    }


def _connections(settings: DoorSettings) -> Config:
    """How connections are served: for many phones, most of which are quiet, and some that are slow or gone."""
    return {
        "codec_type": "AUTO",
        "stat_prefix": "door",
        "common_http_protocol_options": {
            "idle_timeout": seconds(settings.connection_idle_seconds),
            "max_connection_duration": seconds(settings.connection_age_seconds),
            "max_headers_count": MOST_HEADERS,
            "headers_with_underscores_action": "REJECT_REQUEST",
        },
        "http2_protocol_options": {
            "max_concurrent_streams": settings.streams_per_connection_limit,
            "initial_stream_window_size": BUFFER_BYTES,
            "initial_connection_window_size": 16 * BUFFER_BYTES,
            "connection_keepalive": {"interval": "30s", "timeout": "30s"},
        },
        "drain_timeout": seconds(DRAIN_SECONDS),
        "delayed_close_timeout": "1s",
    }


def _requests(settings: DoorSettings) -> Config:
    """What a request may be, and what is told of the door in the answer: nothing."""
    return {
        "max_request_headers_kb": HEADER_KIBIBYTES,
        "request_headers_timeout": seconds(settings.header_seconds),
        "stream_idle_timeout": seconds(QUIET_SECONDS),
        "use_remote_address": True,
        "xff_num_trusted_hops": settings.trusted_proxies,
        "early_header_mutation_extensions": [_without_instructions()],
        "normalize_path": True,
        "merge_slashes": True,
        "path_with_escaped_slashes_action": "REJECT_REQUEST",
        "server_header_transformation": "PASS_THROUGH",
        # A request is found in the logs of all services by the id that the client gave it, or by one of the door's.
        "preserve_external_request_id": True,
        "always_set_request_id_in_response": True,
    }


def _without_instructions() -> Config:
    """Nobody outside may tell by headers how often to try again, how long to wait, or what is traced.

    That holds wherever he comes from.
    """
    return typed(
        "envoy.http.early_header_mutation.header_mutation",
        "http.early_header_mutation.header_mutation.v3.HeaderMutation",
        mutations=[
            {"remove_on_match": {"key_matcher": {"prefix": "x-envoy-"}}},
            *({"remove": name} for name in HEADERS),
        ],
    )


def _route_config(settings: DoorSettings) -> Config:
    host = {"name": "players", "domains": ["*"], "routes": routes(settings.request_seconds), **host_settings(settings)}
    return {"name": "players", "virtual_hosts": [host]}


def _access_log(settings: DoorSettings) -> list[Config]:
    """A line for each call, with neither a query nor a token in it."""
    if not settings.access_log:
        return []
    fields = {
        "at": "%START_TIME%",
        "method": "%REQ(:METHOD)%",
        "path": "%PATH(NQ:ORIG)%",
        "protocol": "%PROTOCOL%",
        "status": "%RESPONSE_CODE%",
        "grpc_status": "%GRPC_STATUS(SNAKE_STRING)%",
        "milliseconds": "%DURATION%",
        "flags": "%RESPONSE_FLAGS%",
        "upstream": "%UPSTREAM_HOST%",
        "client": "%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%",
        "request_id": "%REQ(X-REQUEST-ID)%",
        **({"trace_id": "%TRACE_ID%"} if settings.traces.endpoint else {}),
    }
    return [
        typed(
            "envoy.access_loggers.stdout",
            "access_loggers.stream.v3.StdoutAccessLog",
            log_format={"json_format": fields},
        )
    ]


def _metrics_listener(settings: DoorSettings) -> Config:
    """Metrics and readiness of Envoy, and nothing else of its administration."""
    allowed = {"/metrics": "/stats/prometheus", "/ready": "/ready"}
    host = {
        "name": "metrics",
        "domains": ["*"],
        "routes": [
            {
                "match": {"path": path, "headers": [{"name": ":method", "string_match": {"exact": "GET"}}]},
                "route": {"cluster": "admin", "prefix_rewrite": rewritten},
            }
            for path, rewritten in allowed.items()
        ],
    }
    manager = typed(
        "envoy.filters.network.http_connection_manager",
        "filters.network.http_connection_manager.v3.HttpConnectionManager",
        stat_prefix="metrics",
        http_filters=[typed("envoy.filters.http.router", "filters.http.router.v3.Router")],
        route_config={"name": "metrics", "virtual_hosts": [host]},
        stream_idle_timeout="10s",
    )
    return {
        "name": "metrics",
        "address": socket_address(settings.metrics_listen),
        "ignore_global_conn_limit": True,
        "bypass_overload_manager": True,
        "filter_chains": [{"filters": [manager]}],
    }
