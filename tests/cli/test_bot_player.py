"""Computer players at a client's side know just what those in the engine know."""

import os
from random import Random

import pytest

from croupier.cli.bot_player import BotPlayer, read_legal, read_view
from croupier.engine.codec import decode_action, encode_legal, encode_options
from croupier.engine.fact_codec import encode_view
from croupier.games.catalogue import GAMES
from croupier.games.interface import SeatsToAct, State
from croupier_api.v1 import table_pb2 as pb
from croupier_client.table import Table
from tests.games.walk import sample_options, viewers, walk

SEED = os.environ.get("CROUPIER_TEST_SEED", str(Random().randrange(2**32)))
EVENTS = 60


def some_states(game_id: str, seats: int) -> list[State]:
    print(f"CROUPIER_TEST_SEED={SEED} .venv/bin/pytest tests/cli/test_bot_player.py")
    random = Random(f"{SEED} {game_id} {seats}")
    game = GAMES[game_id]
    state = game.new(seats, sample_options(game, seats, random))
    return [step.after for step, _ in zip(walk(game, state, random), range(EVENTS), strict=False)]


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
    game = GAMES[game_id]
    seats = game.seats.start
    random = Random(SEED)
    defaults = {option.name: option.default for option in game.options(seats)}
    info = pb.TableInfo(game=game_id, options=encode_options(defaults), seats=[pb.SeatInfo()] * seats)
    states = (step.after for step, _ in zip(walk(game, game.new(seats, defaults), random), range(EVENTS), strict=False))
    for state in states:
        if isinstance(state.awaiting, SeatsToAct):
            table = Table("a table")
            table.seat = state.awaiting.seats[0]
            table.view, legal = encode_view(state.view(table.seat)), state.legal_actions(table.seat)
            table.legal_actions = encode_legal(legal)
            decided, again = (BotPlayer(info, Random(SEED)).decide(table) for _ in range(2))
            assert decided == again
            assert decode_action(decided) in legal.actions or legal.choices


def test_a_spectator_decides_nothing() -> None:
    game = next(iter(GAMES.values()))
    defaults = {option.name: option.default for option in game.options(game.seats.start)}
    info = pb.TableInfo(game=game.id, options=encode_options(defaults), seats=[pb.SeatInfo()] * game.seats.start)
    with pytest.raises(ValueError, match="nothing to decide"):
        BotPlayer(info, Random(SEED)).decide(Table("a table"))
