"""Legal actions at random tables as the engine encodes them, each with one that a player takes, for TypeScript."""

import json
from base64 import b64encode
from collections.abc import Iterator
from random import Random

from google.protobuf.message import Message

from croupier.conformance.tables import SampledTable, sample_options, styles
from croupier.engine.api.action_codec import encode_action, encode_legal
from croupier.games.interface import Game, SeatActed
from croupier.games.registry import OWN_GAMES
from tests.games.toy import TOY
from tests.installed_packages import example_games

EVENTS = 300


def recorded_legal(seed: str) -> str:
    """Return a JSON array of the legal actions at tables of each game, of the toy and of the examples."""
    games = (*OWN_GAMES.values(), TOY, *example_games())
    return json.dumps([turn for game in games for turn in _turns(game, Random(f"{seed} {game.id}"))])


def _turns(game: Game, random: Random) -> Iterator[dict[str, str]]:
    for seats, style in ((number, style) for number in game.seats for style in styles(game, number)):
        options = sample_options(game, seats, random)
        table = SampledTable(game, seats, game.new(seats, options), options, random, style)
        for before, event, _, _ in table.some_transitions(EVENTS):
            if isinstance(event, SeatActed):
                legal = encode_legal(game.legal_actions(before, event.seat))
                yield {"game": game.id, "legal": _base64(legal), "action": _base64(encode_action(event.action))}


def _base64(message: Message) -> str:
    return b64encode(message.SerializeToString()).decode()
