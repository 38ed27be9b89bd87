"""The collection of the reports of all load processes."""

from typing import Any

import pytest

from loadtest.judge.violations import Invariant, Violation
from loadtest.measures import ACKNOWLEDGED, SEEN_BY_ALL, Measures
from loadtest.monitor.monitor import Usage
from loadtest.report.result import ViolationSummary
from loadtest.runner.collector import Collector


def report(
    measures: Measures, *, users: int = 0, tables: int = 0, waiting: int = 0, cpu: float = 0.0
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
