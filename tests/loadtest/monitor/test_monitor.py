"""The monitor: scrapes, resources, counters over restarts, instances that cannot be read, and growth."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from croupier_loadtest.monitor import monitor
from croupier_loadtest.monitor.growth import SPARE_FILES, Reading, growth_checks, settled_reading
from croupier_loadtest.monitor.monitor import FailedScrape, Scrape, ServiceMonitor, Usage, samples_of, scrape
from tests.loadtest.monitor.fakes import FakeServices, labelled, process
from tests.ports import reserved_port

MOVES = labelled("moves_total", game="thulla")
OPEN_CALLS = labelled("croupier_rpc_open_calls", method="PlayTable")


def sampling(services: FakeServices, *away: str) -> ServiceMonitor:
    """Return a monitor whose first sample is of now, also of instances that are away."""
    monitor = ServiceMonitor({name: name for name in (*services.pages, *away)}, services.clock, services.read)
    monitor.sample()
    return monitor


def after(monitor: ServiceMonitor, services: FakeServices, seconds: float) -> None:
    services.now += seconds
    monitor.sample()


def test_usage_is_the_sum_of_all_instances() -> None:
    services = FakeServices({"engine": process(2, 1000, 10), "lobby": process(7, 500, 20)})
    monitor = sampling(services)
    assert monitor.usage() == Usage(0, 1500)
    in_memory = labelled("croupier_tables_in_memory", game="solo", phase="bidding")
    forming, playing = (labelled("croupier_lobby_tables", game="solo", state=state) for state in ("FORMING", "PLAYING"))
    services.pages["engine"] = {**process(6, 2000, 12), in_memory: 3.0, OPEN_CALLS: 2.0}
    services.pages["lobby"] = {**process(8, 600, 20), forming: 9.0, playing: 4.0, OPEN_CALLS: 5.0}
    after(monitor, services, 5)
    assert monitor.usage() == Usage(1.0, 2600)
    engine, lobby = monitor.usages()
    assert not monitor.had_tables
    assert sampling(services).had_tables
    assert (engine.instance, engine.cpu_seconds, engine.files_first, engine.files_last) == ("engine", 4, 10, 12)
    assert (engine.memory_first_bytes, engine.memory_last_bytes) == (2000, 2000)
    assert [(one.streams_last, one.tables_last) for one in (engine, lobby)] == [(2, 3), (5, 4)]


def test_increases_begin_at_the_first_sample() -> None:
    services = FakeServices({"one": {**process(), MOVES: 10.0, OPEN_CALLS: 3.0}, "two": process()})
    monitor = sampling(services)
    services.pages = {"one": {**process(), MOVES: 14.0, OPEN_CALLS: 1.0}, "two": {**process(), MOVES: 5.0}}
    after(monitor, services, 5)
    increases = monitor.increases()
    assert increases.is_whole
    assert increases.samples[MOVES] == 4 + 5
    assert increases.samples[OPEN_CALLS] == -2


@pytest.mark.parametrize(("started", "value", "cpu"), [(2000.0, 12.0, 8.0), (1000.0, 2.0, 0.5)])
def test_counts_before_a_restart_are_kept(started: float, value: float, cpu: float) -> None:
    """A restart is detected by the start time, or by a counter that went down."""
    services = FakeServices({"one": {**process(cpu=5), MOVES: 10.0}})
    monitor = sampling(services)
    services.pages["one"] = {**process(cpu=6), MOVES: 11.0}
    after(monitor, services, 5)
    services.pages["one"] = {**process(cpu=cpu, started=started), MOVES: value}
    after(monitor, services, 5)
    assert monitor.increases().samples[MOVES] == 1 + value
    assert not monitor.increases().is_whole
    assert monitor.histories["one"][-1].restarts == 1
    assert monitor.usages()[0].cpu_seconds == 1 + cpu


def test_an_unavailable_instance_does_not_affect_others() -> None:
    services = FakeServices({"there": process(1, 100, 10)})
    monitor = sampling(services, "away")
    assert [usage.instance for usage in monitor.usages()] == ["there"]
    assert not monitor.check().passed
    assert monitor.check().measured == "away: away is unavailable"
    services.pages["away"] = process()
    after(monitor, services, 5)
    assert not monitor.increases().is_whole, "its earlier counts are unknown"
    assert not monitor.check().passed


def test_an_instance_that_was_unavailable_in_between_is_whole_again() -> None:
    services = FakeServices({"one": {**process(), MOVES: 1.0}})
    monitor = sampling(services)
    page = services.pages.pop("one")
    after(monitor, services, 5)
    assert not monitor.increases().is_whole
    services.pages["one"] = {**page, MOVES: 4.0}
    after(monitor, services, 5)
    assert monitor.increases().is_whole
    assert monitor.increases().samples[MOVES] == 3
    assert monitor.check().passed


def history(*memory: int, apart: float = 60.0) -> list[Reading]:
    """Return readings of a service with these megabytes of memory."""
    return [Reading(number * apart, 0.0, used * 1_000_000, 30, 0, 0) for number, used in enumerate(memory)]


HOUR = history(*range(60))
SETTLING = (50, 80, 95, 98, 99, 100, 105, 109)
FIRST, SECOND = history(10, 10)


def test_a_service_is_settled_after_five_minutes_or_a_fifth_of_a_shorter_run() -> None:
    later = [reading._replace(seconds=reading.seconds + 1000) for reading in HOUR]
    settled = [settled_reading(readings).seconds for readings in (HOUR, HOUR[:11], HOUR[:1], later)]
    assert settled == [300, 120, 0, 1300]


@pytest.mark.parametrize(
    ("readings", "failed"),
    [
        (history(*SETTLING, *[110] * 20), []),
        (history(*SETTLING, *[111] * 20), ["memory"]),
        (history(100, 100, 100, 50), []),
        (history(0, 0, 0), ["memory"]),
        ([], ["readings"]),
        (history(1), ["readings"]),
        ([FIRST, SECOND._replace(files=500, streams=200, tables=100), *history(10, 10, 10)[2:]], []),
        ([FIRST, SECOND._replace(files=FIRST.files + SPARE_FILES)], []),
        ([FIRST, SECOND._replace(files=FIRST.files + SPARE_FILES + 1)], ["files"]),
        ([FIRST, SECOND._replace(streams=1)], ["streams"]),
        ([FIRST, SECOND._replace(tables=1)], ["tables"]),
        ([FIRST, SECOND._replace(restarts=1)], ["restarts"]),
    ],
)
def test_a_service_may_grow_until_it_is_settled_and_by_a_tenth_later(
    readings: list[Reading], failed: list[str]
) -> None:
    checks = growth_checks({"engine": readings})
    assert [check.name for check in checks if not check.passed] == [f"engine {name}" for name in failed]


def test_a_check_has_the_limit_and_the_measured_value() -> None:
    checks = growth_checks({"engine": [Reading(0, 0, 100 * 2**20, 5, 0, 0), Reading(9, 0, 120 * 2**20, 5, 1, 0)]})
    by_name = {check.name: (check.limit, check.measured) for check in checks}
    assert by_name["engine streams"] == ("at most 0", "1")
    assert by_name["engine memory"][1] == "120.0 MiB"


@contextmanager
def answering(response: str | None) -> Iterator[str]:
    """Run a server of one connection that sends this, or for None nothing until the client closes."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1024)
                connection.sendall((response or "").encode())
                if response is None:
                    connection.recv(1024)

        thread = Thread(target=serve, daemon=True)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        thread.join(5)


def test_counters_and_gauges_are_read_by_name_and_labels() -> None:
    registry = CollectorRegistry()
    moves = Counter("moves", "Moves.", ["game", "by"], registry=registry)
    moves.labels("thulla", "anna").inc(3)
    moves.labels("solo", "ben").inc(2)
    Gauge("tables", "Tables.", registry=registry).set(7)
    Histogram("seconds", "Not kept.", registry=registry).observe(1)
    with answering(f"HTTP/1.0 200 OK\r\n\r\n{generate_latest(registry).decode()}") as address:
        read = scrape(address, 12.5)
    assert isinstance(read, Scrape)
    assert read.seconds == 12.5
    assert read.samples["moves_total", (("by", "anna"), ("game", "thulla"))] == 3
    assert (read.total("moves_total"), read.total("tables"), read.total("unknown")) == (5, 7, 0)
    assert not [name for name, _ in read.samples if name.startswith("seconds") or name.endswith("_created")]


def test_the_order_of_labels_has_no_effect() -> None:
    page = "# TYPE moves_total counter\nmoves_total{{{}}} 3\n"
    one, other = page.format('a="1",b="2"'), page.format('b="2",a="1"')
    assert dict(samples_of(one)) == dict(samples_of(other)) == {("moves_total", (("a", "1"), ("b", "2"))): 3}


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        ("HTTP/1.0 404 Not Found\r\n\r\nno", "404 Not Found"),
        ("HTTP/1.0 200 OK\r\n\r\n{ invalid }", ""),
        ("hello", ""),
        ("", ""),
        (None, "timed out"),
    ],
)
def test_an_invalid_page_is_a_failed_scrape(response: str | None, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(monitor, "READ_SECONDS", 0.1 if response is None else 60)
    with answering(response) as address:
        read = scrape(address, 0)
    assert isinstance(read, FailedScrape)
    assert address in read.reason
    assert reason in read.reason


def test_an_unreachable_address_is_a_failed_scrape() -> None:
    with reserved_port() as port:
        for address in (f"127.0.0.1:{port}", "nonsense:port"):
            read = scrape(address, 0)
            assert isinstance(read, FailedScrape)
            assert address in read.reason
