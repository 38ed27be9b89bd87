"""Random tables as the engine encodes them for each viewer, for the TypeScript client's fold."""

import json
from base64 import b64encode
from collections.abc import Iterator
from functools import partial
from itertools import islice
from random import Random
from typing import Any

from google.protobuf.message import Message

from croupier.conformance.fold import facts_for, known_view
from croupier.conformance.tables import sample_options
from croupier.conformance.walks import viewers, walk
from croupier.engine.api.fact_codec import encode_fact, encode_view
from croupier.games.facts import ALL_SEATS, Viewer
from croupier.games.interface import Game, State
from croupier.games.registry import OWN_GAMES
from croupier_api.v1.engine_pb2 import Snapshot, TableUpdate
from tests.client.vectors import NAMES
from tests.games.toy import TOY

EVENTS = 150


def recorded_views(seed: str) -> str:
    """Return a JSON array with a table of each game, and of the toy, as each of its viewers receives it."""
    return json.dumps(
        [table for game in (*OWN_GAMES.values(), TOY) for table in _tables(game, Random(f"{seed} {game.id}"))]
    )


def _tables(game: Game, random: Random) -> Iterator[dict[str, Any]]:
    seats = max(game.seats)
    state = game.new(seats, sample_options(game, seats, random))
    transitions = list(islice(walk(game, state, random), EVENTS))
    for viewer in (*viewers(seats), ALL_SEATS):
        steps = [
            {
                "update": _base64(TableUpdate(facts=map(encode_fact, facts_for(transition.facts, viewer)))),
                "after": _snapshot(game, transition.after, seats, viewer),
            }
            for transition in transitions
        ]
        before = _snapshot(game, state, seats, viewer)
        yield {"game": game.id, "viewer": NAMES.get(viewer, viewer), "before": before, "steps": steps}


def _snapshot(game: Game, state: State, seats: int, viewer: Viewer) -> str:
    return _base64(Snapshot(view=encode_view(known_view(partial(game.view, state), seats, viewer))))


def _base64(message: Message) -> str:
    return b64encode(message.SerializeToString()).decode()
