"""What a watch makes of readings: use, counts over restarts, and instances that cannot be read."""

import pytest

from loadtest.watch.watch import Use, Watch
from tests.loadtest.watch.fakes import FakeServices, labelled, process

MOVES = labelled("moves_total", game="thulla")
OPEN_CALLS = labelled("croupier_rpc_open_calls", method="Play")


def watched(services: FakeServices) -> Watch:
    return Watch({name: name for name in services.pages}, services.clock, services.read)


def after(watch: Watch, services: FakeServices, seconds: float) -> None:
    services.now += seconds
    watch.sample()


def test_use_is_that_of_all_instances() -> None:
    services = FakeServices({"engine": process(2, 1000, 10), "lobby": process(7, 500, 20)})
    watch = watched(services)
    watch.sample()
    assert watch.use() == Use(0, 1500)
    in_memory = labelled("croupier_tables_in_memory", game="solo", phase="bidding")
    forming, playing = (labelled("croupier_lobby_tables", game="solo", state=state) for state in ("FORMING", "PLAYING"))
    services.pages["engine"] = {**process(6, 2000, 12), in_memory: 3.0, OPEN_CALLS: 2.0}
    services.pages["lobby"] = {**process(8, 600, 20), forming: 9.0, playing: 4.0, OPEN_CALLS: 5.0}
    after(watch, services, 5)
    assert watch.use() == Use(1.0, 2600)
    engine, lobby = watch.uses()
    assert (engine.instance, engine.cpu_seconds, engine.files_first, engine.files_last) == ("engine", 4, 10, 12)
    assert (engine.memory_first_bytes, engine.memory_last_bytes) == (2000, 2000)
    assert [(one.streams_last, one.tables_last) for one in (engine, lobby)] == [(2, 3), (5, 4)]


def test_counters_go_up_from_the_first_sample_on() -> None:
    services = FakeServices({"one": {**process(), MOVES: 10.0, OPEN_CALLS: 3.0}, "two": process()})
    watch = watched(services)
    watch.sample()
    services.pages = {
        "one": {**process(), MOVES: 14.0, OPEN_CALLS: 1.0},
        "two": {**process(), MOVES: 5.0},
    }
    after(watch, services, 5)
    increases = watch.increases()
    assert increases.is_whole
    assert increases.samples[MOVES] == 4 + 5
    assert increases.samples[OPEN_CALLS] == -2


@pytest.mark.parametrize(("started", "value", "cpu"), [(2000.0, 12.0, 8.0), (1000.0, 2.0, 0.5)])
def test_what_an_instance_counted_before_it_was_started_again_stays(started: float, value: float, cpu: float) -> None:
    """Told by the time of its start, or where it does not tell that by a counter that went down."""
    services = FakeServices({"one": {**process(cpu=5), MOVES: 10.0}})
    watch = watched(services)
    watch.sample()
    services.pages["one"] = {**process(cpu=6), MOVES: 11.0}
    after(watch, services, 5)
    services.pages["one"] = {**process(cpu=cpu, started=started), MOVES: value}
    after(watch, services, 5)
    assert watch.increases().samples[MOVES] == 1 + value
    assert not watch.increases().is_whole
    assert watch.histories["one"][-1].restarts == 1
    assert watch.uses()[0].cpu_seconds == 1 + cpu


def test_an_instance_that_cannot_be_read_holds_up_no_other() -> None:
    services = FakeServices({"away": process(), "there": process(1, 100, 10)})
    watch = watched(services)
    del services.pages["away"]
    watch.sample()
    assert [use.instance for use in watch.uses()] == ["there"]
    assert not watch.check().passed
    assert watch.check().measured == "away: away is away"
    services.pages["away"] = process()
    after(watch, services, 5)
    assert not watch.increases().is_whole, "nobody knows what it counted before"
    assert not watch.check().passed


def test_an_instance_that_was_away_in_between_is_whole_again() -> None:
    services = FakeServices({"one": {**process(), MOVES: 1.0}})
    watch = watched(services)
    watch.sample()
    page = services.pages.pop("one")
    after(watch, services, 5)
    assert not watch.increases().is_whole
    services.pages["one"] = {**page, MOVES: 4.0}
    after(watch, services, 5)
    assert watch.increases().is_whole
    assert watch.increases().samples[MOVES] == 3
    assert watch.check().passed
