"""The catalogues of translations, and the texts that each of them has to have.

`python -m tests.texts.catalogues` writes them again: it adds texts that are missing, without translation, and removes
those that are not used any more.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

import croupier.cli
from croupier.cli.terminal.refusals import REFUSALS
from croupier.engine.api.game_texts import FOLDER, OPTION_MEANING, PROPOSAL_MEANING, SHARED, SUMMARY
from croupier.engine.api.reactions import CONTEXT as REACTION
from croupier.engine.api.reactions import REACTIONS
from croupier.games.interface import Game
from croupier.games.registry import OWN_GAMES
from croupier.games.words import SHARED_WORDS, WordKind, Words
from croupier.runtime.translations import ENGLISH, LANGUAGES
from tests.games.toy import TOY

TRANSLATED = [language for language in LANGUAGES if language != ENGLISH]
CLI = Path(str(croupier.cli.__file__)).parent
HEADER = """# Translations of texts. A placeholder in braces stays as it is.
msgid ""
msgstr ""
"Language: {language}\\n"
"Content-Type: text/plain; charset=utf-8\\n"

"""
Key = tuple[str, str]
"""The context and the English text."""


class Catalogue(NamedTuple):
    """A catalogue in a language, and the texts that it has to have."""

    path: Path
    language: str
    texts: tuple[Key, ...]

    @property
    def name(self) -> str:
        """The path in short."""
        return "/".join(self.path.parts[-3:])


def catalogues() -> Iterator[Catalogue]:
    """Yield every catalogue."""
    for language in TRANSLATED:
        yield Catalogue(CLI / FOLDER / f"terminal.{language}.po", language, tuple(_terminal_texts()))
        yield Catalogue(SHARED / FOLDER / f"words.{language}.po", language, tuple(_shared_texts()))
        for game in (*OWN_GAMES.values(), TOY):
            folder = Path(str(sys.modules[type(game).__module__].__file__)).parent
            texts = dict.fromkeys(_game_texts(game))
            own = tuple(key for key in texts if key not in set(_shared_texts()))
            yield Catalogue(folder / FOLDER / f"words.{language}.po", language, own)


def _terminal_texts() -> Iterator[Key]:
    """Yield the texts of all calls of `tr`, which Babel does not find where they are in other strings."""
    texts = [text for path in sorted(CLI.rglob("*.py")) for text in _translated(ast.parse(path.read_text()))]
    yield from dict.fromkeys(("", text) for text in (*texts, *REFUSALS.values()))


def _translated(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Attribute(attr="tr") | ast.Name(id="tr"), [ast.Constant(str() as text), *_]):
                yield text
            case ast.Call(ast.Attribute(attr="tr") | ast.Name(id="tr"), [ast.Starred() | ast.Name(), *_]):
                # A function that passes on what it is called with.
                continue
            case ast.Call(ast.Attribute(attr="tr") | ast.Name(id="tr")):
                raise ValueError(f"line {node.lineno}: tr is called with another text than a string")


def _shared_texts() -> Iterator[Key]:
    yield from _words(SHARED_WORDS)
    yield from ((REACTION, texts.text) for texts in REACTIONS.values())


def _game_texts(game: Game) -> Iterator[Key]:
    yield SUMMARY, game.summary
    yield from _words(game.words)
    yield from ((WordKind.CARD.name.lower(), face.label) for face in game.deck if face.label)
    for seats in game.seats:
        yield from ((OPTION_MEANING, option.meaning) for option in game.options(seats))
    yield from ((PROPOSAL_MEANING, meaning) for meaning in game.proposals.values())


def _words(words: Words) -> Iterator[Key]:
    for kind, texts in words.items():
        yield from ((kind.name.lower(), text) for text in texts.values())


def read(catalogue: Catalogue) -> dict[Key, Any]:
    """Return the messages of a catalogue as it is stored."""
    if not catalogue.path.is_file():
        return {}
    with catalogue.path.open("rb") as file:
        return {(message.context or "", str(message.id)): message for message in read_po(file) if message.id}


def write(catalogue: Catalogue) -> None:
    """Write a catalogue again, with the translations that it has."""
    known = read(catalogue)
    written = Catalog(locale=catalogue.language, fuzzy=False)
    for context, text in catalogue.texts:
        translation = known[context, text].string if (context, text) in known else ""
        written.add(text, translation, context=context or None)
    catalogue.path.parent.mkdir(exist_ok=True)
    with catalogue.path.open("wb") as file:
        file.write(HEADER.format(language=catalogue.language).encode())
        # The header of Babel has dates and addresses.
        write_po(file, written, width=100, no_location=True, omit_header=True)


if __name__ == "__main__":
    for each in catalogues():
        write(each)
