"""The metrics page of a process."""

import gc
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path

from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from croupier.runtime.observation.metrics import RpcMetrics, serve_metrics

OPENED, OTHERS = 200, 50
SECONDS = 60.0


def read(address: str) -> dict[str, float]:
    """Return the samples without labels."""
    connection = HTTPConnection(address, timeout=SECONDS)
    connection.request("GET", "/metrics")
    page = connection.getresponse().read().decode()
    connection.close()
    families = text_string_to_metric_families(page)
    return {sample.name: sample.value for family in families for sample in family.samples if not sample.labels}


def test_all_addresses_of_ipv6_are_those_of_ipv4_too() -> None:
    server, address = serve_metrics(CollectorRegistry(), "[::]:0")
    try:
        port = address.removeprefix("[::]:")
        assert all("process_open_fds" in read(f"{host}:{port}") for host in ("[::1]", "127.0.0.1"))
    finally:
        server.shutdown()
        server.server_close()


def test_the_page_has_the_resources_of_the_process(tmp_path: Path) -> None:
    registry = CollectorRegistry()
    RpcMetrics(registry)
    server, address = serve_metrics(registry, "127.0.0.1:0")
    # Files and connections of earlier tests would otherwise be closed meanwhile.
    gc.collect()
    try:
        before = read(address)
        with ExitStack() as files:
            for number in range(OPENED):
                files.enter_context((tmp_path / str(number)).open("w"))
            opened = read(address)["process_open_fds"] - before["process_open_fds"]
    finally:
        server.shutdown()
        server.server_close()
    assert before["process_cpu_seconds_total"] > 0
    assert before["process_resident_memory_bytes"] > 10 * 1024 * 1024
    # Connections to the page, and those that servers of earlier tests still close, may be closed meanwhile.
    assert abs(opened - OPENED) < OTHERS
