"""The pictures of the docs: each that a page shows exists and has an alternative text, and each is shown."""

import re
from pathlib import Path

import pytest

from tests.web.pictures import ROOT, SHOWN, SHOWN_IN, every_picture, shown_pictures

MAX_BYTES = 60_000
MAX_BYTES_OF_ALL = 2_500_000
FILES = sorted((ROOT / "docs" / "pictures").iterdir())


def test_every_picture_is_shown_and_every_shown_one_exists() -> None:
    assert {path.name for path in FILES} == {f"{name}.webp" for name in shown_pictures()}


def test_the_command_makes_every_shown_picture() -> None:
    assert shown_pictures() - {"beside"} <= every_picture()


@pytest.mark.parametrize("page", SHOWN_IN, ids=lambda page: page.name)
def test_shown_pictures_have_alternative_texts(page: Path) -> None:
    text = page.read_text()
    described = re.findall(rf"!\[[^\]]{{10,}}\]\((?:docs/)?{SHOWN.pattern}\)", text)
    assert len(described) == len(SHOWN.findall(text))


def test_pictures_are_small() -> None:
    sizes = {path.name: path.stat().st_size for path in FILES}
    assert max(sizes.values()) < MAX_BYTES, sizes
    assert sum(sizes.values()) < MAX_BYTES_OF_ALL
