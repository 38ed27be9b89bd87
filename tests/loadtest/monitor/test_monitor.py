"""The monitor: resources, counters over restarts, and instances that cannot be read."""

import pytest

from loadtest.monitor.monitor import ServiceMonitor, Usage
from tests.loadtest.monitor.fakes import FakeServices, labelled, process

MOVES = labelled("moves_total", game="thulla")
OPEN_CALLS = labelled("croupier_rpc_open_calls", method="PlayTable")


def monitor_of(services: FakeServices) -> ServiceMonitor:
    return ServiceMonitor({name: name for name in services.pages}, services.clock, services.read)


def monitor_of_one_sample(services: FakeServices) -> ServiceMonitor:
    """Return another monitor, whose first sample is of now."""
    monitor = monitor_of(services)
    monitor.sample()
    return monitor


def after(monitor: ServiceMonitor, services: FakeServices, seconds: float) -> None:
    services.now += seconds
    monitor.sample()


def test_usage_is_the_sum_of_all_instances() -> None:
    services = FakeServices({"engine": process(2, 1000, 10), "lobby": process(7, 500, 20)})
    monitor = monitor_of(services)
    monitor.sample()
    assert monitor.usage() == Usage(0, 1500)
    in_memory = labelled("croupier_tables_in_memory", game="solo", phase="bidding")
    forming, playing = (labelled("croupier_lobby_tables", game="solo", state=state) for state in ("FORMING", "PLAYING"))
    services.pages["engine"] = {**process(6, 2000, 12), in_memory: 3.0, OPEN_CALLS: 2.0}
    services.pages["lobby"] = {**process(8, 600, 20), forming: 9.0, playing: 4.0, OPEN_CALLS: 5.0}
    after(monitor, services, 5)
    assert monitor.usage() == Usage(1.0, 2600)
    engine, lobby = monitor.usages()
    assert not monitor.had_tables
    assert monitor_of_one_sample(services).had_tables
    assert (engine.instance, engine.cpu_seconds, engine.files_first, engine.files_last) == ("engine", 4, 10, 12)
    assert (engine.memory_first_bytes, engine.memory_last_bytes) == (2000, 2000)
    assert [(one.streams_last, one.tables_last) for one in (engine, lobby)] == [(2, 3), (5, 4)]


def test_increases_begin_at_the_first_sample() -> None:
    services = FakeServices({"one": {**process(), MOVES: 10.0, OPEN_CALLS: 3.0}, "two": process()})
    monitor = monitor_of(services)
    monitor.sample()
    services.pages = {
        "one": {**process(), MOVES: 14.0, OPEN_CALLS: 1.0},
        "two": {**process(), MOVES: 5.0},
    }
    after(monitor, services, 5)
    increases = monitor.increases()
    assert increases.is_whole
    assert increases.samples[MOVES] == 4 + 5
    assert increases.samples[OPEN_CALLS] == -2


@pytest.mark.parametrize(("started", "value", "cpu"), [(2000.0, 12.0, 8.0), (1000.0, 2.0, 0.5)])
def test_counts_before_a_restart_are_kept(started: float, value: float, cpu: float) -> None:
    """A restart is detected by the start time, or by a counter that went down."""
    services = FakeServices({"one": {**process(cpu=5), MOVES: 10.0}})
    monitor = monitor_of(services)
    monitor.sample()
    services.pages["one"] = {**process(cpu=6), MOVES: 11.0}
    after(monitor, services, 5)
    services.pages["one"] = {**process(cpu=cpu, started=started), MOVES: value}
    after(monitor, services, 5)
    assert monitor.increases().samples[MOVES] == 1 + value
    assert not monitor.increases().is_whole
    assert monitor.histories["one"][-1].restarts == 1
    assert monitor.usages()[0].cpu_seconds == 1 + cpu


def test_an_unavailable_instance_does_not_affect_others() -> None:
    services = FakeServices({"away": process(), "there": process(1, 100, 10)})
    monitor = monitor_of(services)
    del services.pages["away"]
    monitor.sample()
    assert [usage.instance for usage in monitor.usages()] == ["there"]
    assert not monitor.check().passed
    assert monitor.check().measured == "away: away is unavailable"
    services.pages["away"] = process()
    after(monitor, services, 5)
    assert not monitor.increases().is_whole, "its earlier counts are unknown"
    assert not monitor.check().passed


def test_an_instance_that_was_unavailable_in_between_is_whole_again() -> None:
    services = FakeServices({"one": {**process(), MOVES: 1.0}})
    monitor = monitor_of(services)
    monitor.sample()
    page = services.pages.pop("one")
    after(monitor, services, 5)
    assert not monitor.increases().is_whole
    services.pages["one"] = {**page, MOVES: 4.0}
    after(monitor, services, 5)
    assert monitor.increases().is_whole
    assert monitor.increases().samples[MOVES] == 3
    assert monitor.check().passed
