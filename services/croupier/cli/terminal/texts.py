"""The texts of the terminal in the language of a person; English is the key of each text."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from croupier.runtime.translations import ENGLISH, Translations, language_of, read_translations

FOLDER = Path(__file__).parents[1] / "texts"
VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")
"""The environment variables that name a language, first the one that counts most."""


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts in a language. Verbs of actions are the first word of their texts, since a person may type them."""

    language: str = ENGLISH
    translations: Translations = field(default_factory=dict)

    def tr(self, english: str, /, **values: object) -> str:
        """Return a text, with values in place of its placeholders."""
        return self.translations.get(("", english), english).format_map(values)


def texts_in(language: str) -> Texts:
    """Return the texts in the language of a tag, as `language_of` reads it."""
    known = language_of(language)
    return Texts(known, read_translations(FOLDER / f"terminal.{known}.po"))


def language_of_environment(environment: Mapping[str, str]) -> str:
    """Return the tag of the language that the environment names; English without one."""
    return next((tag for name in VARIABLES if (tag := environment.get(name))), ENGLISH)
