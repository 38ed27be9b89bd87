"""A rehearsal is good only if everything was as it should be: each check is seen to fail."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rehearsal.prometheus import Firing
from rehearsal.report import ALERT, Act, PodEnd, Story, checks, passed, slowest_milliseconds, text, write
from rehearsal.usage import PodUse
from tests.rehearsal.small import plan

LOAD: dict[str, Any] = {
    "conditions": {"seconds": 60.0},
    "violations": [],
    "failures": [{"name": "connection lost", "count": 3, "first": "reset"}],
    "checks": [{"name": "failed calls", "passed": True}],
    "tables_opened": 9,
    "tables_finished": 8,
    "tables_judged": 8,
    "tables_proved": 8,
    "checks_made": {"replays": 8, "sheets": 8},
    "actions": 1200,
    "actions_per_second": 20.0,
    "latencies": [{"name": "action acknowledged", "p50": 8.0, "p99": 70.0, "most": 900.0}],
    "moments": [{"seconds": at, "p99": slow} for at, slow in ((9, 50.0), (11, 400.0), (21, 300.0), (29, 800.0))],
}
DOWN = Firing(ALERT, "engine-2", 1027.0, 1031.0)
GOOD = Story(
    command="python -m rehearsal --seed 1",
    seconds=100.0,
    started={"engine": 3},
    load_code=0,
    load=LOAD,
    load_began=1000.0,
    acts=(Act("replacing", 1010.0, 1020.0), Act("killing", 1025.0, 1030.0)),
    replaced=(PodEnd("engine-1", ended_by_itself=True),),
    crashed="engine-2",
    restarts={"engine-2": 0},
    uses=(PodUse("engine-2", "engine", 2**30, 0.2),),
    firings=(DOWN,),
    prometheus="Prometheus",
    factor=30.0,
)
BAD: dict[str, tuple[dict[str, Any], str]] = {
    "a violation": ({"load": {**LOAD, "violations": [{"count": 2}]}}, "violations"),
    "nothing judged": ({"load": {**LOAD, "tables_judged": 0}}, "tables that the referee went through"),
    "no replay": ({"load": {**LOAD, "tables_proved": 7}}, "tables that the referee went through"),
    "no sheet": ({"load": {**LOAD, "checks_made": {"sheets": 7}}}, "tables that the referee went through"),
    "nothing finished": ({"load": {**LOAD, "tables_finished": 0}}, "tables that the referee went through"),
    "tables not judged": ({"load": {**LOAD, "tables_judged": 7}}, "tables that the referee went through"),
    "a table that is not there any more": (
        {"load": {**LOAD, "failures": [{"name": "following a table: NOT_FOUND", "count": 1, "first": "no table"}]}},
        "players who lost their table",
    ),
    "a player who gave up": (
        {"load": {**LOAD, "failures": [{"name": "giving up a table", "count": 1, "first": "8 attempts"}]}},
        "players who lost their table",
    ),
    "an exit code": ({"load_code": 1}, "limits of the load test"),
    "a limit": ({"load": {**LOAD, "checks": [{"name": "x", "passed": False}]}}, "limits of the load test"),
    "a load that ended too soon": ({"load_began": 900.0}, "load until the last act was over"),
    "a pod that did not end": (
        {"replaced": (PodEnd("e", ended_by_itself=False),)},
        "pods that had to be killed to end",
    ),
    "a pod that ended with an error": (
        {"replaced": (PodEnd("e", ended_by_itself=True, failed={"engine": 1}),)},
        "containers that ended with an error when told to end",
    ),
    "a restart": ({"restarts": {"engine-2": 1}}, "pods that restarted by themselves"),
    "too much memory": ({"uses": (PodUse("e", "engine", 3 * 2**30, 0.2),)}, "pods beyond their memory limit"),
    "a pod that was not measured": ({"restarts": {"engine-2": 0, "door-1": 0}}, "pods beyond their memory limit"),
    "no alert": ({"firings": ()}, f"{ALERT} of engine-2 fired and cleared"),
    "another's alert": ({"firings": (replace(DOWN, of="engine-3"),)}, f"{ALERT} of engine-2 fired and cleared"),
    "an alert from before": (
        {"firings": (replace(DOWN, since=1011.0, until=1012.0),)},
        f"{ALERT} of engine-2 fired and cleared",
    ),
    "an alert that stays": ({"firings": (DOWN, Firing("B", "", 1.0, None))}, "alerts that still fire"),
}


def test_a_good_one_is_good() -> None:
    found = checks(GOOD, plan())
    assert passed(found)
    assert "verdict     nothing was lost" in text(GOOD, found)


@pytest.mark.parametrize("what", BAD)
def test_what_is_not_as_it_should_be_is_named(what: str) -> None:
    change, name = BAD[what]
    story = replace(GOOD, **change)
    found = checks(story, plan())
    assert [one.name for one in found if not one.passed] == [name]
    assert f"NOT KEPT    {name}" in text(story, found)
    assert "verdict     not as it should be" in text(story, found)


def test_without_prometheus_alerts_are_not_looked_at() -> None:
    story = replace(GOOD, firings=None, prometheus="no Prometheus is here")
    found = checks(story, plan())
    assert passed(found)
    assert "alerts      no Prometheus is here" in text(story, found)


def test_the_slowest_second_of_an_act_is_told() -> None:
    assert [slowest_milliseconds(GOOD, act) for act in GOOD.acts] == [400.0, 800.0]


def test_alerts_are_told_by_when_load_began() -> None:
    assert f"{ALERT} engine-2 fired +27 s, cleared 4 s later" in text(GOOD, checks(GOOD, plan()))


def test_everything_is_left_as_json(tmp_path: Path) -> None:
    write(GOOD, checks(GOOD, plan()), tmp_path)
    found = json.loads((tmp_path / "rehearsal.json").read_text())
    assert (found["passed"], found["slowest_milliseconds"]) == (True, {"replacing": 400.0, "killing": 800.0})
    assert found["firings"] == [{"alert": ALERT, "of": "engine-2", "since": 1027.0, "until": 1031.0}]
    assert (tmp_path / "rehearsal.txt").read_text().endswith("nothing was lost\n")
