"""The image of `make image-test`."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.image.container import Image, opened
from tests.programs import missing, program

VARIABLE = "CROUPIER_TEST_IMAGE"


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
