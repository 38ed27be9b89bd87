"""The metrics page of a process."""

import urllib.request

from prometheus_client import CollectorRegistry

from croupier.runtime.observation.metrics import serve_metrics
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
