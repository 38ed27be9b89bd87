"""Texts of games in languages: words, descriptions and rules pages, and the call for a page."""

import re
import sys
from pathlib import Path
from types import MappingProxyType, ModuleType

import pytest

from croupier.engine.api.game_texts import rules_page, texts_of
from croupier.engine.api.servicer import EngineServicer
from croupier.engine.api.table_codec import encode_game
from croupier.games.cards import OWN_CARDS, CardFace
from croupier.games.interface import Game, Option
from croupier.games.registry import OWN_GAMES
from croupier.games.words import WordKind
from croupier.runtime.errors import MalformedRequest, Unavailable
from croupier.runtime.translations import ENGLISH, LANGUAGES
from croupier_api.v1 import engine_pb2, games_pb2
from tests.calls import call_of
from tests.conventions.test_games_are_whole import DEFINITION
from tests.engine.fakes import EngineHarness
from tests.games.toy import Toy

ANCHOR = re.compile(r'<a id="([^"]*)"></a>\*\*\1\*\*')
CATALOGUE = """
msgctxt "summary"
msgid "Lay all your cards."
msgstr "Legg alle kortene."

msgctxt "term"
msgid "round"
msgstr "omgang"

msgctxt "phrase"
msgid "bid {bid}"
msgstr "meldte {bid}"

#, fuzzy
msgctxt "mark"
msgid "trump"
msgstr "kløver"

msgctxt "card"
msgid "the Old"
msgstr "Gamla"

msgctxt "option_meaning"
msgid "how many"
msgstr "hvor mange"

msgctxt "proposal_meaning"
msgid "All play again."
msgstr "Alle spiller igjen."
"""


class OwnGame(Toy):
    """A game whose module is in a folder of the test."""

    __module__ = "own_game"

    summary = "Lay all your cards."
    words = MappingProxyType(
        {WordKind.PHRASE: {"bid": "bid {bid}"}, WordKind.MARK: {"trump": "trump"}, WordKind.TERM: {"partner": "ally"}}
    )
    deck = (CardFace(OWN_CARDS[0], "R1", "red", "1", "the Old"),)
    proposals = MappingProxyType({"again": "All play again."})

    def options(self, seats: int) -> tuple[Option, ...]:
        return (Option("rounds", 1, range(1, 9), "how many"),)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the texts of OwnGame."""
    module = ModuleType("own_game")
    module.__file__ = str(tmp_path / "__init__.py")
    monkeypatch.setitem(sys.modules, "own_game", module)
    (tmp_path / "texts").mkdir()
    return tmp_path / "texts"


def words_in(game: Game, language: str) -> dict[tuple[int, str], str]:
    return {(word.kind, word.word): word.text for word in encode_game(game, language=language).words}


def test_texts_are_those_of_the_catalogue_and_english_without_one(folder: Path) -> None:
    (folder / "words.nb.po").write_text(CATALOGUE)
    game = OwnGame()
    described = encode_game(game, language="nb")
    words = words_in(game, "nb")
    assert words[games_pb2.WORD_KIND_PHRASE, "bid"] == "meldte {bid}"
    # A shared word that this game's catalogue has too, one that nobody is sure of, and one without translation.
    assert words[games_pb2.WORD_KIND_TERM, "round"] == "omgang"
    assert words[games_pb2.WORD_KIND_MARK, "trump"] == "trump"
    assert words[games_pb2.WORD_KIND_TERM, "partner"] == "ally"
    assert described.summary == "Legg alle kortene."
    assert described.deck[0].label == "Gamla"
    assert described.options[0].meaning == "hvor mange"
    assert described.proposals[0].meaning == "Alle spiller igjen."
    english = encode_game(game, language="ru")
    assert words_in(game, "ru")[games_pb2.WORD_KIND_PHRASE, "bid"] == "bid {bid}"
    assert (english.summary, english.deck[0].label) == ("Lay all your cards.", "the Old")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("game", OWN_GAMES.values(), ids=list(OWN_GAMES))
def test_a_language_changes_texts_alone(game: Game, language: str) -> None:
    english, described = encode_game(game), encode_game(game, language=language)
    assert words_in(game, language).keys() == words_in(game, ENGLISH).keys()
    texts = texts_of(game, language)
    assert described.summary == texts.text("summary", game.summary)
    for message in (english, described):
        message.ClearField("summary")
        message.ClearField("words")
        for part in (*message.options, *message.proposals):
            part.ClearField("meaning")
        for face in message.deck:
            face.ClearField("label")
    assert english == described


@pytest.mark.parametrize("game", OWN_GAMES.values(), ids=list(OWN_GAMES))
def test_a_page_has_an_anchor_before_each_rule_and_is_else_as_it_is_stored(game: Game) -> None:
    folder = Path(str(sys.modules[type(game).__module__].__file__)).parent / "texts"
    for language in LANGUAGES:
        page = rules_page(game, language)
        stored = (folder / f"rules.{page.language}.md").read_text()
        defined = DEFINITION.findall(stored)
        assert set(defined) <= set(ANCHOR.findall(page.markdown))
        assert page.markdown.count("<a id=") == len(set(ANCHOR.findall(page.markdown)))
        assert ANCHOR.sub(r"**\1**", page.markdown) == stored


def test_a_page_is_english_if_there_is_no_other_and_says_so(folder: Path) -> None:
    (folder / "rules.en.md").write_text("- **OWN-A-1** Play a card.\n")
    (folder / "rules.nb.md").write_text("- **OWN-A-1** Spill et kort.\n")
    game = OwnGame()
    assert rules_page(game, "nb") == ('- <a id="OWN-A-1"></a>**OWN-A-1** Spill et kort.\n', "nb")
    assert rules_page(game, "ru") == ('- <a id="OWN-A-1"></a>**OWN-A-1** Play a card.\n', "en")


@pytest.fixture
def servicer(engine: EngineHarness) -> EngineServicer:
    return engine.servicer(engine.tables())


async def rules(servicer: EngineServicer, **fields: object) -> engine_pb2.GetRulesResponse:
    request = engine_pb2.GetRulesRequest(**fields)  # type: ignore[arg-type]
    return await servicer.GetRules(request, call_of("p1"))


@pytest.mark.parametrize(
    ("asked", "language"), [("", "en"), ("en", "en"), ("no", "nb"), ("nb-NO", "nb"), ("ru_RU", "ru"), ("xx", "en")]
)
async def test_the_rules_of_a_game_are_in_the_language_and_in_english_for_an_unknown_one(
    servicer: EngineServicer, asked: str, language: str
) -> None:
    game = OWN_GAMES["thulla"]
    answer = await rules(servicer, game="thulla", language=asked)
    assert (answer.markdown, answer.language) == rules_page(game, language)
    assert (answer.language, answer.rules_version) == (language, game.rules_version)
    assert await rules(servicer, game="thulla", language=asked, rules_version=game.rules_version) == answer


REFUSED: dict[str, tuple[dict[str, object], str, str, str]] = {
    "a game": ({"game": "chess"}, "UNKNOWN_GAME", "game", "invalid game 'chess': expected one of "),
    "a version": ({"game": "thulla", "rules_version": 999}, "UNKNOWN_GAME", "rules_version", "999"),
}


@pytest.mark.parametrize(("fields", "reason", "field", "message"), REFUSED.values(), ids=REFUSED)
async def test_unknown_rules_are_refused_with_those_that_exist(
    servicer: EngineServicer, engine: EngineHarness, fields: dict[str, object], reason: str, field: str, message: str
) -> None:
    with pytest.raises(MalformedRequest) as refusal:
        await rules(servicer, **fields)
    assert (refusal.value.reason_name, refusal.value.field) == (reason, field)
    assert message in refusal.value.message
    assert "expected" in refusal.value.message
    # Another engine may know them: it is of a newer version.
    engine.liveness_store.others = [None]
    with pytest.raises(Unavailable) as later:
        await rules(servicer, **fields)
    assert later.value.reason_name == "TABLE_TOO_NEW"
    assert later.value.retry_after_seconds
