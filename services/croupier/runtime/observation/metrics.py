"""Prometheus metrics of every service, and the port that serves them."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import accumulate
from math import inf
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
from prometheus_client.metrics_core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from croupier.runtime.server.addresses import host_and_port, listening_host, with_port
from croupier.runtime.server.program import SettingsError
from croupier.runtime.tls.tls import Tls

LATENCY_BUCKETS_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Buckets:
    """The counts of a histogram for each move, without locks and checks.

    Only one thread observes amounts; another one may collect them. `bounds` are the upper bounds of the buckets, in
    order.
    """

    __slots__ = ("_bounds", "_counts", "_sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, amount: float) -> None:
        """Count an amount of at least 0."""
        self._counts[bisect_left(self._bounds, amount)] += 1
        self._sum += amount

    def collected(self) -> tuple[list[tuple[str, float]], float]:
        """Return the count up to each bound, by the text of the bound, and the sum."""
        names = map(floatToGoString, (*self._bounds, inf))
        return list(zip(names, accumulate(self._counts), strict=True)), self._sum


class PlainHistogram(Collector):
    """A histogram for each move, exported as one of the library; without labels, or with one."""

    def __init__(
        self, name: str, documentation: str, bounds: Sequence[float], registry: CollectorRegistry, label: str = ""
    ) -> None:
        self._name, self._documentation = name, documentation
        self._bounds = bounds
        self._labelnames = (label,) if label else ()
        unlabelled = Buckets(bounds)
        self._buckets: dict[tuple[str, ...], Buckets] = {} if label else {(): unlabelled}
        self.observe = unlabelled.observe
        """Counts an amount of at least 0, in a histogram without labels."""
        registry.register(self)

    def of(self, *value: str) -> Buckets:
        """Return the buckets of a value of the label."""
        return self._buckets.setdefault(value, Buckets(self._bounds))

    def collect(self) -> Iterable[Metric]:
        """Return the buckets of each value, with their count and their sum."""
        family = HistogramMetricFamily(self._name, self._documentation, labels=self._labelnames)
        for value, buckets in list(self._buckets.items()):
            family.add_metric(value, *buckets.collected())
        yield family

    describe = collect


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
