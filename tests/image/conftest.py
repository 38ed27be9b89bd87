"""The image that `make image-test` names; without it these tests have nothing to look at."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.image.container import Image, opened

VARIABLE = "CROUPIER_IMAGE"


@pytest.fixture(scope="session")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    """The built image, with an empty data folder."""
    name = os.environ.get(VARIABLE)
    if name is None:
        pytest.skip(f"{VARIABLE} names no image: make image image-test builds one and looks at it")
    if os.getuid() != 0 or shutil.which("buildah") is None:
        pytest.skip("an image is opened by root, with buildah")
    data: Path = tmp_path_factory.mktemp("data")
    with opened(name, data) as built:
        yield built
