"""Computer players at a client's side know just what those in the engine know."""

import os
from itertools import islice
from random import Random
from typing import TypeAlias

import pytest

from croupier.cli.bot_player import BotPlayer, read_legal, read_view
from croupier.engine.codec import decode_action, encode_legal, encode_options
from croupier.engine.fact_codec import encode_view
from croupier.games.catalogue import GAMES
from croupier.games.interface import OptionValue, SeatsToAct, State
from croupier_api.v1 import table_pb2 as pb
from croupier_client.table import Table
from tests.games.walk import sample_options, viewers, walk

SEED = os.environ.get("CROUPIER_TEST_SEED", str(Random().randrange(2**32)))
EVENTS = 60
Options: TypeAlias = dict[str, OptionValue]


def some_states(game_id: str, seats: int, options: Options | None = None) -> list[State]:
    print(f"CROUPIER_TEST_SEED={SEED} .venv/bin/pytest tests/cli/test_bot_player.py")
    random, game = Random(f"{SEED} {game_id} {seats}"), GAMES[game_id]
    state = game.new(seats, options or sample_options(game, seats, random))
    return [step.after for step in islice(walk(game, state, random), EVENTS)]


def usual(game_id: str) -> tuple[Options, pb.TableInfo]:
    """The default options of a table with the fewest seats, and what a client knows of it."""
    seats = GAMES[game_id].seats.start
    options = {option.name: option.default for option in GAMES[game_id].options(seats)}
    return options, pb.TableInfo(game=game_id, options=encode_options(options), seats=[pb.SeatInfo()] * seats)


@pytest.mark.parametrize("game_id", GAMES)
def test_a_view_is_read_as_it_was_written(game_id: str) -> None:
    for seats in GAMES[game_id].seats:
        for state in some_states(game_id, seats):
            for viewer in viewers(seats):
                assert read_view(encode_view(state.view(viewer))) == state.view(viewer)
            for seat in range(seats):
                assert read_legal(encode_legal(state.legal_actions(seat))) == state.legal_actions(seat)


@pytest.mark.parametrize("game_id", GAMES)
def test_it_decides_by_its_own_chance_what_is_legal(game_id: str) -> None:
    options, info = usual(game_id)
    for state in some_states(game_id, len(info.seats), options):
        if isinstance(state.awaiting, SeatsToAct):
            table = Table("a table")
            table.seat = state.awaiting.seats[0]
            table.view, legal = encode_view(state.view(table.seat)), state.legal_actions(table.seat)
            table.legal_actions = encode_legal(legal)
            decided, again = (BotPlayer(info, Random(SEED)).decide(table) for _ in range(2))
            assert decided == again
            assert decode_action(decided) in legal.actions or legal.choices


def test_a_spectator_decides_nothing() -> None:
    with pytest.raises(ValueError, match="nothing to decide"):
        BotPlayer(usual("thulla")[1], Random(SEED)).decide(Table("a table"))
