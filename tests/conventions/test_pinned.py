"""Everything that is installed is pinned: packages by the hashes of their files, images by a version or digest."""

import re
import tomllib
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCKS = ("requirements-dev.lock", "image/requirements.lock", "requirements.lock", ".ci/checkov.lock")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]
CHOICES = {**EXTRAS, **PROJECT["dependency-groups"]}
PINNED = re.compile(
    r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;]+)( ; [^\\]+)?((?: \\\n    --hash=sha256:[0-9a-f]{64})+)\n"
)
WITHOUT_DOWNLOAD = ("--require-hashes", "--no-deps", "--no-index")
"""A command of pip has one of these: it compares hashes, or brings no other file."""


def pins(lock: str) -> dict[str, str]:
    """Return the versions of a lock by name; raises AssertionError for a line that is neither a pin nor a hash."""
    text = (ROOT / lock).read_text()
    assert PINNED.sub("", text) == "", f"{lock} has packages without version or hash"
    return {canonicalize_name(pin["name"]): pin["version"] for pin in PINNED.finditer(text)}


@pytest.mark.parametrize("lock", LOCKS)
def test_every_package_has_a_version_and_hashes(lock: str) -> None:
    assert len(pins(lock)) > 40


def test_the_program_that_writes_the_locks_is_pinned_alone() -> None:
    assert list(pins(".ci/uv.lock")) == ["uv"]


@pytest.mark.parametrize(
    ("lock", "chosen"), [(LOCKS[0], (*EXTRAS, "dev")), (LOCKS[1], ("traces", "load")), (LOCKS[2], ("gateway",))]
)
def test_the_locks_are_those_of_the_project(lock: str, chosen: tuple[str, ...]) -> None:
    """After a change of the dependencies `make lock` brings them up to date."""
    versions = pins(lock)
    for requirement in map(Requirement, chain(PROJECT["project"]["dependencies"], *(CHOICES[name] for name in chosen))):
        version = versions.get(canonicalize_name(requirement.name))
        assert version is not None, f"{requirement} is not in {lock}"
        assert requirement.specifier.contains(version), f"{lock} has {version} for {requirement}"
    assert "hatchling" in versions


@pytest.mark.parametrize("lock", LOCKS[1:3])
def test_users_have_the_versions_that_are_tested(lock: str) -> None:
    tested, shipped = pins(LOCKS[0]), pins(lock)
    assert {
        name: (version, tested[name]) for name, version in shipped.items() if tested.get(name, version) != version
    } == {}


def test_nothing_is_installed_without_its_hash() -> None:
    for file in ("Makefile", "install.sh", "Dockerfile", ".ci/lock", ".ci/run"):
        text = (ROOT / file).read_text().replace("\\\n", " ")
        for command in re.findall(r"pip (?:[^&|\n]*? )?(?:install|download|wheel) [^&|\n]*", text):
            assert any(flag in command for flag in WITHOUT_DOWNLOAD), f"{file}: {command}"
