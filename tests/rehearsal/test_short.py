"""The short rehearsal, from the command line: all that production describes, replaced and killed, and nothing lost."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
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


@pytest.fixture
def parts() -> None:
    """What a rehearsal needs."""
    if not kustomize_command():
        pytest.skip(MISSING)
    try:
        find_envoy()
    except ValueError as fault:
        pytest.skip(str(fault))


@pytest.mark.usefixtures("parts")
def test_a_short_rehearsal_loses_nothing(tmp_path: Path) -> None:
    done = rehearse("--short", "--seed=1", f"--results={tmp_path}")
    assert done.returncode in (0, 1), done.stderr
    found = json.loads((tmp_path / "rehearsal.json").read_text())
    assert found["started"] == {"door": 1, "engine": 2, "lobby": 1, "scoring": 1}
    assert len(found["replaced"]) == 2
    assert [one["name"] for one in found["acts"]] == ["replacing every engine", "killing engine-3"]
    assert found["load"]["actions"] > 0
    broken = {one["name"]: one["measured"] for one in found["checks"] if not one["passed"]}
    slow = set(broken.pop("limits of the load test", "").split(", ")) - {"", "kept"}
    assert (broken, slow - TIME) == ({}, set()), done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A folder for temporary ones, which the database's user can reach as well."""
    folder = Path(tempfile.mkdtemp(prefix="croupier-ended-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def of_folder(folder: Path) -> list[str]:
    """The processes that know a folder by their variables."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(folder).encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue  # It has just ended, or is somebody else's.
    return found


@pytest.mark.usefixtures("parts")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 2), (signal.SIGKILL, -signal.SIGKILL)])
def test_nothing_is_left_of_one_that_is_ended(number: int, code: int, tmp_path: Path, temporary: Path) -> None:
    results = tmp_path / "results"
    results.mkdir()
    (results / "rehearsal.json").write_text("of an earlier one")
    # What a shell starts in its background ignores SIGINT, and has to end all the same.
    in_background = ("sh", "-c", 'trap "" INT; exec "$@"', "sh")
    command = (*in_background, sys.executable, "-m", "rehearsal", "--short", "--seed=1", f"--results={results}")
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == f"to repeat it: python -m rehearsal --short --seed=1 --results={results}\n"
        assert "is through" in process.stderr.readline()
        process.send_signal(number)
        said = process.stderr.read() if number == signal.SIGTERM else ""
        assert process.wait(SECONDS) == code
    assert number == signal.SIGKILL or said.endswith("rehearsal: ended before it was over\n"), said
    assert "Traceback" not in said
    deadline = time.monotonic() + SECONDS
    while (left := of_folder(temporary) + sorted(map(str, temporary.iterdir()))) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert left == []
    assert not (results / "rehearsal.json").exists()


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
