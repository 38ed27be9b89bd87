"""Commands that tests of manifests run, and the objects that kustomize renders from a folder, once in a process."""

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import yaml

from tests.programs import program

ROOT = Path(__file__).parents[2]
FOLDERS: Mapping[str, Path] = {
    "laptop": ROOT / "k8s" / "overlays" / "laptop",
    "production": ROOT / "k8s" / "overlays" / "production",
    "everything": ROOT / "tests" / "k8s" / "everything",
}
INSTALL_KUBECTL = ".ci/tools build/debian kubectl, with build/debian/usr/bin on the PATH"
SECONDS = 300

Object: TypeAlias = dict[str, Any]

every_folder = pytest.mark.parametrize("folder", FOLDERS)


class BuildError(ValueError):
    """Kustomize refuses a folder; the text is its message."""


def run_to_end(
    *command: str, cwd: Path = ROOT, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, with the programs of this Python's environment on the PATH."""
    given = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", **(environment or {})}
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=given, cwd=cwd, check=False)


def run(*command: str, cwd: Path = ROOT, environment: Mapping[str, str] | None = None) -> str:
    """Return the output of a command, which must succeed."""
    done = run_to_end(*command, cwd=cwd, environment=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def rendered(folder: Path) -> tuple[Object, ...]:
    """Return all objects of a folder; raises BuildError, and skips the test without kubectl."""
    kustomize = program("kustomize", "kubectl", install=INSTALL_KUBECTL)
    done = run_to_end(str(kustomize), {"kustomize": "build", "kubectl": "kustomize"}[kustomize.name], str(folder))
    if done.returncode != 0:
        raise BuildError(done.stderr)
    return tuple(yaml.load_all(done.stdout, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))


@functools.cache
def build(folder: str) -> Sequence[Object]:
    """Return all objects of one of FOLDERS, which must not be changed."""
    return rendered(FOLDERS[folder])


def write(objects: Iterable[Object], file: Path) -> Path:
    """Write objects as a stream of YAML documents, and return the file."""
    file.write_text(yaml.safe_dump_all(objects))
    return file


def copied(folder: Path, overlay: str = "production") -> Path:
    """Copy all manifests into `folder`, and return the kustomization of the overlay in it."""
    shutil.copytree(ROOT / "k8s", folder / "k8s")
    return folder / "k8s" / "overlays" / overlay / "kustomization.yaml"
