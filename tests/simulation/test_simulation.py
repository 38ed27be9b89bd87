"""The simulation itself: honest services pass it, each built-in fault is found, and a seed is always the same run."""

import os
import subprocess
import sys

import pytest

from loadtest.simulation.__main__ import Way, told
from loadtest.simulation.plan import SCENARIOS
from loadtest.simulation.simulator import Simulator
from loadtest.simulation.variants import VARIANTS

SEEDS = 40
PARTS = 4
SEEDS_OF_SCENARIO = 3
FOUND_WITHIN = 20
"""Seeds within which each built-in fault is found; most take one to three."""
REPEATED = (7, 8, 9)
RUN_SECONDS = 300


@pytest.fixture(scope="module")
def simulator() -> Simulator:
    return Simulator()


@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_is_lost_doubled_shown_or_stuck(simulator: Simulator, part: int) -> None:
    for seed in range(1 + part, SEEDS + 1, PARTS):
        outcome = simulator.run(seed)
        assert outcome.violation is None, told(outcome)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_nothing_is_where_one_thing_happens_often(simulator: Simulator, scenario: str) -> None:
    for seed in range(1, SEEDS_OF_SCENARIO + 1):
        outcome = simulator.run(seed, scenario=scenario)
        assert outcome.violation is None, told(outcome, Way(scenario=scenario))


@pytest.mark.parametrize("name", VARIANTS)
def test_a_fault_that_is_built_in_is_found(simulator: Simulator, name: str) -> None:
    variant = VARIANTS[name]
    with variant.change():
        outcomes = (simulator.run(seed, scenario=variant.scenario) for seed in range(1, FOUND_WITHIN + 1))
        assert any(outcome.violation is not None for outcome in outcomes), f"{name} is not found"


def test_a_seed_is_the_same_run_in_any_process() -> None:
    first, second = (_digests(hash_seed, order) for hash_seed, order in (("1", REPEATED), ("2", REPEATED[::-1])))
    assert first == second


def _digests(hash_seed: str, seeds: tuple[int, ...]) -> dict[int, str]:
    program = (
        "from loadtest.simulation.simulator import Simulator\n"
        "simulator = Simulator()\n"
        f"for seed in {seeds}: print(seed, simulator.run(seed).digest)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
        check=True,
    )
    return {int(seed): digest for seed, digest in map(str.split, ran.stdout.splitlines())}
