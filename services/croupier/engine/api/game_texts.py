"""The texts of a game in a language: its words, and its rules page. They are files beside the game."""

import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from croupier import games
from croupier.games.interface import Game
from croupier.games.words import SHARED_WORDS, WordKind
from croupier.runtime.translations import ENGLISH, Translations, read_translations

FOLDER = "texts"
SHARED = Path(str(games.__file__)).parent
"""The folder of the texts that all games share."""
SUMMARY, OPTION_MEANING, PROPOSAL_MEANING = "summary", "option_meaning", "proposal_meaning"
"""The contexts of texts that are no words; that of a word is its kind in lower case."""
_RULE = re.compile(r"\*\*([A-Z0-9]+(?:-[A-Z0-9]+)+[a-z]?)\*\*")


class Page(NamedTuple):
    """A rules page as Markdown, and its language."""

    markdown: str
    language: str


class GameTexts(NamedTuple):
    """The texts of a game in a language."""

    game: Game
    translations: Translations

    def text(self, context: str, english: str) -> str:
        """Return a text; in English if it has no translation."""
        return self.translations.get((context, english), english)

    def words(self) -> Iterator[tuple[WordKind, str, str]]:
        """Yield kind, word and text of each word, ordered by kind; a text of the game replaces a shared one."""
        for kind in WordKind:
            english = {**SHARED_WORDS.get(kind, {}), **self.game.words.get(kind, {})}
            for word, text in english.items():
                yield kind, word, self.text(kind.name.lower(), text)


def texts_of(game: Game, language: str) -> GameTexts:
    """Return the texts of a game in one of LANGUAGES; its own translations come before the shared ones."""
    return GameTexts(game, {**catalogue(SHARED, language), **catalogue(_folder(game), language)})


@lru_cache(maxsize=64)
def catalogue(folder: Path, language: str) -> Translations:
    """Return the translations of a package into a language; none into English."""
    return read_translations(folder / FOLDER / f"words.{language}.po") if language != ENGLISH else {}


def rules_page(game: Game, language: str) -> Page:
    """Return the rules page of a game in a language, else in English; an empty one if it has none.

    An earlier version of a game's rules has a package of its own, and so a page of its own.
    """
    for known in (language, ENGLISH):
        page = _folder(game) / FOLDER / f"rules.{known}.md"
        if page.is_file():
            return Page(_RULE.sub(r'<a id="\1"></a>**\1**', page.read_text(encoding="utf-8")), known)
    return Page("", language)


def _folder(game: Game) -> Path:
    """Return the folder of the module that defines a game."""
    return Path(str(sys.modules[type(game).__module__].__file__)).parent
