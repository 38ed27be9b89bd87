"""The limits of a scenario."""

import pytest

from loadtest.measures import ACKNOWLEDGED, Measures
from loadtest.report.result import Check
from loadtest.runner.collector import Collector
from loadtest.runner.limits import checks
from loadtest.scenarios import Limits

LIMITS = Limits(p99_milliseconds=100, failed_share=0.01, failed_by_code={"INTERNAL": 0}, generator_cpu=0.9)


class Told:
    """A collector that is told something, and what is said of it."""

    def __init__(self) -> None:
        self.collector = Collector()
        self.measures = Measures()
        self.measures.count("calls", 1000)

    def checks(self, *unwell: str) -> dict[str, Check]:
        gauges = {"users": 1, "tables": 1, "waiting": 0, "cpu": 0.5}
        self.collector.receive("0", {"batch": self.measures.take(), "gauges": gauges})
        return {check.name: check for check in checks(LIMITS, self.collector, unwell)}


@pytest.fixture
def told() -> Told:
    told = Told()
    told.measures.took(ACKNOWLEDGED, 0.05)
    return told


def test_what_keeps_all_limits_is_passed(told: Told) -> None:
    assert all(check.passed for check in told.checks().values())


def test_slow_actions_are_not(told: Told) -> None:
    told.measures.took(ACKNOWLEDGED, 0.2)
    assert not told.checks()["99 of 100 actions"].passed


def test_a_run_without_actions_is_not() -> None:
    assert not Told().checks()["99 of 100 actions"].passed


@pytest.mark.parametrize(("failed", "passed"), [(10, True), (11, False)])
def test_so_many_calls_may_fail(told: Told, failed: int, passed: bool) -> None:
    for _ in range(failed):
        told.measures.failed("UNAVAILABLE", "why")
    assert told.checks()["failed calls"].passed is passed


def test_one_failure_of_a_code_may_be_too_many(told: Told) -> None:
    told.measures.failed("INTERNAL", "why")
    checked = told.checks()
    assert checked["failed calls"].passed
    assert not checked["calls failed with INTERNAL"].passed


def test_every_kind_of_action_that_is_done_often_has_to_be_fast(told: Told) -> None:
    for _ in range(999):
        told.measures.took("solo play", 0.2)
    assert told.checks()["99 of 100 actions of each kind"].passed
    told.measures.took("solo play", 0.2)
    slow = told.checks()["99 of 100 actions of each kind"]
    assert (slow.passed, slow.measured.endswith("(solo play)")) == (False, True)


def test_a_generator_that_is_too_busy_is_told(told: Told) -> None:
    told.collector.max_cpu = 0.95
    assert not told.checks()["generator"].passed


def test_faults_of_the_load_test_itself_are_no_failed_calls(told: Told) -> None:
    for name in ("load test: KeyError", "judging"):
        for _ in range(20):
            told.measures.failed(name, "why")
    found = told.checks("swarm 3")
    assert found["failed calls"].passed
    own = found["the load test itself"]
    assert not own.passed
    assert own.measured == "load test: KeyError: why; judging: why; swarm 3 ended early"
