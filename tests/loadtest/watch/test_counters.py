"""What services counted beside what clients counted."""

import pytest

from loadtest.judge.violations import Invariant
from loadtest.report.result import Compared
from loadtest.watch.counted import COUNTED, METHODS, key, rpc_key
from loadtest.watch.counters import await_agreement, compare, differences
from loadtest.watch.scrape import Key
from loadtest.watch.watch import Increases, Watch
from tests.loadtest.watch.fakes import FakeServices, changed, labelled, process

ENGINE = "/croupier_api.v1.EngineService"
ACCEPTED = labelled("croupier_actions_accepted_total", game="solo")
RESULTS = labelled("croupier_scoring_entries_total", kind="result", outcome="new")
TIMEOUTS = labelled("croupier_clock_expiries_total", game="solo")
MATCHES = labelled("croupier_lobby_matches_total", game="solo")
RESUMES = labelled("croupier_resumes_total")
SLOW = labelled("croupier_slow_readers_closed_total")


def calls(method: str, code: str) -> Key:
    return labelled("croupier_rpc_calls_total", method=method, code=code)


def open_calls(method: str) -> Key:
    return labelled("croupier_rpc_open_calls", method=method)


def refused(reason: str) -> Key:
    return labelled("croupier_actions_refused_total", reason=reason)


def rows(
    services: dict[Key, float], clients: dict[str, int], *, whole: bool = True, shared: bool = False
) -> dict[str, Compared]:
    return {row.name: row for row in compare(Increases(services, whole), clients, shared=shared)}


SAME: list[tuple[str, dict[Key, float], str, float]] = [
    ("actions accepted solo", {ACCEPTED: 7}, "unanswered actions solo", 7),
    ("actions refused NOT_YOUR_TURN", {refused("NOT_YOUR_TURN"): 3}, "unanswered actions solo", 3),
    ("timeouts solo", {TIMEOUTS: 4}, "", 4),
    ("tables finished", {RESULTS: 2}, "unheard tables", 2),
    ("quick matches solo", {MATCHES: 2}, "unanswered rpc QuickMatch", 2),
    ("rpc GetView NOT_FOUND", {calls(f"{ENGINE}/GetView", "NOT_FOUND"): 2}, "unanswered rpc GetView", 2),
    ("streams resumed", {RESUMES: 5}, "unheard streams WatchTable", 5),
    ("slow readers", {SLOW: 1}, "unanswered rpc Play", 1),
]


@pytest.mark.parametrize(("name", "services", "unknown", "count"), SAME)
def test_a_figure_is_equal_but_for_what_clients_do_not_know(
    name: str, services: dict[Key, float], unknown: str, count: int
) -> None:
    assert rows(services, {name: count}) == {name: Compared(name, count, count, 0, agrees=True)}
    for clients in (count + 1, count - 1):
        assert not rows(services, {name: clients})[name].agrees
        if unknown:
            assert rows(services, {name: clients, unknown: 1})[name] == Compared(name, count, clients, 1, agrees=True)
            assert not rows(services, {name: clients + (clients - count), unknown: 1})[name].agrees


def test_every_figure_is_among_those() -> None:
    assert {counted.name for counted in COUNTED} - {"streams opened"} == {
        counted.name for counted in COUNTED for name, *_ in SAME if (name + " ").startswith(counted.name + " ")
    }


def test_what_one_side_alone_counted_differs() -> None:
    assert not rows({ACCEPTED: 1}, {})["actions accepted solo"].agrees
    assert not rows({}, {"actions accepted solo": 1})["actions accepted solo"].agrees
    assert rows({ACCEPTED: 0}, {"actions accepted solo": 0}) == {}


def test_streams_that_are_open_count_as_opened() -> None:
    play = f"{ENGINE}/Play"
    services = {calls(play, "OK"): 3.0, calls(play, "CANCELLED"): 1.0, open_calls(play): 2.0}
    compared = rows(services, {"streams opened Play": 6, "rpc Play OK": 3})
    assert set(compared) == {"streams opened Play", "rpc Play OK"}
    assert all(row.agrees for row in compared.values())
    assert not rows(services, {"streams opened Play": 5})["streams opened Play"].agrees
    assert rows(services, {"streams opened Play": 5, "unheard streams Play": 1})["streams opened Play"].agrees


def test_what_clients_have_no_part_in_is_left_out() -> None:
    control = "/croupier_api.v1.EngineControlService/OpenTable"
    repeated = labelled("croupier_scoring_entries_total", kind="result", outcome="repeated")
    a_round = labelled("croupier_scoring_entries_total", kind="round", outcome="new")
    cancelled, unknown = calls(f"{ENGINE}/GetView", "CANCELLED"), calls("unknown", "UNIMPLEMENTED")
    left_out = (calls(control, "OK"), repeated, a_round, cancelled, unknown, refused("UNKNOWN_TABLE"), refused("BUSY"))
    assert rows(dict.fromkeys(left_out, 1.0), {}) == {}


def test_what_is_unknown_of_one_method_or_game_excuses_no_other() -> None:
    services = {calls(f"{ENGINE}/GetView", "OK"): 2.0, calls(f"{ENGINE}/GetReplay", "OK"): 2.0, ACCEPTED: 2.0}
    clients = {"rpc GetView OK": 1, "unanswered rpc GetView": 1, "rpc GetReplay OK": 1, "unanswered actions thulla": 1}
    compared = rows(services, {**clients, "actions accepted solo": 1})
    assert {name: row.agrees for name, row in compared.items()} == {
        "rpc GetView OK": True,
        "rpc GetReplay OK": False,
        "actions accepted solo": False,
    }


@pytest.mark.parametrize(
    ("whole", "shared", "suffix", "agreeing"), [(True, True, "at least", (6, 7)), (False, False, "at most", (7, 8))]
)
def test_services_that_others_use_or_that_were_started_again_are_held_to_one_side(
    whole: bool, shared: bool, suffix: str, agreeing: tuple[int, ...]
) -> None:
    name = f"actions accepted solo, {suffix}"
    for clients in (6, 7, 8):
        compared = rows({ACCEPTED: 7}, {"actions accepted solo": clients}, whole=whole, shared=shared)
        assert compared[name].agrees is (clients in agreeing)
    assert rows({ACCEPTED: 7}, {"actions accepted solo": 1}, whole=False, shared=True) == {}


def test_timeouts_at_tables_that_nobody_heard_to_the_end_are_not_known() -> None:
    clients = {"timeouts solo": 3, "unheard tables": 1}
    assert rows({TIMEOUTS: 900}, clients)["timeouts solo, at least"].agrees
    assert not rows({TIMEOUTS: 2}, clients)["timeouts solo, at least"].agrees


def test_differences_name_both_sides() -> None:
    (violation,) = differences(compare(Increases({ACCEPTED: 7, RESULTS: 1}, True), {"tables finished": 1}))
    assert violation.invariant is Invariant.METRICS_DIFFER
    assert violation.detail == "actions accepted solo: the services counted 7, the clients 0, not knowing of 0"


def test_keys_are_the_names_of_figures() -> None:
    assert key("actions accepted", "solo") == "actions accepted solo"
    assert rpc_key(f"{ENGINE}/Play", "OK") == "rpc Play OK"
    assert rpc_key(f"{ENGINE}/Play", None) == "unanswered rpc Play"
    assert len({method.name for method in METHODS.values()}) == len(METHODS), "no two calls have one key"


def test_what_is_counted_a_moment_later_is_waited_for() -> None:
    services = FakeServices({"scoring": process()})
    watch = Watch({"scoring": "scoring"}, services.clock, services.read)
    watch.sample()

    def sleep(seconds: float) -> None:
        services.sleep(seconds)
        if services.now >= 3:
            services.pages["scoring"] = changed(process(), (RESULTS, 1.0))

    clients = {"tables finished": 1}
    (row,) = await_agreement(watch, clients, within_seconds=2, sleep=sleep)
    assert not row.agrees
    (row,) = await_agreement(watch, clients, within_seconds=2, sleep=sleep)
    assert row.agrees
    assert services.now == 3


def test_where_nothing_can_be_read_nothing_is_compared() -> None:
    services = FakeServices()
    watch = Watch({}, services.clock, services.read)
    assert await_agreement(watch, {"tables finished": 1}, within_seconds=2, sleep=services.sleep) == ()
