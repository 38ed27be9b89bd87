"""What kustomize makes of a folder, as plain objects."""

import functools
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FOLDERS: Mapping[str, Path] = {
    "laptop": ROOT / "k8s" / "overlays" / "laptop",
    "production": ROOT / "k8s" / "overlays" / "production",
    "everything": ROOT / "tests" / "k8s" / "everything",
}
SECONDS = 60

Object: TypeAlias = dict[str, Any]

every_folder = pytest.mark.parametrize("folder", FOLDERS)


def build(folder: str) -> list[Object]:
    """All objects that one of FOLDERS describes; skips the test where there is no kustomize."""
    return list(yaml.load_all(_built(folder), Loader=_LOADER))


_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@functools.cache
def _built(folder: str) -> str:
    command = [*_kustomize(), str(FOLDERS[folder])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _kustomize() -> Sequence[str]:
    if program := shutil.which("kustomize"):
        return program, "build"
    if program := shutil.which("kubectl"):
        return program, "kustomize"
    pytest.skip("neither kustomize nor kubectl is here: Kubernetes manifests are not looked at")
