"""What kustomize makes of a folder, as plain objects."""

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from rehearsal.manifests import Object, kustomize_command, rendered

ROOT = Path(__file__).parents[2]
FOLDERS: Mapping[str, Path] = {
    "laptop": ROOT / "k8s" / "overlays" / "laptop",
    "production": ROOT / "k8s" / "overlays" / "production",
    "everything": ROOT / "tests" / "k8s" / "everything",
}

every_folder = pytest.mark.parametrize("folder", FOLDERS)


@functools.cache
def build(folder: str) -> Sequence[Object]:
    """All objects that one of FOLDERS describes, which nobody changes; skips the test where there is no kustomize."""
    if not kustomize_command():
        pytest.skip("neither kustomize nor kubectl is here: Kubernetes manifests are not looked at")
    return rendered(FOLDERS[folder])
