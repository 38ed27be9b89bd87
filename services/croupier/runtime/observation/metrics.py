"""Prometheus metrics of every service, and the port that serves them."""

from functools import partial
from wsgiref.simple_server import WSGIServer

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    start_http_server,
)

from croupier.runtime.server.addresses import host_and_port, listening_host, with_port
from croupier.runtime.server.program import SettingsError
from croupier.runtime.tls.tls import Tls

LATENCY_BUCKETS_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class RpcMetrics:
    """Metrics of the calls of one service, in a registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        counter = partial(Counter, registry=registry)
        self.calls = counter("croupier_rpc_calls", "Finished calls by method and gRPC code.", ["method", "code"])
        self.seconds = Histogram(
            "croupier_rpc_seconds",
            "Time to serve a unary call, in seconds.",
            ["method"],
            buckets=LATENCY_BUCKETS_SECONDS,
            registry=registry,
        )
        self.open_calls = Gauge(
            "croupier_rpc_open_calls", "Running calls, streams included.", ["method"], registry=registry
        )
        self.limited = counter(
            "croupier_rpc_limited",
            "Calls refused, and messages of streams delayed, because a budget was used up, by method.",
            ["method"],
        )
        self.refusals = counter("croupier_refusals", "Calls refused by a limit, by its name.", ["limit"])
        self.without_network = counter(
            "croupier_calls_without_network",
            "Calls of players without the gateway's network header, which no limit of a network holds for.",
        )


def export_expiry(registry: CollectorRegistry, tls: Tls | None) -> None:
    """Export the expiry of the certificate in use, if there is one."""
    if tls is not None:
        gauge = Gauge(
            "croupier_tls_certificate_expiry_timestamp_seconds",
            "Expiry of the certificate in use, in seconds since 1970 UTC.",
            registry=registry,
        )
        gauge.set_function(lambda: tls.identity.ends.timestamp())


def serve_metrics(registry: CollectorRegistry, address: str) -> tuple[WSGIServer, str]:
    """Serve the registry over HTTP at host:port (port 0 chooses one); returns the server and its real address.

    CPU seconds, memory and open files of this process are added where the system reports them. Raises SettingsError if
    the address cannot be listened on.
    """
    try:
        host, port = host_and_port(address)
        server, _ = start_http_server(port, addr=listening_host(host), registry=registry)
    except (ValueError, OverflowError, OSError):
        raise SettingsError(
            f"{address} cannot be listened on: is it in use, or not a host:port of this machine?"
        ) from None
    ProcessCollector(registry=registry)
    # A page without the times at which counters began is shorter: its thread competes with the event loop.
    disable_created_metrics()  # type: ignore[no-untyped-call]
    return server, with_port(host, server.server_port)
