"""How load rises and falls. Locust changes the whole process that imports it, so that it is asked in another one."""

import json
import subprocess
import sys
from collections.abc import Sequence

SCRIPT = """
import json, sys
from dataclasses import replace
from loadtest.conductor.shape import ScenarioShape
from loadtest.scenarios import SCENARIOS

name, users, seconds, warm_up, stopped_at, *moments = json.loads(sys.argv[1])
shape = ScenarioShape(replace(SCENARIOS[name], seconds=seconds), users, warm_up)
ticks = []
for moment in moments:
    shape.get_run_time = lambda: moment
    if moment >= stopped_at:
        shape.stop_soon()
    ticks.append(shape.tick())
print(json.dumps(ticks))
"""


def ticks(
    name: str, users: int, moments: Sequence[float], stopped_at: float = 1e9, warm_up: float = 0.0
) -> list[list[float] | None]:
    """What the shape says at these moments of a run of 100 seconds."""
    argument = json.dumps([name, users, 100.0, warm_up, stopped_at, *moments])
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, argument], check=True, capture_output=True, text=True, timeout=60
    )
    found: list[list[float] | None] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_a_rush_comes_and_goes_until_time_is_up() -> None:
    assert ticks("rush", 50, [0, 19, 20, 69, 70, 99, 100]) == [
        [5, 200], [5, 200], [50, 200], [50, 200], [5, 200], [5, 200], None,
    ]  # fmt: skip


def test_the_stages_begin_when_the_first_people_are_there() -> None:
    assert ticks("rush", 50, [0, 29, 30, 109, 110], warm_up=10) == [
        [5, 200], [5, 200], [50, 200], [5, 200], None,
    ]  # fmt: skip


def test_somebody_is_always_there_and_whoever_stops_it_is_obeyed() -> None:
    assert ticks("rush", 2, [0, 5, 6], stopped_at=6) == [[1, 200], [1, 200], None]
