"""The image of `make image-test`."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.image.container import Image, opened
from tests.programs import missing, program

VARIABLE = "CROUPIER_TEST_IMAGE"
PACKAGES = """
import json
from croupier.games.registry import OWN, registry
print(json.dumps({game: package for game, package in registry().packages.items() if package != OWN}))
"""


@pytest.fixture(scope="session")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    """Return the built image, with an empty data folder."""
    name = os.environ.get(VARIABLE)
    if name is None:
        missing(f"{VARIABLE} names no image: make image image-test")
    program("buildah", install="apt-get install buildah")
    if os.getuid() != 0:
        missing("an image is opened by root")
    data: Path = tmp_path_factory.mktemp("data")
    with opened(name, data) as built:
        yield built


@pytest.fixture(scope="session")
def games_of_packages(image: Image) -> Mapping[str, str]:
    """Return the package, with its version, of each game of the image that is not croupier's own."""
    code, output = image.run_python(PACKAGES)
    assert code == 0, output
    packages: Mapping[str, str] = json.loads(output)
    return packages
