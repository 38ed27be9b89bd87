"""`install.sh` and the targets of make: a Python that is supported, and a whole .venv of it, before anything runs."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAMS = ("bash", "cat", "cksum", "cp", "cut", "dirname", "du", "grep", "head", "mkdir", "rm", "sleep")
# Stands in for Python {version}: "-m venv" copies it, "-m pip" is recorded, takes long while there is a file
# "slow", and fails while there is a file "broken".
PYTHON = """#!{shell}
case "$1 $2" in
"-m venv") mkdir -p "$4/bin" && cp "$0" "$4/bin/python" && echo "venv {version}" >>"{folder}/log" ;;
"-m pip") echo "$*" >>"{folder}/log"; [ ! -e "{folder}/slow" ] || sleep 6; [ ! -e "{folder}/broken" ] ;;
*) folder=$(dirname "$(dirname "$0")")
   exec "{python}" -c "import sys; sys.version_info = ({numbers}); sys.prefix = '$folder'; $2" ;;
esac
"""


class Machine:
    """A clone of the project, and a PATH with a few programs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clone = folder / "a klön"
        self.clone.mkdir()
        self.programs = folder / "bin"
        self.programs.mkdir()
        for name in PROGRAMS:
            found = shutil.which(name)
            assert found
            (self.programs / name).symlink_to(found)
        shutil.copy(ROOT / "install.sh", self.clone)
        for name in ("pyproject.toml", "requirements.lock", "requirements-dev.lock"):
            (self.clone / name).write_text(f"{name}==1\n")

    def add_python(self, name: str, version: str) -> None:
        """Add a Python to the PATH, or at a path of its own."""
        text = PYTHON.format(
            shell=self.programs / "bash",
            version=version,
            folder=self.folder,
            python=sys.executable,
            numbers=version.replace(".", ","),
        )
        (self.programs / name).write_text(text)
        (self.programs / name).chmod(0o700)

    def install(self, lock: str = "requirements.lock", python: str = "") -> subprocess.CompletedProcess[str]:
        """Run install.sh."""
        environment = {"PATH": str(self.programs), "PYTHON": python}
        return subprocess.run(
            [self.clone / "install.sh", lock], env=environment, capture_output=True, text=True, timeout=60, check=False
        )

    def steps(self) -> list[str]:
        """Return what was made and installed since the last call."""
        log = self.folder / "log"
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return [found[0] for line in lines if (found := re.search(r"venv .*|requirements\S*|editable", line))]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


WHOLE = ["venv 3.11", "requirements.lock", "editable"]


@pytest.mark.parametrize("version", ["2.7", "3.9", ""])
def test_a_python_that_is_missing_or_not_supported_is_named_and_nothing_is_made(machine: Machine, version: str) -> None:
    if version:
        machine.add_python("python3", version)
    refused = machine.install()
    assert refused.returncode == 1
    fault = f"is {version}. Install one" if version else "is missing"
    assert f"croupier needs Python 3.11 or newer: python3 {fault}" in refused.stderr
    assert not (machine.clone / ".venv").exists()


def test_another_python_of_the_path_is_used_unless_one_is_named(machine: Machine) -> None:
    machine.add_python("python3", "3.9")
    machine.add_python("python3.12", "3.12")
    refused = machine.install(python="python3")
    assert (refused.returncode, "python3 is 3.9" in refused.stderr, machine.steps()) == (1, True, [])
    installed = machine.install()
    assert "making .venv with Python 3.12" in installed.stdout
    assert machine.steps()[0] == "venv 3.12"


def test_what_is_installed_is_not_installed_again(machine: Machine) -> None:
    machine.add_python("python3", "3.11")
    assert "the packages of requirements.lock, 67 MB to download" in machine.install().stdout
    assert machine.steps() == WHOLE
    again = machine.install()
    assert (again.stdout, again.returncode, machine.steps()) == ("", 0, [])
    machine.install("requirements-dev.lock")
    assert machine.steps() == ["requirements-dev.lock", "editable"]
    (machine.clone / "requirements.lock").write_text("newer==1\n")
    machine.install()
    assert machine.steps() == [], "the other lock has the same packages and more"
    (machine.clone / "requirements-dev.lock").write_text("newer==1\n")
    machine.install()
    assert machine.steps() == ["requirements.lock", "editable"]


def test_an_interrupted_installation_is_repeated(machine: Machine) -> None:
    machine.add_python("python3", "3.11")
    (machine.folder / "broken").touch()
    assert machine.install().returncode != 0
    machine.steps()
    (machine.folder / "broken").unlink()
    assert "it is incomplete" in machine.install().stdout
    assert machine.steps() == WHOLE


def test_an_environment_that_was_moved_or_has_lost_its_python_is_made_again(machine: Machine) -> None:
    machine.add_python("python3", "3.11")
    machine.install()
    machine.steps()
    machine.clone = machine.clone.rename(machine.folder / "elsewhere")
    machine.install()
    assert machine.steps() == WHOLE
    (machine.clone / ".venv" / "bin" / "python").unlink()
    machine.install()
    assert machine.steps() == WHOLE


def test_an_environment_of_another_python_than_the_named_one_is_made_again(machine: Machine) -> None:
    machine.add_python("python3", "3.11")
    machine.add_python("python3.13", "3.13")
    machine.install()
    machine.steps()
    machine.install(python="python3.13")
    assert machine.steps() == ["venv 3.13", "requirements.lock", "editable"]
    machine.install()
    assert machine.steps() == [], "it stays until another one is named"


def test_make_lists_every_target() -> None:
    environment = {**os.environ, "MAKEFLAGS": ""}
    listed = subprocess.run(["make"], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=True)  # noqa: S607
    (declared,) = re.findall(r"^\.PHONY: ((?:.*\\\n)*.*)$", (ROOT / "Makefile").read_text(), flags=re.M)
    assert re.findall(r"^  ([a-z-]+) +\S", listed.stdout, flags=re.M) == declared.replace("\\\n", "").split()


def test_a_path_with_blanks_is_one_python(machine: Machine) -> None:
    own = machine.folder / "my python"
    own.mkdir()
    machine.add_python(str(own / "python3"), "3.11")
    assert machine.install(python=str(own / "python3")).returncode == 0
    assert machine.steps() == WHOLE


def test_a_clone_behind_a_symbolic_link_is_installed_once(machine: Machine) -> None:
    machine.add_python("python3", "3.11")
    link = machine.folder / "link"
    link.symlink_to(machine.clone)
    clone, machine.clone = machine.clone, link
    machine.install()
    assert machine.steps() == WHOLE
    machine.clone = clone
    machine.install()
    assert machine.steps() == []


def test_a_long_installation_is_never_silent_for_five_seconds(machine: Machine) -> None:
    machine.add_python("python3", "3.11")
    (machine.folder / "slow").touch()
    assert re.search(r"^  \d+ MB are in .venv$", machine.install().stdout, re.MULTILINE)
