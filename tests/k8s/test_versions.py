"""The version in names and labels is the tag of the image, with any registry and digest."""

from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from tests.k8s.building import BuildError, copied, rendered
from tests.k8s.objects import main_container, named
from tests.k8s.operation_policies import the_version_is_one

DIGEST = f"sha256:{'24a0c4b4' * 8}"

pytestmark = pytest.mark.cluster


def overlay(folder: Path, image: Mapping[str, str]) -> Path:
    """Return a copy of the production overlay with another image."""
    file = copied(folder)
    written = yaml.safe_load(file.read_text())
    written["images"][0] = {"name": "croupier", **image}
    file.write_text(yaml.safe_dump(written))
    return file.parent


@pytest.mark.parametrize(
    ("name", "digest", "called"),
    [
        ("ghcr.io/cards/croupier", {}, "ghcr.io/cards/croupier:0.2.0"),
        ("localhost:5000/croupier", {}, "localhost:5000/croupier:0.2.0"),
        ("ghcr.io/cards/croupier", {"digest": DIGEST}, f"ghcr.io/cards/croupier:0.2.0@{DIGEST}"),
    ],
    ids=["tag", "port", "digest"],
)
def test_the_version_is_the_tag(name: str, digest: dict[str, str], called: str, tmp_path: Path) -> None:
    objects = rendered(overlay(tmp_path, {"newName": name, "newTag": "0.2.0", **digest}))
    assert main_container(named(objects, "Job", "migrate-0.2.0"))["image"] == called
    assert list(the_version_is_one.check(objects)) == []


@pytest.mark.parametrize(
    "image", [{"newName": "ghcr.io/cards/croupier", "digest": DIGEST}, {"newName": "cards", "newTag": "0.2.0"}], ids=str
)
def test_an_image_without_a_version_is_refused(image: Mapping[str, str], tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="index 1 is out of bounds"):
        rendered(overlay(tmp_path, image))
