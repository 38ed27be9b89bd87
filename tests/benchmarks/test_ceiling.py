"""The search for the highest load, with made-up measurements and without services."""

from dataclasses import replace

import pytest

from benchmarks.ceiling import ceiling, is_good, search
from croupier_loadtest.report.result import Result, ViolationSummary
from tests.loadtest.report.sample import LATENCIES, PASSED

LIMIT = 100.0
BROKEN = ViolationSummary("deal_unfair", 2, "t", 3, "why")


def step_result(
    tables: int, p99: float = 10.0, bottleneck: str = "", violations: tuple[ViolationSummary, ...] = ()
) -> Result:
    return replace(
        PASSED,
        tables_opened=tables,
        actions_per_second=tables * 10.0,
        latencies=(*LATENCIES[1:], replace(LATENCIES[0], p50=p99 / 3, p99=p99)),
        intervals=tuple(replace(PASSED.intervals[0], server_cpu=cores) for cores in (0.4, 0.8)),
        violations=violations,
        bottleneck=bottleneck,
        passed=p99 <= LIMIT and not violations,
    )


def tried_loads(capacity: int, first: int, maximum: int = 10_000) -> list[int]:
    loads: list[int] = []

    def is_sustained(load: int) -> bool:
        loads.append(load)
        return load <= capacity

    search(is_sustained, first, maximum)
    return loads


@pytest.mark.parametrize(
    ("capacity", "first", "maximum", "loads"),
    [
        (130, 25, 10_000, [25, 50, 100, 200, 150, 125]),
        (7, 40, 10_000, [40, 20, 10, 5, 7, 8]),
        (0, 8, 10_000, [8, 4, 2, 1]),
        (1_000, 30, 100, [30, 60, 100]),
        (1_000, 300, 100, [100]),
        (1, 1, 10_000, [1, 2]),
    ],
)
def test_the_load_is_doubled_or_halved_and_then_bisected(
    capacity: int, first: int, maximum: int, loads: list[int]
) -> None:
    assert tried_loads(capacity, first, maximum) == loads


@pytest.mark.parametrize("capacity", range(40))
def test_the_knee_is_known_to_within_a_quarter_of_a_doubling(capacity: int) -> None:
    loads = tried_loads(capacity, first=6)
    assert len(loads) == len(set(loads))
    bad = min(load for load in loads if load > capacity)
    assert bad - max((load for load in loads if load <= capacity), default=0) <= max(1, -(-bad // 4))


def test_the_knee_is_the_last_good_step_and_a_step_has_what_the_curve_needs() -> None:
    result = ceiling({200: step_result(200, p99=180.0), 50: step_result(50), 100: step_result(100, p99=60.0)})
    assert [(step.tables, step.passed) for step in result.steps] == [(50, True), (100, True), (200, False)]
    assert (result.knee, result.tables_opened, result.passed) == (1, 100, True)
    step = result.steps[1]
    assert (step.actions_per_second, step.p50, step.p99) == (1000.0, 20.0, 60.0)
    assert step.server_cpu == pytest.approx(0.6)


def test_without_a_good_step_there_is_no_knee_and_the_result_is_red() -> None:
    result = ceiling({8: step_result(8, p99=500.0), 1: step_result(1, p99=200.0)})
    assert (result.knee, result.passed, result.tables_opened) == (None, False, 1)


def test_a_violation_at_any_step_makes_the_result_red() -> None:
    result = ceiling(
        {50: step_result(50), 100: step_result(100, violations=(BROKEN,)), 75: step_result(75, violations=(BROKEN,))}
    )
    assert (result.knee, result.passed) == (0, False)
    assert [(one.invariant, one.count) for one in result.violations] == [("deal_unfair", 4)]


def test_a_load_process_at_its_own_limit_ends_the_search_and_is_named() -> None:
    full = step_result(100, bottleneck="the generator used 0.97 cores")
    assert full.passed
    assert not is_good(full)
    result = ceiling({50: step_result(50), 100: full})
    assert (result.knee, result.passed, result.bottleneck) == (0, True, "the generator used 0.97 cores")
    assert ceiling({50: step_result(50), 75: step_result(75, p99=120.0), 100: full}).bottleneck == ""
