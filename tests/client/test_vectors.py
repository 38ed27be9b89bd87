"""The golden vectors are those that the recorder writes today, and the Python client's fold passes them."""

import json
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict, ParseDict

from croupier.games.interface import Game
from croupier_api.v1 import facts_pb2
from croupier_client import Viewer, fold
from tests.client.vectors import FOLDER, GAMES_WITH_VECTORS, vectors

SPECIAL: dict[Any, Viewer] = {"spectator": None, "all": "all"}


@pytest.mark.parametrize("game", GAMES_WITH_VECTORS, ids=lambda game: game.id)
def test_the_vectors_are_up_to_date(game: Game) -> None:
    """A failure means that rules or facts have changed: run `python -m tests.client.vectors` if that was intended."""
    assert (FOLDER / f"{game.id}.jsonl").read_text(encoding="utf-8") == vectors(game)


def test_every_file_belongs_to_a_game() -> None:
    assert {path.stem for path in FOLDER.glob("*.jsonl")} == {game.id for game in GAMES_WITH_VECTORS}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.jsonl")), ids=lambda path: path.stem)
def test_folded_facts_are_the_views(path: Any) -> None:
    view, viewer, viewers, checked = facts_pb2.TableView(), None, set(), 0
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        fields = json.loads(line)
        if "viewer" in fields:
            viewer = SPECIAL.get(fields["viewer"], fields["viewer"])
            viewers.add(viewer)
            view = ParseDict(fields["view"], facts_pb2.TableView())
            continue
        view = fold(view, [ParseDict(fact, facts_pb2.Fact()) for fact in fields["facts"]], viewer)
        if "view" in fields:
            checked += 1
            assert MessageToDict(view, preserving_proto_field_name=True) == fields["view"], f"{path.name}:{number}"
    assert {None, 0, 1, "all"} <= viewers
    assert checked > len(viewers)
