"""The terminal shows recorded tables of every game in every language without words and numbers of programs."""

from collections.abc import Iterator

import pytest
from google.protobuf.message import Message

from croupier.cli.terminal.facts import fact_lines
from croupier.cli.terminal.screen import DisplayedTable, table_lines
from croupier.cli.terminal.sheets import detail_lines
from croupier.cli.terminal.texts import texts_in
from croupier.cli.terminal.words import Words, words_of
from croupier.engine.api.table_codec import encode_game
from croupier.games.interface import Game
from croupier.games.registry import GAMES
from croupier.runtime.translations import LANGUAGES
from croupier_api.v1 import engine_pb2, facts_pb2
from tests.games.toy import TOY
from tests.texts.recorded_games import NAMES, shown
from tests.texts.shown_texts import faults

WIDE = 10_000


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("game", [*GAMES.values(), TOY], ids=lambda game: game.id)
def test_every_text_is_for_people(game: Game, language: str) -> None:
    words = words_of(encode_game(game, language=language), NAMES, symbols=True, texts=texts_in(language))
    cards = [text for card in words.card_names() for text in card]
    # Some texts of a game have numbers, such as "exactly 101".
    named = [*NAMES, *cards, *(text for text in words.words.values() if "{" not in text)]
    found = {f"{text!r}: {fault}" for message, text in _texts(words, game) for fault in faults(text, message, named)}
    assert sorted(found) == []


def _texts(words: Words, game: Game) -> Iterator[tuple[Message, str]]:
    """Yield each message that is shown, with its text."""
    recorded = shown(game)
    for fact in recorded.facts:
        yield from ((fact, line) for line in fact_lines(words, [fact]))
        if fact.HasField("mark_changed") and fact.mark_changed.mark.HasField("value"):
            yield fact, words.mark(fact.mark_changed.mark)
        if fact.HasField("round_ended"):
            yield from _score_texts(words, fact.round_ended.score)
    for view in recorded.views:
        yield from (
            (pile, words.pile(pile.name, pile.owner if pile.HasField("owner") else None)) for pile in view.piles
        )
        yield from ((mark, words.mark(mark)) for mark in view.marks)
        yield view.contract, words.contract(view.contract)
        yield from ((call, words.call(call)) for call in view.calls)
        # Rows of seats begin with the numbers that people use for them.
        drawn = DisplayedTable("", view, engine_pb2.TurnClock(), None, 0)
        rows = [str(line) for line in table_lines(words, drawn, WIDE)]
        yield view, "\n".join([rows[0], *rows[2 + len(view.seats) :]])


def _score_texts(words: Words, score: facts_pb2.RoundScore) -> Iterator[tuple[Message, str]]:
    yield score, words.phrases(score.headline)
    yield from ((score, words.phrases(note.phrases)) for note in score.notes)
    yield from ((score, str(line)) for line in detail_lines(words, score, WIDE))
