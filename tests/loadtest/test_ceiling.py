"""The search for the highest load, with measurements that are made up; no services are needed."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from loadtest.ceiling.options import SETUPS, read_ceiling_options
from loadtest.ceiling.search import (
    ceiling,
    ceiling_line,
    keeps_limits,
    over_limit,
    search,
    step_line,
    step_of,
)
from loadtest.report.result import Broken, Check, Conditions, Latency, Moment, Result

LIMIT = 100.0


def measured(tables: int, p99: float = 10.0, bottleneck: str = "", violations: tuple[Broken, ...] = ()) -> Result:
    """What a step brought."""
    kept = p99 <= LIMIT
    return Result(
        conditions=Conditions("ceiling", 1, "again", 0, 15.0, "Linux", 2, {}, "1 engine on SQLite", 1),
        tables_opened=tables,
        tables_finished=tables,
        tables_judged=tables,
        tables_proved=tables,
        games={"thulla": tables},
        actions=tables * 100,
        actions_per_second=tables * 10.0,
        checks_made={},
        latencies=(Latency("action acknowledged", 10, p99 / 3, 0, 0, p99, p99, p99), Latency("rpc X", 1, *[1.0] * 6)),
        moments=tuple(Moment(at, 4, tables, 1, 1, 1, 1, 0, 0.5, cores, 1) for at, cores in ((1.0, 0.4), (2.0, 0.8))),
        violations=violations,
        bottleneck=bottleneck,
        generator_cpu=0.5,
        checks=(Check("99 of 100 actions", "at most 100 ms", f"{p99} ms", kept),),
        passed=kept and not violations,
    )


class Tried:
    """Says whether a load is kept, up to a capacity, and remembers what it was asked."""

    def __init__(self, keeps: Callable[[int], bool]) -> None:
        self._keeps = keeps
        self.loads: list[int] = []

    def __call__(self, load: int) -> bool:
        self.loads.append(load)
        return self._keeps(load)


def tried(capacity: int, first: int, **bounds: int) -> list[int]:
    """The loads that are tried where so much is kept."""
    keeps = Tried(lambda load: load <= capacity)
    search(keeps, first, **bounds)
    return keeps.loads


def test_the_load_is_doubled_and_then_narrowed_twice() -> None:
    assert tried(130, first=25) == [25, 50, 100, 200, 150, 125]
    assert tried(180, first=25) == [25, 50, 100, 200, 150, 175]


def test_less_is_tried_where_the_first_load_is_too_much() -> None:
    assert tried(7, first=40) == [40, 20, 10, 5, 7, 8]
    assert tried(30, first=40) == [40, 20, 30, 35]


def test_it_ends_where_nothing_is_kept() -> None:
    assert tried(0, first=8) == [8, 4, 2, 1]


def test_it_ends_where_everything_is_kept() -> None:
    assert tried(1_000, first=30, most=100) == [30, 60, 100]
    assert tried(1_000, first=300, most=100) == [100]


def test_neighbours_are_not_narrowed() -> None:
    assert tried(1, first=1) == [1, 2]


@pytest.mark.parametrize("capacity", range(40))
def test_what_was_kept_is_always_below_what_was_not(capacity: int) -> None:
    loads = tried(capacity, first=6)
    assert len(loads) == len(set(loads))
    good = [load for load in loads if load <= capacity]
    bad = [load for load in loads if load > capacity]
    assert bad
    # The knee is known to within a quarter of a doubling.
    assert min(bad) - max(good, default=0) <= max(1, -(-min(bad) // 4))


def test_the_knee_is_the_last_good_step() -> None:
    steps = {200: measured(200, p99=180.0), 50: measured(50), 100: measured(100, p99=60.0), 150: measured(150, p99=90)}
    result = ceiling(steps)
    assert [step.tables for step in result.steps] == [50, 100, 150, 200]
    assert [step.passed for step in result.steps] == [True, True, True, False]
    assert result.knee == 2
    assert result.tables_opened == 150
    assert result.passed
    assert "150 tables" in ceiling_line(result, LIMIT)
    assert "1,500 actions/s" in ceiling_line(result, LIMIT)


def test_a_step_says_what_the_curve_needs() -> None:
    step = step_of(measured(50, p99=60.0), 50)
    assert (step.tables, step.actions_per_second, step.p50, step.p99) == (50, 500.0, 20.0, 60.0)
    assert step.server_cpu == pytest.approx(0.6)
    assert "OVER" not in step_line(step, measured(50, p99=60.0))


def test_without_a_good_step_there_is_no_knee_and_the_result_is_red() -> None:
    result = ceiling({8: measured(8, p99=500.0), 1: measured(1, p99=200.0)})
    assert result.knee is None
    assert not result.passed
    assert result.tables_opened == 1
    assert ceiling_line(result, LIMIT) == "no load kept p99 under 100 ms"


def test_no_steps_are_no_result() -> None:
    with pytest.raises(ValueError, match="no step"):
        ceiling({})


def test_a_generator_at_its_own_limit_ends_the_climb_and_is_named() -> None:
    full = measured(100, bottleneck="the generator used 0.97 cores")
    assert full.passed
    assert not keeps_limits(full)
    assert "generator" in over_limit(full)
    assert "OVER: the generator used 0.97 cores" in step_line(step_of(full, 100), full)
    result = ceiling({50: measured(50), 100: full})
    assert result.knee == 0
    assert result.passed
    assert result.bottleneck == "the generator used 0.97 cores"
    assert ceiling_line(result, LIMIT).endswith("beyond it the generator used 0.97 cores")


def test_the_services_are_the_limit_where_they_gave_out_first() -> None:
    result = ceiling({50: measured(50), 75: measured(75, p99=120.0), 100: measured(100, bottleneck="the generator")})
    assert result.bottleneck == ""


def test_a_highest_step_that_was_good_says_that_more_was_not_tried() -> None:
    assert "more was not tried" in ceiling_line(ceiling({50: measured(50)}), LIMIT)


def test_what_broke_at_any_step_makes_the_whole_red() -> None:
    first = Broken("ORDER", 2, "t1", 4, "a gap")
    later = replace(first, count=3, table_id="t9")
    result = ceiling(
        {50: measured(50), 100: measured(100, violations=(first,)), 200: measured(200, violations=(later,))}
    )
    assert result.knee == 0
    assert not result.passed
    assert result.violations == (replace(first, count=5),)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--on", "sqlite,oracle"], "--on cannot be 'oracle'"),
        (["--first", "0"], "--first is at least 1"),
        (["--seconds", "0"], "--seconds is at least 1"),
        (["--mix", "chess"], "'chess' is not played here"),
    ],
)
def test_a_wrong_command_line_ends_with_2_and_a_line(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        read_ceiling_options(arguments)
    assert ended.value.code == 2
    line = capsys.readouterr().err
    assert line.startswith(f"loadtest.ceiling: {said}")
    assert line.count("\n") == 1


def test_all_setups_are_climbed_unless_some_are_named() -> None:
    assert read_ceiling_options([]).setups == tuple(SETUPS.values())
    options = read_ceiling_options(["--on", "two-engines", "--seconds", "3"])
    assert [setup.engines for setup in options.setups] == [2]
    assert options.command == "python -m loadtest.ceiling --on two-engines --seconds 3"
