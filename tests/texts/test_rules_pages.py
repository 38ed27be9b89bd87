"""The rules page of each game has the same form in every language: rules, code, headings and tables."""

import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from croupier.engine.api.game_texts import FOLDER, rules_page
from croupier.games.interface import Game
from croupier.games.registry import OWN_GAMES
from croupier.runtime.translations import ENGLISH
from tests.texts.catalogues import TRANSLATED

WIDTH = 100
RULE = re.compile(r"\*\*([A-Z0-9]+(?:-[A-Z0-9]+)+[a-z]?)\*\*")
CODE = re.compile(r"`[^`]+`")

every_game = pytest.mark.parametrize("game", OWN_GAMES.values(), ids=lambda game: game.id)


def page(game: Game, language: str) -> str:
    folder = Path(str(sys.modules[type(game).__module__].__file__)).parent / FOLDER
    return (folder / f"rules.{language}.md").read_text(encoding="utf-8")


@every_game
@pytest.mark.parametrize("language", TRANSLATED)
def test_a_translated_page_has_the_form_of_the_english_one(game: Game, language: str) -> None:
    english, translated = page(game, ENGLISH), page(game, language)
    assert RULE.findall(translated) == RULE.findall(english)
    assert headings(translated) == headings(english)
    assert rows(translated) == rows(english)
    assert Counter(codes(translated)) == Counter(codes(english))


def headings(text: str) -> list[int]:
    """Return the levels of the headings."""
    return [len(line.partition(" ")[0]) for line in text.splitlines() if line.startswith("#")]


def rows(text: str) -> list[int]:
    """Return the number of columns of each row of a table."""
    return [line.count("|") for line in text.splitlines() if line.startswith("|")]


def codes(text: str) -> list[str]:
    """Return the code spans, those that are broken at the end of a line in one."""
    return [" ".join(code.split()) for code in CODE.findall(text)]


@every_game
@pytest.mark.parametrize("language", [ENGLISH, *TRANSLATED])
def test_lines_are_short_and_end_without_blanks(game: Game, language: str) -> None:
    for line in page(game, language).splitlines():
        assert line == line.rstrip()
        assert len(line) <= WIDTH or line.startswith("|"), line


@every_game
@pytest.mark.parametrize("language", [ENGLISH, *TRANSLATED])
def test_each_rule_has_one_anchor(game: Game, language: str) -> None:
    shown = rules_page(game, language)
    assert shown.language == language
    anchors = re.findall(r'<a id="([^"]+)"></a>', shown.markdown)
    assert anchors == RULE.findall(page(game, language))
    assert len(set(anchors)) == len(anchors)
