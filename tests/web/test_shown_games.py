"""The TypeScript sample shows recorded tables of every game in every language without words of programs."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

from clients.typescript.build import CLIENT, NODE, environment
from croupier.engine.api.table_codec import encode_game
from croupier.games.interface import Game
from croupier.games.registry import OWN_GAMES
from croupier.runtime.translations import LANGUAGES
from croupier_api.v1 import facts_pb2, games_pb2
from tests.games.toy import TOY
from tests.texts.recorded_games import NAMES, shown
from tests.texts.shown_texts import faults, missing_texts

pytestmark = [pytest.mark.gateway, pytest.mark.slow]
SECONDS = 120.0


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("game", [*OWN_GAMES.values(), TOY], ids=lambda game: game.id)
def test_every_text_is_for_people(game: Game, language: str, tmp_path: Path) -> None:
    description, recorded = encode_game(game, language=language), shown(game)
    messages: list[Message] = [*recorded.facts, *recorded.views]
    lines: list[dict[str, Any]] = [{"description": MessageToDict(description), "names": NAMES, "language": language}]
    lines += [{"facts": [MessageToDict(fact)]} for fact in recorded.facts]
    lines += [{"view": MessageToDict(view)} for view in recorded.views]
    named = [*NAMES, *texts_with_numbers(description)]
    answers = shown_by_client(lines, tmp_path / "recorded.jsonl")
    texts = {(word.kind, word.word): word.text for word in description.words}
    found, missing = set(), set()
    for message, answer in zip(messages, answers, strict=True):
        shown_texts = list(texts_in(answer))
        found |= {f"{text!r}: {fault}" for text in shown_texts for fault in faults(text, message, named)}
        if not is_removal(message):
            missing |= set(missing_texts(message, "\n".join(shown_texts), texts))
    assert (sorted(found), sorted(missing)) == ([], [])


def is_removal(message: Message) -> bool:
    """Return whether a message only removes a mark."""
    return isinstance(message, facts_pb2.Fact) and not message.mark_changed.mark.HasField("value")


def shown_by_client(lines: list[dict[str, Any]], path: Path) -> list[Any]:
    path.write_text("\n".join(map(json.dumps, lines)))
    with path.open() as recorded:
        command = [str(NODE), str(CLIENT / "dist" / "programs" / "shown.js")]
        done = subprocess.run(
            command, stdin=recorded, env=environment(), capture_output=True, text=True, timeout=SECONDS
        )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def texts_with_numbers(description: games_pb2.GameDescription) -> list[str]:
    """Return the texts of a game that stand as they are, some with numbers: "exactly 101", "red 7"."""
    labels = [text for face in description.deck for text in (face.label, face.notation)]
    return [*labels, *(word.text for word in description.words if "{" not in word.text)]


def texts_in(answer: Any) -> Iterator[str]:
    """Yield every text of an answer."""
    match answer:
        case str():
            yield answer
        case list():
            for part in answer:
                yield from texts_in(part)
        case dict():
            for part in answer.values():
                yield from texts_in(part)
