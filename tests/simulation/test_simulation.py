"""The simulation: correct services pass, each defect is found, and a seed always gives the same run."""

import os
import subprocess
import sys

import pytest

from croupier_loadtest.simulation.scenarios import SCENARIOS
from croupier_loadtest.simulation.simulator import Simulator
from tests.engine.toys import toy_known
from tests.games.toy import TOY
from tests.simulation.defects import DEFECTS

SEEDS = range(1, 11)
MORE_SEEDS = range(11, 51)
SEEDS_OF_SCENARIO = range(1, 4)
FOUND_WITHIN = range(1, 41)
"""At least one of these seeds finds each defect; most need one to three."""
REPEATED_SEED = 7
RUN_SECONDS = 300


@pytest.fixture(scope="module")
def simulator() -> Simulator:
    return Simulator()


@pytest.mark.parametrize("seed", [*SEEDS, *(pytest.param(seed, marks=pytest.mark.slow) for seed in MORE_SEEDS)])
def test_a_seed_breaks_no_invariant(simulator: Simulator, seed: int) -> None:
    result = simulator.run(seed)
    assert not result.violations, result.report()
    assert result.numbers["verified"] == result.numbers["tables"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_breaks_no_invariant(simulator: Simulator, scenario: str) -> None:
    for seed in SEEDS_OF_SCENARIO:
        result = simulator.run(seed, scenario=scenario)
        assert not result.violations, result.report()


@pytest.mark.parametrize("scenario", ["", *(pytest.param(scenario, marks=pytest.mark.slow) for scenario in SCENARIOS)])
def test_a_game_without_a_judge_breaks_no_invariant_and_its_rules_are_not_judged(scenario: str) -> None:
    """The toy has a deck of its own, teams, and verbs and piles that no other game has."""
    with toy_known():
        simulator = Simulator((TOY.id,))
        for seed in SEEDS_OF_SCENARIO:
            result = simulator.run(seed, scenario=scenario)
            assert not result.violations, result.report()
            assert (result.unjudged, result.numbers["verified"]) == (frozenset({TOY.id}), 0)


def test_games_that_are_not_installed_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown game 'toy': expected thulla, "):
        Simulator((TOY.id,))


@pytest.mark.slow
@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_is_found(simulator: Simulator, name: str) -> None:
    defect = DEFECTS[name]
    with defect.change():
        results = (simulator.run(seed, scenario=defect.scenario) for seed in FOUND_WITHIN)
        assert any(one.invariant in defect.found for result in results for one in result.violations)


def test_a_seed_is_the_same_run_in_any_process(simulator: Simulator) -> None:
    program = (
        f"from croupier_loadtest.simulation.simulator import Simulator; print(Simulator().run({REPEATED_SEED}).digest)"
    )
    process = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
        check=True,
    )
    assert process.stdout.strip() == simulator.run(REPEATED_SEED).digest
