"""What kustomize makes of a folder, as plain objects."""

import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import yaml

SECONDS = 60
MISSING = "neither kustomize nor kubectl is here: one of them has to read the manifests"

Object: TypeAlias = dict[str, Any]


class CannotRehearse(Exception):
    """Nothing can be rehearsed here; the text is one line that says why."""


class GoneWrong(Exception):
    """While people played something went so wrong that it could not go on; the text is one line that says what."""


def kustomize_command() -> Sequence[str]:
    """The command that builds a folder, which is its last argument; empty where there is none."""
    if program := shutil.which("kustomize"):
        return program, "build"
    if program := shutil.which("kubectl"):
        return program, "kustomize"
    return ()


def rendered(folder: Path) -> tuple[Object, ...]:
    """All objects that a folder describes; raises CannotRehearse where it cannot be built."""
    command = kustomize_command()
    if not command:
        raise CannotRehearse(MISSING)
    done = subprocess.run([*command, str(folder)], capture_output=True, text=True, timeout=SECONDS, check=False)
    if done.returncode != 0:
        raise CannotRehearse(f"{folder} cannot be built: {' '.join(done.stderr.split())}")
    return tuple(yaml.load_all(done.stdout, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))


def of_kind(objects: Iterable[Object], kind: str) -> list[Object]:
    """The objects of one kind."""
    return [one for one in objects if one["kind"] == kind]
