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


@functools.cache
def build(folder: str) -> Sequence[Object]:
    """All objects that one of FOLDERS describes, which nobody changes; skips the test where there is no kustomize."""
    command = [*_kustomize(), str(FOLDERS[folder])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    return tuple(yaml.load_all(done.stdout, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))


def _kustomize() -> Sequence[str]:
    if program := shutil.which("kustomize"):
        return program, "build"
    if program := shutil.which("kubectl"):
        return program, "kustomize"
    pytest.skip("neither kustomize nor kubectl is here: Kubernetes manifests are not looked at")
