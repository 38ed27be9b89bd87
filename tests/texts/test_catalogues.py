"""Every catalogue of translations has every text, with the same placeholders, and nothing else."""

import re

import pytest

from tests.texts.catalogues import Catalogue, catalogues, read

PLACEHOLDER = re.compile(r"\{\w*\}")

every_catalogue = pytest.mark.parametrize("catalogue", list(catalogues()), ids=lambda catalogue: catalogue.name)


@every_catalogue
def test_no_translation_is_missing_or_left_over(catalogue: Catalogue) -> None:
    messages = read(catalogue)
    assert sorted(set(catalogue.texts) - set(messages)) == [], "run python -m tests.texts.catalogues, and translate"
    assert sorted(set(messages) - set(catalogue.texts)) == [], "run python -m tests.texts.catalogues"
    assert [key for key, message in messages.items() if not message.string or message.fuzzy] == [], "translate these"


@every_catalogue
def test_placeholders_stay(catalogue: Catalogue) -> None:
    for (_, english), message in read(catalogue).items():
        assert sorted(PLACEHOLDER.findall(message.string)) == sorted(PLACEHOLDER.findall(english)), english


@every_catalogue
def test_texts_begin_and_end_as_the_english_ones(catalogue: Catalogue) -> None:
    for (_, english), message in read(catalogue).items():
        translation = str(message.string)
        assert translation == translation.strip()
        assert english.endswith(".") == translation.endswith("."), english
