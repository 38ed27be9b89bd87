"""Each scenario turns red by a defect, and names it; `python -m tests.loadtest.defects` tries them all."""

from pathlib import Path

import pytest

from loadtest.scenarios import SCENARIOS
from tests.loadtest.broken_services import DEFECTS
from tests.loadtest.matrix import BY_NAME, CASES
from tests.loadtest.running import run_with

TRIED = (
    "smoke/leak-hand",
    "evening/play-early",
    "rush/drop-client-seeds",
    "storm/resume-late",
    "storm/lose-tables",
    "abuse/forget-requests",
    "abuse/take-stale",
    "ceiling/exchange",
    "soak/keep-memory",
)


@pytest.mark.parametrize("name", TRIED)
async def test_a_scenario_names_a_defect(name: str, tmp_path: Path) -> None:
    case = BY_NAME[name]
    outcome = await run_with(case.defect, case.arguments, tmp_path)
    assert outcome.code == 1, str(outcome)
    assert case.named in outcome.named, str(outcome)
    assert outcome.result["passed"] is False
    assert "not fit to ship" in outcome.said
    broken = {one["invariant"]: one for one in outcome.result["violations"]}
    if case.named in broken:
        first = broken[case.named]
        assert first["table_id"]
        assert first["table_id"] in outcome.said


def test_every_scenario_and_every_invariant_has_a_defect() -> None:
    for scenario in SCENARIOS:
        assert len([case for case in CASES if case.scenario == scenario]) >= 2, scenario
    assert {BY_NAME[name].scenario for name in TRIED} == set(SCENARIOS)
    assert len({BY_NAME[name].named for name in TRIED}) == len(TRIED)


def test_every_defect_is_looked_for() -> None:
    assert {case.defect for case in CASES} == set(DEFECTS) - {"offer-later-rules"}, "that one is bad input"
    assert all(defect.meaning.endswith(".") for defect in DEFECTS.values())
