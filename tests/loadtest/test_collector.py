"""The collection of the reports of all load processes, and the checks of a scenario's limits."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from croupier_loadtest.judge.violations import Invariant, Violation
from croupier_loadtest.measures import ACKNOWLEDGED, SEEN_BY_ALL, Measures
from croupier_loadtest.monitor.monitor import Usage
from croupier_loadtest.report.result import ViolationSummary
from croupier_loadtest.runner.collector import Collector, checks
from croupier_loadtest.scenarios import Limits


def report(
    measures: Measures, *, users: int = 0, tables: int = 0, waiting: int = 0, cpu: float = 0.5
) -> dict[str, Any]:
    return {"batch": measures.take(), "gauges": {"users": users, "tables": tables, "waiting": waiting, "cpu": cpu}}


@pytest.fixture
def collector() -> Collector:
    return Collector()


@pytest.fixture
def measures() -> Measures:
    return Measures()


def test_counts_and_gauges_of_all_processes_add_up(collector: Collector, measures: Measures) -> None:
    for process, users, cpu in (("0", 3, 0.2), ("1", 4, 0.4), ("0", 5, 0.2), ("1", 4, 0.8)):
        measures.count("finished solo")
        measures.count("refused TABLE_BUSY", 2)
        collector.receive(process, report(measures, users=users, cpu=cpu))
    assert collector.counted("finished ") == {"solo": 4}
    assert collector.counted("refused ") == {"TABLE_BUSY": 8}
    assert collector.gauge("users") == 9
    collector.begin_draining()
    assert collector.max_cpu == pytest.approx(0.6), "the average of the busiest"


def test_an_interval_has_the_measurements_within_it(collector: Collector, measures: Measures) -> None:
    for actions in (10, 4):
        measures.count("actions", actions)
        measures.record_time(ACKNOWLEDGED, actions / 1000)
        measures.record_failure("acting", "why")
        collector.receive("0", report(measures, tables=actions, cpu=0.25))
        collector.end_interval(2.0, actions, Usage())
    first, second = collector.intervals
    assert (first.actions_per_second, second.actions_per_second) == (5.0, 2.0)
    assert (first.failures, second.failures) == (1, 1)
    assert (first.tables, second.tables) == (10, 4)
    assert second.p99 == pytest.approx(4.0, rel=0.01)
    assert second.generator_cpu == 0.25


def test_measurements_of_the_warm_up_are_discarded(collector: Collector, measures: Measures) -> None:
    for actions, seconds, cpu in ((9, 3.0, 1.0), (4, 0.01, 0.5)):
        collector.end_warm_up()
        measures.count("actions", actions)
        measures.record_time(ACKNOWLEDGED, seconds)
        measures.record_failure("acting", "why")
        collector.receive("0", report(measures, cpu=cpu))
        collector.end_interval(1.0, actions, Usage())
    collector.begin_draining()
    assert [(one.name, one.count) for one in collector.latencies()] == [(ACKNOWLEDGED, 1)]
    assert collector.latencies()[0].maximum == pytest.approx(10, rel=0.01)
    assert collector.counts_under_load["actions"] == 4
    assert [interval.actions_per_second for interval in collector.intervals] == [4.0]
    assert collector.max_cpu == 0.5
    # Counters and failures include the warm-up.
    assert collector.counts["actions"] == 13
    assert collector.failures[0].count == 2


def test_while_draining_only_the_judges_times_are_measured(collector: Collector, measures: Measures) -> None:
    collector.begin_draining()
    measures.record_time(ACKNOWLEDGED, 1.0)
    measures.record_time(SEEN_BY_ALL, 2.0)
    measures.count("actions")
    collector.receive("0", report(measures))
    assert [one.name for one in collector.latencies()] == [SEEN_BY_ALL]
    assert (collector.counts["actions"], collector.counts_under_load["actions"]) == (1, 0)


def test_failures_are_sorted_by_frequency_with_their_first_message(collector: Collector) -> None:
    for name, message in (("rare", "a"), ("often", "b"), ("often", "c")):
        measures = Measures()
        measures.record_failure(name, message)
        collector.receive("0", report(measures))
    assert [(one.name, one.count, one.first) for one in collector.failures] == [("often", 2, "b"), ("rare", 1, "a")]


def test_violations_are_counted_by_invariant_with_the_first_of_each(collector: Collector, measures: Measures) -> None:
    for table in ("t1", "t2"):
        measures.record_violations([Violation(Invariant.DEAL_UNFAIR, table, 7, "why")], "replay")
        collector.receive("0", report(measures))
    collector.add_violation(Violation(Invariant.METRICS_DIFFER, "", 0, "three, not two"))
    assert collector.violations == (
        ViolationSummary("deal_unfair", 2, "t1", 7, "why"),
        ViolationSummary("metrics_differ", 1, "", 0, "three, not two"),
    )
    assert collector.replays == {"deal_unfair": "replay", "metrics_differ": ""}


def test_a_table_of_several_processes_has_one_outcome(collector: Collector, measures: Measures) -> None:
    reports = (("0", "t1", "Ada", {"finished": 1}), ("1", "t1", "Ben", None), ("1", "t2", "Ben", None))
    for process, table, player, outcome in reports:
        measures.judged.append({"table_id": table, "game": "solo", "players": [player], "outcome": outcome})
        collector.receive(process, report(measures))
    assert [(table["table_id"], table["players"]) for table in collector.judged] == [
        ("t1", ["Ada", "Ben"]),
        ("t2", ["Ben"]),
    ]
    assert [table["table_id"] for table in collector.outcomes] == ["t1"]
    assert collector.processes == {"0", "1"}


def test_the_work_that_is_left_while_the_run_drains(collector: Collector, measures: Measures) -> None:
    measures.count("tables judged", 3)
    collector.receive("0", report(measures, tables=4, waiting=2))
    assert collector.left() == "4 tables are played, 2 wait for the judge, 3 are judged"


LIMITS = Limits(p99_milliseconds=100, failed_share=0.01, failed_by_code={"INTERNAL": 0}, generator_cpu=0.9)
LATENCY, OF_A_KIND = "99 of 100 actions", "99 of 100 actions of each kind"
FAILED, INTERNAL = "failed calls", "calls failed with INTERNAL"
QUICK = [(ACKNOWLEDGED, 0.05)]


def broken_limits(
    limits: Limits, collector: Collector, attacks: Sequence[str] = (), failed_processes: Sequence[str] = ()
) -> dict[str, str]:
    collector.begin_draining()
    found = checks(limits, collector, attacks, failed_processes)
    return {check.name: check.measured for check in found if not check.passed}


def not_kept(
    took: Sequence[tuple[str, float]],
    failed: Sequence[str] = (),
    cpu: float = 0.5,
    failed_processes: Sequence[str] = (),
    broken: int = 0,
) -> dict[str, str]:
    """Return the limits of a run of a thousand calls that were not kept, with the measured values."""
    collector, measures = Collector(), Measures()
    measures.count("calls", 1000 + broken)
    measures.count("calls broken PlayTable", broken)
    measures.count("actions accepted solo", len(took))
    for name, seconds in took:
        measures.record_time(name, seconds)
    for name in failed:
        measures.record_failure(name, "why")
    collector.receive("0", report(measures, cpu=cpu))
    return broken_limits(LIMITS, collector, (), failed_processes)


@pytest.mark.parametrize(
    ("took", "failed", "cpu", "broken"),
    [
        (QUICK, [], 0.9, []),
        ([*QUICK, (ACKNOWLEDGED, 0.2)], [], 0.5, [LATENCY]),
        ([], [], 0.5, [LATENCY]),
        ([*QUICK, *[("solo play", 0.2)] * 999], [], 0.5, []),
        ([*QUICK, *[("solo play", 0.2)] * 1000], [], 0.5, [OF_A_KIND]),
        (QUICK, ["UNAVAILABLE"] * 10, 0.5, []),
        (QUICK, ["UNAVAILABLE"] * 11, 0.5, [FAILED]),
        (QUICK, ["INTERNAL"], 0.5, [INTERNAL]),
        (QUICK, [], 0.95, ["generator"]),
        (QUICK, ["load test: KeyError"] * 20 + ["judging"] * 20, 0.5, ["the load test itself"]),
    ],
    ids=[
        *("all limits are kept", "slow actions", "no actions", "a rare kind", "a slow kind"),
        *("few failures", "many failures", "one of a code", "a busy generator", "failures of the load test itself"),
    ],
)
def test_a_limit_that_is_not_kept_is_named(
    took: list[tuple[str, float]], failed: list[str], cpu: float, broken: list[str]
) -> None:
    assert list(not_kept(took, failed, cpu)) == broken


@pytest.mark.parametrize(
    ("counts", "unjudged"),
    [
        ({"finished solo": 3, "tables verified": 3}, {}),
        ({"finished solo": 3, "tables verified": 3, "rules not judged of toy": 2, "finished toy": 5}, {"toy": 5}),
        ({"finished solo": 3, "tables verified": 3, "rules not judged of toy": 1}, {"toy": 0}),
        ({"finished solo": 3, "finished toy": 1}, {"solo": 3, "toy": 1}),
    ],
    ids=["judged", "a game without a judge", "one that was not finished", "nothing is judged"],
)
def test_a_run_does_not_pass_with_rules_that_were_not_judged(
    counts: Mapping[str, int], unjudged: Mapping[str, int]
) -> None:
    collector, measures = Collector(), Measures()
    measures.record_time(*QUICK[0])
    for name, times in counts.items():
        measures.count(name, times)
    collector.receive("0", report(measures))
    expected = {f"rules not judged of {game}": f"{tables} tables" for game, tables in unjudged.items()}
    assert broken_limits(LIMITS, collector) == expected


PLAYERS_REFUSED, SLOWED = "calls of players refused by a limit", "99 of 100 actions under attack"
REFUSED_ATTACK = "attack replays from one network: player_calls"


@pytest.mark.parametrize(
    ("calm", "under_attack", "counts", "broken"),
    [
        (0.01, 0.015, [REFUSED_ATTACK, "refused TABLE_FULL"], {}),
        (0.01, 0.03, [REFUSED_ATTACK], {SLOWED: "30.0 ms"}),
        (0.01, 0.01, [REFUSED_ATTACK, "refused TOO_MANY_STREAMS"], {PLAYERS_REFUSED: "TOO_MANY_STREAMS 1"}),
        (0.01, 0.01, ["attack replays from one network: OK"], {"attack replays from one network": "OK 1"}),
        (0.01, 0.01, [REFUSED_ATTACK, "attack replays from many networks: OK"], {}),
        (0.01, 0.01, [], {"attack replays from one network": "no call"}),
    ],
    ids=["kept", "players wait", "players are refused", "an attack reached no limit", "many networks", "no attack"],
)
def test_attacks_are_limited_and_players_are_not(
    calm: float, under_attack: float, counts: Sequence[str], broken: Mapping[str, str]
) -> None:
    collector, measures = Collector(), Measures()
    measures.record_time(ACKNOWLEDGED, calm)
    collector.receive("0", report(measures))
    collector.end_calm()
    measures.record_time(ACKNOWLEDGED, under_attack)
    for name in counts:
        measures.count(name)
    collector.receive("0", report(measures))
    assert broken_limits(Limits(1000, failed_share=0.01, attacked_to_calm=2), collector, ["replays"]) == broken


def test_a_failed_check_has_the_measured_value_and_calls_that_the_load_test_broke_are_no_calls() -> None:
    assert not not_kept(QUICK, ["UNAVAILABLE"] * 10, broken=5000)
    assert not_kept(QUICK, ["UNAVAILABLE"] * 11, broken=5000) == {FAILED: "1.100% (11)"}
    slow = not_kept([*QUICK, *[("solo play", 0.2)] * 1000])
    assert slow[OF_A_KIND].endswith("ms (solo play)")
    own = not_kept(QUICK, ["load test: KeyError", "judging"], failed_processes=["worker 3"])
    assert own == {
        "the load test itself": "load test: KeyError: why; judging: why; worker 3 ended early, and its counts are lost"
    }
