"""Languages, and catalogues of translations in the format of gettext: one file for each language.

English is the key of every text, so it has no catalogue, and is the text wherever a translation is missing.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from babel.messages.pofile import read_po

ENGLISH = "en"
LANGUAGES = (ENGLISH, "nb", "ru")
"""English, Norwegian bokmål and Russian."""
_SIMILAR = MappingProxyType({"no": "nb", "nn": "nb"})
"""Norwegian without further name, and nynorsk, whose readers read bokmål."""
_SEPARATOR = re.compile(r"[-_.@]")
"""Of the language in a tag from region, encoding and variant."""
Translations = Mapping[tuple[str, str], str]
"""The translation of each text, by its context and its English text."""


def language_of(tag: str) -> str:
    """Return the language of a tag such as "ru", "nb-NO" or "ru_RU.UTF-8"; English for any other one."""
    first = _SEPARATOR.split(tag, maxsplit=1)[0].lower()
    language = _SIMILAR.get(first, first)
    return language if language in LANGUAGES else ENGLISH


def read_translations(catalogue: Path) -> Translations:
    """Return the translations of a catalogue; none if there is no such file."""
    if not catalogue.is_file():
        return {}
    with catalogue.open("rb") as file:
        messages = read_po(file)
    # A message that a translator is not sure of is none yet.
    known = (message for message in messages if message.id and message.string and not message.fuzzy)
    return {(message.context or "", str(message.id)): str(message.string) for message in known}
