"""The short rehearsal, from the command line: all that production describes, replaced and killed, and nothing lost."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from croupier.door.envoy import find_envoy
from rehearsal.manifests import MISSING, kustomize_command

ROOT = Path(__file__).parents[2]
SECONDS = 400.0
TIME = {"99 of 100 actions", "99 of 100 actions of each kind", "generator"}
"""The limits that a machine can fail to keep on which other tests run too."""


def rehearse(*arguments: str, environment: dict[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    """Run `python -m rehearsal` with these arguments."""
    command = [sys.executable, "-m", "rehearsal", *arguments]
    given = {**os.environ, **(environment or {})}
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, cwd=ROOT, env=given, check=False)


def test_a_short_rehearsal_loses_nothing(tmp_path: Path) -> None:
    if not kustomize_command():
        pytest.skip(MISSING)
    try:
        find_envoy()
    except ValueError as fault:
        pytest.skip(str(fault))
    done = rehearse("--short", "--seed=1", f"--results={tmp_path}")
    assert done.returncode in (0, 1), done.stderr
    found = json.loads((tmp_path / "rehearsal.json").read_text())
    assert found["started"] == {"door": 1, "engine": 2, "lobby": 1, "scoring": 1}
    assert len(found["replaced"]) == 2
    assert [one["name"] for one in found["acts"]] == ["replacing every engine", "killing engine-3"]
    assert found["load"]["actions"] > 0
    # On a machine that is busy with other tests the engines may take longer than people play.
    late = "load until the last act was over"
    broken = {one["name"]: one["measured"] for one in found["checks"] if one["name"] != late and not one["passed"]}
    slow = set(broken.pop("limits of the load test", "").split(", ")) - {"", "kept"}
    assert (broken, slow - TIME) == ({}, set()), done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_without_kustomize_one_line_says_so(tmp_path: Path) -> None:
    done = rehearse("--short", f"--results={tmp_path}", environment={"PATH": "/nowhere"})
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"rehearsal: {MISSING}\n")


@pytest.mark.parametrize(
    ("argument", "line"),
    [("--tables=0", "--tables is at least 1"), ("--loud", "unrecognized arguments: --loud")],
)
def test_what_is_wrong_is_told_in_one_line(argument: str, line: str) -> None:
    done = rehearse(argument)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"rehearsal: {line}\n")
