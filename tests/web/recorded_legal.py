"""Legal actions at random tables as the engine encodes them, each with one that a player takes, for TypeScript."""

import json
from base64 import b64encode
from collections.abc import Iterator
from itertools import islice
from random import Random

from google.protobuf.message import Message

from croupier.conformance.tables import sample_options
from croupier.conformance.walks import walk
from croupier.engine.api.action_codec import encode_action, encode_legal
from croupier.games.interface import Game, SeatActed
from croupier.games.registry import OWN_GAMES
from tests.games import dispatch
from tests.games.toy import TOY

EVENTS = 300


def recorded_legal(seed: str) -> str:
    """Return a JSON array of the legal actions at a table of each game with each number of seats, and of the toy."""
    games = (*OWN_GAMES.values(), TOY)
    return json.dumps([turn for game in games for turn in _turns(game, Random(f"{seed} {game.id}"))])


def _turns(game: Game, random: Random) -> Iterator[dict[str, str]]:
    for seats in game.seats:
        state = game.new(seats, sample_options(game, seats, random))
        for before, event, _, _ in islice(walk(game, state, random), EVENTS):
            if isinstance(event, SeatActed):
                legal = encode_legal(dispatch.legal_actions(before, event.seat))
                yield {"game": game.id, "legal": _base64(legal), "action": _base64(encode_action(event.action))}


def _base64(message: Message) -> str:
    return b64encode(message.SerializeToString()).decode()
