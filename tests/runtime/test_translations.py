"""Languages, and catalogues of translations."""

from pathlib import Path

import pytest

from croupier.runtime.translations import language_of, read_translations

CATALOGUE = """
msgid ""
msgstr ""
"Language: nb\\n"
"Content-Type: text/plain; charset=utf-8\\n"

msgid "yes"
msgstr "ja"

msgctxt "phrase"
msgid "bid {bid}"
msgstr "meldte {bid} {0.__class__} %s"

msgctxt "mark"
msgid "bid {bid}"
msgstr "melding {bid}"

#, fuzzy
msgid "no"
msgstr "kanskje"

msgid "unknown"
msgstr ""
"""


@pytest.mark.parametrize(
    ("tag", "language"),
    [
        *((tag, "nb") for tag in ("nb", "nb_NO.UTF-8", "nb-NO", "NB", "no", "no_NO", "nn", "nn-NO", "nb.UTF-8")),
        *((tag, "ru") for tag in ("ru", "ru-RU", "ru_RU.KOI8-R", "ru.UTF-8", "ru@variant")),
        *((tag, "en") for tag in ("en", "en_GB.UTF-8", "C", "C.UTF-8", "POSIX", "xx", "", "-", "rus", "nbx", "../ru")),
    ],
)
def test_a_tag_has_its_language_and_any_other_one_is_english(tag: str, language: str) -> None:
    assert language_of(tag) == language


def test_translations_are_by_context_and_text_and_fuzzy_or_empty_ones_are_none(tmp_path: Path) -> None:
    file = tmp_path / "words.nb.po"
    file.write_text(CATALOGUE, encoding="utf-8")
    assert read_translations(file) == {
        ("", "yes"): "ja",
        # Texts are read as they are: placeholders are for those who show them.
        ("phrase", "bid {bid}"): "meldte {bid} {0.__class__} %s",
        ("mark", "bid {bid}"): "melding {bid}",
    }


def test_a_catalogue_that_is_missing_has_no_translations(tmp_path: Path) -> None:
    assert read_translations(tmp_path / "words.nb.po") == {}
