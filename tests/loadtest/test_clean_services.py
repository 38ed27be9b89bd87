"""Every scenario is green, in its smallest form, against services that have no defect."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from loadtest.scenarios import SCENARIOS
from tests.loadtest.matrix import PATIENT, SMALL, STAYERS
from tests.loadtest.running import Outcome, run_load_test

LEFT_BEHIND = {"result.json", "junit.xml", "report.html", "summary.txt"}
TIME = {"99 of 100 actions", "99 of 100 actions of each kind", "generator"}
"""The limits that a machine can fail to keep on which other tests run too."""
LARGEST_FILE_BYTES = 64 * 1024


def assert_green(outcome: Outcome, scenario: str) -> None:
    result = outcome.result
    assert outcome.named <= TIME, str(outcome)
    is_in_time = not outcome.named
    assert (outcome.code, result["passed"]) == (0 if is_in_time else 1, is_in_time), str(outcome)
    assert result["violations"] == []
    assert result["conditions"]["scenario"] == scenario
    assert result["tables_finished"] > 0
    assert result["tables_judged"] > 0
    assert result["checks_made"]["entries"] > 0
    assert {file.name for file in outcome.folder.iterdir()} >= LEFT_BEHIND
    suites = ET.parse(outcome.folder / "junit.xml").getroot()  # noqa: S314 - our own file
    assert list(suites.iter("testcase"))
    assert bool(list(suites.iter("failure"))) is not is_in_time
    assert (outcome.folder / "report.html").read_text().rstrip().endswith("</html>")
    assert ("not fit to ship" in outcome.said) is not is_in_time
    assert "Traceback" not in outcome.complained


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_a_scenario_is_green(scenario: str, tmp_path: Path) -> None:
    people = [STAYERS] if scenario == "soak" else []
    assert_green(await run_load_test([scenario, *SMALL, PATIENT, *people], tmp_path), scenario)


async def test_a_run_that_finished_no_game_is_red(tmp_path: Path) -> None:
    arguments = ["evening", "--tables=1", "--seconds=2", "--think=5", "--grace=0"]
    outcome = await run_load_test(arguments, tmp_path)
    assert outcome.code == 1, str(outcome)
    assert outcome.result["passed"] is False
    assert (outcome.result["tables_finished"], outcome.result["violations"]) == (0, [])


async def test_a_full_disk_is_told_before_anybody_plays(tmp_path: Path) -> None:
    outcome = await run_load_test(["smoke", *SMALL], tmp_path, largest_file_bytes=LARGEST_FILE_BYTES)
    assert outcome.code == 2, str(outcome)
    assert outcome.complained.startswith("loadtest: results cannot be written to ")
    assert outcome.complained.count("\n") == 1
    assert not list(outcome.folder.iterdir())
