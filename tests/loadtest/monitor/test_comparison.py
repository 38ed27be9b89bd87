"""The comparison of services' counters with clients' counts."""

import pytest

from croupier_loadtest.judge.violations import Invariant
from croupier_loadtest.monitor.comparison import await_agreement, compare, differences
from croupier_loadtest.monitor.counters import COMPARED_COUNTERS, METHODS, rpc_key
from croupier_loadtest.monitor.monitor import Increases, Key, ServiceMonitor
from croupier_loadtest.report.result import CounterComparison
from tests.loadtest.monitor.fakes import FakeServices, labelled, process

ENGINE = "/croupier_api.v1.EngineService"
ACCEPTED = labelled("croupier_actions_accepted_total", game="solo")
RESULTS = labelled("croupier_scoring_entries_total", kind="result", outcome="new")
TIMEOUTS = labelled("croupier_clock_expiries_total", game="solo")
MATCHES = labelled("croupier_lobby_matches_total", game="solo")
RESUMES = labelled("croupier_resumes_total")
LIMITED = labelled("croupier_refusals_total", limit="streams")
SLOW = labelled("croupier_slow_readers_closed_total")


def calls(method: str, code: str) -> Key:
    return labelled("croupier_rpc_calls_total", method=method, code=code)


def refused(reason: str) -> Key:
    return labelled("croupier_actions_refused_total", reason=reason)


def rows(
    services: dict[Key, float], clients: dict[str, int], *, whole: bool = True, shared: bool = False
) -> dict[str, CounterComparison]:
    return {row.name: row for row in compare(Increases(services, whole), clients, shared=shared)}


SAME: list[tuple[str, dict[Key, float], str, float]] = [
    ("actions accepted solo", {ACCEPTED: 7}, "unanswered actions solo", 7),
    ("actions refused NOT_YOUR_TURN", {refused("NOT_YOUR_TURN"): 3}, "unanswered actions solo", 3),
    ("timeouts solo", {TIMEOUTS: 4}, "", 4),
    ("tables finished", {RESULTS: 2}, "unobserved tables", 2),
    ("quick matches solo", {MATCHES: 2}, "unanswered rpc FindMatch", 2),
    ("rpc GetView NOT_FOUND", {calls(f"{ENGINE}/GetView", "NOT_FOUND"): 2}, "unanswered rpc GetView", 2),
    ("streams resumed", {RESUMES: 5}, "silent streams WatchTable", 5),
    ("limited streams", {LIMITED: 3}, "unanswered rpc PlayTable", 3),
    ("slow readers", {SLOW: 1}, "unanswered rpc PlayTable", 1),
]


@pytest.mark.parametrize(("name", "services", "unknown", "count"), SAME)
def test_a_counter_agrees_within_the_slack(name: str, services: dict[Key, float], unknown: str, count: int) -> None:
    assert rows(services, {name: count}) == {name: CounterComparison(name, count, count, 0, agrees=True)}
    for clients in (count + 1, count - 1):
        assert not rows(services, {name: clients})[name].agrees
        if unknown:
            assert rows(services, {name: clients, unknown: 1})[name] == CounterComparison(
                name, count, clients, 1, agrees=True
            )
            assert not rows(services, {name: clients + (clients - count), unknown: 1})[name].agrees


def test_every_counter_is_tested() -> None:
    assert {counted.name for counted in COMPARED_COUNTERS} - {"streams opened"} == {
        counted.name
        for counted in COMPARED_COUNTERS
        for name, *_ in SAME
        if (name + " ").startswith(counted.name + " ")
    }


CONTROL = "/croupier_internal.v1.EngineControlService/OpenTable"
NOT_COMPARED: dict[Key, float] = {
    calls(CONTROL, "OK"): 1,
    labelled("croupier_scoring_entries_total", kind="result", outcome="repeated"): 1,
    labelled("croupier_scoring_entries_total", kind="round", outcome="new"): 1,
    calls(f"{ENGINE}/GetView", "CANCELLED"): 1,
    calls("unknown", "UNIMPLEMENTED"): 1,
    refused("UNKNOWN_TABLE"): 1,
    refused("TABLE_BUSY"): 1,
}
STREAMS = {
    calls(f"{ENGINE}/PlayTable", "CANCELLED"): 1.0,
    labelled("croupier_rpc_open_calls", method=f"{ENGINE}/PlayTable"): 2.0,
}
GOT = {calls(f"{ENGINE}/GetView", "OK"): 2.0}


@pytest.mark.parametrize(
    ("services", "clients", "agrees"),
    [
        ({ACCEPTED: 1}, {}, {"actions accepted solo": False}),
        ({}, {"actions accepted solo": 1}, {"actions accepted solo": False}),
        ({ACCEPTED: 0}, {"actions accepted solo": 0}, {}),
        (NOT_COMPARED, {}, {}),
        (STREAMS, {"streams opened PlayTable": 3}, {"streams opened PlayTable": True}),
        (STREAMS, {"streams opened PlayTable": 2}, {"streams opened PlayTable": False}),
        (STREAMS, {"streams opened PlayTable": 2, "silent streams PlayTable": 1}, {"streams opened PlayTable": True}),
        (GOT, {"rpc GetView OK": 1, "unanswered rpc GetView": 1}, {"rpc GetView OK": True}),
        (GOT, {"rpc GetView OK": 1, "unanswered rpc GetReplay": 1}, {"rpc GetView OK": False}),
        ({ACCEPTED: 2}, {"unanswered actions thulla": 2}, {"actions accepted solo": False}),
        ({TIMEOUTS: 900}, {"timeouts solo": 3, "unobserved tables": 1}, {"timeouts solo, at least": True}),
        ({TIMEOUTS: 2}, {"timeouts solo": 3, "unobserved tables": 1}, {"timeouts solo, at least": False}),
    ],
    ids=[
        *("only services counted", "only clients counted", "nothing was counted", "not compared"),
        *("open streams count as opened", "a stream too few", "a silent stream"),
        *("a call without an answer", "another call without an answer", "an action of another game without an answer"),
        *("more timeouts at unobserved tables", "fewer timeouts at unobserved tables"),
    ],
)
def test_counters_agree_or_differ(services: dict[Key, float], clients: dict[str, int], agrees: dict[str, bool]) -> None:
    assert {name: row.agrees for name, row in rows(services, clients).items()} == agrees


@pytest.mark.parametrize(
    ("whole", "shared", "suffix", "agreeing"), [(True, True, "at least", (6, 7)), (False, False, "at most", (7, 8))]
)
def test_shared_and_restarted_services_have_one_bound(
    whole: bool, shared: bool, suffix: str, agreeing: tuple[int, ...]
) -> None:
    name = f"actions accepted solo, {suffix}"
    for clients in (6, 7, 8):
        compared = rows({ACCEPTED: 7}, {"actions accepted solo": clients}, whole=whole, shared=shared)
        assert compared[name].agrees is (clients in agreeing)
    assert rows({ACCEPTED: 7}, {"actions accepted solo": 1}, whole=False, shared=True) == {}


def test_differences_name_both_sides() -> None:
    (violation,) = differences(compare(Increases({ACCEPTED: 7, RESULTS: 1}, True), {"tables finished": 1}))
    assert violation.invariant is Invariant.METRICS_DIFFER
    assert violation.detail == "actions accepted solo: the services counted 7, the clients 0, with 0 unknown"


def test_the_key_of_a_call_has_its_method_and_code() -> None:
    assert rpc_key(f"{ENGINE}/PlayTable", "OK") == "rpc PlayTable OK"
    assert rpc_key(f"{ENGINE}/PlayTable", None) == "unanswered rpc PlayTable"
    assert len({method.name for method in METHODS.values()}) == len(METHODS), "no two calls have one key"


def test_late_counts_are_awaited() -> None:
    services = FakeServices({"scoring": process()})
    monitor = ServiceMonitor({"scoring": "scoring"}, services.clock, services.read)
    monitor.sample()

    def sleep(seconds: float) -> None:
        services.sleep(seconds)
        if services.now >= 3:
            services.pages["scoring"] = {**process(), RESULTS: 1.0}

    clients = {"tables finished": 1}
    (row,) = await_agreement(monitor, clients, within_seconds=2, sleep=sleep)
    assert not row.agrees
    (row,) = await_agreement(monitor, clients, within_seconds=2, sleep=sleep)
    assert row.agrees
    assert services.now == 3


def test_without_instances_nothing_is_compared() -> None:
    services = FakeServices()
    monitor = ServiceMonitor({}, services.clock, services.read)
    assert await_agreement(monitor, {"tables finished": 1}, within_seconds=2, sleep=services.sleep) == ()
