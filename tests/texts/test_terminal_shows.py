"""The terminal shows recorded tables of every game in every language without words and numbers of programs."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from google.protobuf.message import Message

from croupier.cli.terminal.facts import fact_lines
from croupier.cli.terminal.screen import DisplayedTable, table_lines
from croupier.cli.terminal.sheets import detail_lines
from croupier.cli.terminal.texts import texts_in
from croupier.cli.terminal.words import Words, words_of
from croupier.engine.api.table_codec import encode_game
from croupier.games.interface import Game
from croupier.games.registry import OWN_GAMES
from croupier.runtime.translations import LANGUAGES
from croupier_api.v1 import engine_pb2, facts_pb2
from tests.games.toy import TOY
from tests.texts.recorded_games import NAMES, shown
from tests.texts.shown_texts import faults, missing_texts

WIDE = 10_000


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("game", [*OWN_GAMES.values(), TOY], ids=lambda game: game.id)
def test_every_text_is_for_people(game: Game, language: str) -> None:
    words = words_of(encode_game(game, language=language), NAMES, symbols=True, texts=texts_in(language))
    cards = [text for card in words.card_names() for text in card]
    # Some texts of a game have numbers, such as "exactly 101".
    named = [*NAMES, *cards, *(text for text in words.words.values() if "{" not in text)]
    found, missing = set(), set()
    for message, texts in _texts(words, game):
        found |= {f"{text!r}: {fault}" for text in texts for fault in faults(text, message, named)}
        missing |= set(missing_texts(message, "\n".join(texts), words.words)) if texts else set()
    assert (sorted(found), sorted(missing)) == ([], [])


def _texts(words: Words, game: Game) -> Iterator[tuple[Message, list[str]]]:
    """Yield each message that is shown, with its texts."""
    recorded = shown(game)
    for fact in recorded.facts:
        texts = fact_lines(words, [fact])
        if fact.mark_changed.mark.HasField("value"):
            texts.append(words.mark(fact.mark_changed.mark))
        yield fact, texts + _score_texts(words, fact.round_ended.score)
    for view in recorded.views:
        # Rows of seats begin with the numbers that people use for them.
        rows = [
            str(line) for line in table_lines(words, DisplayedTable("", view, engine_pb2.TurnClock(), None, 0), WIDE)
        ]
        yield view, ["\n".join([rows[0], *rows[2 + len(view.seats) :]]), *_mark_texts(words, view)]


def _mark_texts(words: Words, view: facts_pb2.TableView) -> list[str]:
    """Return the marks of seats, which stand in the rows of the seats."""
    return [words.mark(mark) for mark in view.marks if mark.HasField("seat")]


def _score_texts(words: Words, score: facts_pb2.RoundScore) -> list[str]:
    seated = replace(words, names=words.names[: len(score.points)])
    return list(map(str, detail_lines(seated, score, WIDE))) if score.round else []
