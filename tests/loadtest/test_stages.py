"""The load over a run."""

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace

import pytest

from loadtest.runner.stages import StagePlan, Stages, Tick
from loadtest.scenarios import SCENARIOS

RUSH = StagePlan(SCENARIOS["rush"], 50, 200, 100.0)


@pytest.fixture
def clock() -> SimpleNamespace:
    return SimpleNamespace(seconds=1000.0)


@pytest.fixture
def stages(clock: SimpleNamespace) -> Stages:
    return Stages(lambda: clock.seconds)


def ticks(stages: Stages, clock: SimpleNamespace, plan: StagePlan, times: Sequence[float]) -> list[Tick | None]:
    """Return the ticks at these times of a run."""
    stages.begin(plan)
    began, found = clock.seconds, []
    for time in times:
        clock.seconds = began + time
        found.append(stages.tick())
    return found


def test_the_load_follows_the_stages_after_the_warm_up(stages: Stages, clock: SimpleNamespace) -> None:
    warm_up = RUSH.warm_up_seconds
    assert warm_up == 5 / 200
    found = ticks(stages, clock, RUSH, [0, *(warm_up + time for time in (19, 20.1, 69, 70.1, 99, 100.1))])
    assert found == [(5, 200), (5, 200), (50, 200), (50, 200), (5, 200), (5, 200), None]


def test_users_settle_before_the_stages_begin() -> None:
    scenario = replace(SCENARIOS["rush"], settling_seconds=4)
    assert replace(RUSH, scenario=scenario).warm_up_seconds == 4 + 5 / 200


def test_there_is_always_a_user(stages: Stages, clock: SimpleNamespace) -> None:
    assert ticks(stages, clock, replace(RUSH, users=2), [0, 5]) == [(1, 200), (1, 200)]


def test_the_first_tick_holds_before_a_run_and_the_last_one_after_it(stages: Stages, clock: SimpleNamespace) -> None:
    stages.first = lambda: (7, 2.0)
    assert stages.tick() == (7, 2.0)
    ticks(stages, clock, RUSH, [0, 50])
    stages.hold()
    clock.seconds += 1000
    assert stages.tick() == (50, 200)
    stages.reset()
    assert stages.tick() == (7, 2.0)
