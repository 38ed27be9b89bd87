"""The metrics page of a process."""

import urllib.request
from math import nextafter
from random import Random

import pytest
from prometheus_client import CollectorRegistry, Histogram, generate_latest

from croupier.runtime.observation.metrics import LATENCY_BUCKETS_SECONDS, PlainHistogram, serve_metrics
from tests.waiting import TIMEOUT_SECONDS


def test_all_addresses_of_ipv6_are_those_of_ipv4_and_the_page_has_the_resources_of_the_process() -> None:
    server, address = serve_metrics(CollectorRegistry(), "[::]:0")
    try:
        for host in ("[::1]", "127.0.0.1"):
            url = f"http://{host}:{address.removeprefix('[::]:')}/metrics"
            with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as page:
                lines = page.read().decode().splitlines()
            for name in ("process_open_fds", "process_cpu_seconds_total", "process_resident_memory_bytes"):
                assert [float(line.split()[1]) > 0 for line in lines if line.startswith(f"{name} ")] == [True]
    finally:
        server.shutdown()
        server.server_close()


def page(registry: CollectorRegistry) -> list[str]:
    """Return the lines of a registry, without the times at which its metrics began."""
    return [line for line in generate_latest(registry).decode().splitlines() if "_created" not in line]


@pytest.mark.parametrize("bounds", [LATENCY_BUCKETS_SECONDS, (1, 2, 5, 10, 500)])
def test_a_plain_histogram_is_exported_as_one_of_the_library(bounds: tuple[float, ...], seed: int) -> None:
    expected, plain, random = CollectorRegistry(), CollectorRegistry(), Random(seed)
    histograms = (
        Histogram("croupier_waits", "Waits, in seconds.", buckets=bounds, registry=expected),
        PlainHistogram("croupier_waits", "Waits, in seconds.", bounds, plain),
    )
    assert page(plain) == page(expected)
    around = [amount for bound in bounds for amount in (bound, nextafter(bound, 0), nextafter(bound, 1000))]
    for amount in (0, *around, *(random.expovariate(1 / bounds[-2]) for _ in range(1000))):
        for histogram in histograms:
            histogram.observe(amount)
    assert page(plain) == page(expected)
    sums = [list(each.restricted_registry(["croupier_waits_sum"]).collect()) for each in (plain, expected)]
    assert sums[0] == sums[1] != []


def test_a_plain_histogram_with_a_label_is_exported_as_one_of_the_library() -> None:
    expected, plain = CollectorRegistry(), CollectorRegistry()
    library = Histogram("croupier_rules", "By game.", ["game"], buckets=(1, 2), registry=expected)
    own = PlainHistogram("croupier_rules", "By game.", (1, 2), plain, "game")
    assert page(plain) == page(expected)
    for game, amount in (("solo", 0.5), ("thulla", 1.5), ("solo", 9.0)):
        library.labels(game).observe(amount)
        own.of(game).observe(amount)
    assert page(plain) == page(expected)


def test_a_name_is_registered_once() -> None:
    registry = CollectorRegistry()
    PlainHistogram("croupier_waits", "Waits, in seconds.", (1,), registry)
    with pytest.raises(ValueError, match="croupier_waits"):
        Histogram("croupier_waits", "Waits, in seconds.", registry=registry)
