"""Recorded tables replay fact by fact in every later version."""

import json
from pathlib import Path

import pytest

from croupier.games.registry import GAMES
from tests.games import dispatch
from tests.games.record import FOLDER, decode_event, facts_hash, facts_text, result

FILES = sorted(FOLDER.glob("*/*.jsonl"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_playthrough_replays_fact_by_fact(path: Path) -> None:
    header, *events, last = [json.loads(line) for line in path.read_text().splitlines()]
    game = GAMES[header["game"]]
    assert game.rules_version == header["rules_version"]
    state = game.new(header["seats"], header["options"])
    for number, line in enumerate(events, start=2):
        state, facts = dispatch.apply(state, decode_event(line))
        assert facts_hash(facts) == line["facts"], f"{path.name}:{number} now gives\n{facts_text(facts)}"
    assert result(state) == last
