"""The version in names and labels is the tag of the image, whatever else an operator writes of the image."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from rehearsal.manifests import CannotRehearse, kustomize_command, rendered
from tests.k8s.building import ROOT
from tests.k8s.objects import main_container, named
from tests.k8s.pod_policies import images_are_pinned, the_version_is_one

DIGEST = f"sha256:{'24a0c4b4' * 8}"

pytestmark = pytest.mark.skipif(not kustomize_command(), reason="neither kustomize nor kubectl is here")


def overlay(folder: Path, image: Mapping[str, str]) -> Path:
    """A copy of the production overlay that names the image so."""
    shutil.copytree(ROOT / "k8s", folder / "k8s")
    file = folder / "k8s" / "overlays" / "production" / "kustomization.yaml"
    written = yaml.safe_load(file.read_text())
    written["images"][0] = {"name": "croupier", **image}
    file.write_text(yaml.safe_dump(written))
    return file.parent


@pytest.mark.parametrize(
    ("image", "called"),
    [
        ({"newName": "ghcr.io/house/croupier", "newTag": "0.2.0"}, "ghcr.io/house/croupier:0.2.0"),
        ({"newName": "localhost:5000/croupier", "newTag": "0.2.0"}, "localhost:5000/croupier:0.2.0"),
        (
            {"newName": "ghcr.io/house/croupier", "newTag": "0.2.0", "digest": DIGEST},
            f"ghcr.io/house/croupier:0.2.0@{DIGEST}",
        ),
    ],
    ids=["tag", "port", "digest"],
)
def test_the_version_is_the_tag(image: Mapping[str, str], called: str, tmp_path: Path) -> None:
    objects = rendered(overlay(tmp_path, image))
    job = named(objects, "Job", "migrate-0.2.0")
    assert main_container(job)["image"] == called
    assert [*the_version_is_one(objects), *images_are_pinned(objects)] == []


@pytest.mark.parametrize(
    "image", [{"newName": "ghcr.io/house/croupier", "digest": DIGEST}, {"newName": "cards", "newTag": "0.2.0"}], ids=str
)
def test_an_image_of_which_no_version_can_be_told_is_refused(image: Mapping[str, str], tmp_path: Path) -> None:
    with pytest.raises(CannotRehearse, match="index 1 is out of bounds"):
        rendered(overlay(tmp_path, image))
