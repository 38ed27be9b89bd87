"""Bots of a client have the same information as bots of the engine."""

import os
from collections.abc import Callable
from itertools import islice
from random import Random
from typing import TypeAlias

import pytest

from croupier.cli.bot_player import BotPlayer, decode_legal, decode_view
from croupier.conformance.tables import sample_options
from croupier.conformance.walks import viewers, walk
from croupier.engine.api.action_codec import decode_action, encode_legal
from croupier.engine.api.fact_codec import encode_view
from croupier.engine.api.table_codec import encode_options
from croupier.games.actions import UNCHOSEN, Bid, NameTrump, Play
from croupier.games.choices import ActionChoice, AmountChoice
from croupier.games.interface import Game, Legal, OptionValue, SeatsToAct, State, completed_options
from croupier.games.registry import OWN_GAMES
from croupier_api.v1 import tables_pb2
from croupier_client.table import FollowedTable
from tests.games.toy import TOY

SEED = os.environ.get("CROUPIER_TEST_SEED", str(Random().randrange(2**32)))
EVENTS = 60
Options: TypeAlias = dict[str, OptionValue]
OptionsOf: TypeAlias = Callable[[str], tuple[Options, tables_pb2.PlayedTable]]


def some_states(game: Game, seats: int, options: Options | None = None) -> list[State]:
    print(f"CROUPIER_TEST_SEED={SEED} .venv/bin/pytest tests/cli/test_bot_player.py")
    random = Random(f"{SEED} {game.id} {seats}")
    state = game.new(seats, options or sample_options(game, seats, random))
    return [step.after for step in islice(walk(game, state, random), EVENTS)]


def usual(game_id: str) -> tuple[Options, tables_pb2.PlayedTable]:
    """Return the default options of a table with the fewest seats, and the table for clients."""
    seats = OWN_GAMES[game_id].seats.start
    options = {option.name: option.default for option in OWN_GAMES[game_id].options(seats)}
    return options, played_table(game_id, seats, options)


def earlier(game_id: str) -> tuple[Options, tables_pb2.PlayedTable]:
    """Return the same of a table at an engine that does not know the options of later versions."""
    game, (_, table) = OWN_GAMES[game_id], usual(game_id)
    known = {option.name: option.default for option in game.options(len(table.seats)) if option.earlier is None}
    return completed_options(game, len(table.seats), known), played_table(game_id, len(table.seats), known)


def played_table(game_id: str, seats: int, options: Options) -> tables_pb2.PlayedTable:
    played_seats = [tables_pb2.PlayedSeat()] * seats
    return tables_pb2.PlayedTable(game=game_id, options=encode_options(options), seats=played_seats)


@pytest.mark.parametrize("game", [*OWN_GAMES.values(), TOY], ids=lambda game: game.id)
def test_a_view_is_decoded_as_it_was_encoded(game: Game) -> None:
    for seats in game.seats:
        for state in some_states(game, seats):
            for viewer in viewers(seats):
                view = game.view(state, viewer)
                assert decode_view(encode_view(view), game.deck) == view
            for seat in range(seats):
                legal = game.legal_actions(state, seat)
                assert decode_legal(encode_legal(legal), game.deck) == legal


def test_choices_that_no_game_has_are_decoded_as_they_were_encoded() -> None:
    order, name = ActionChoice(Play(6), suits=(1, 2)), ActionChoice(NameTrump(UNCHOSEN, True), suits=(0, 3))
    legal = Legal((), (order, name, ActionChoice(Bid(UNCHOSEN), amount=AmountChoice(-5, 60, 5))))
    assert decode_legal(encode_legal(legal)) == legal


@pytest.mark.parametrize("options_of", [usual, earlier])
@pytest.mark.parametrize("game_id", OWN_GAMES)
def test_it_makes_legal_decisions_with_its_own_random_source(game_id: str, options_of: OptionsOf) -> None:
    game, (options, opened) = OWN_GAMES[game_id], options_of(game_id)
    for state in some_states(game, len(opened.seats), options):
        if isinstance(awaiting := game.awaiting(state), SeatsToAct):
            table = FollowedTable("a table")
            table.seat = awaiting.seats[0]
            table.view, legal = encode_view(game.view(state, table.seat)), game.legal_actions(state, table.seat)
            table.legal_actions = encode_legal(legal)
            decided, again = (BotPlayer(opened, Random(SEED)).decide(table) for _ in range(2))
            assert decided == again
            assert decode_action(decided) in legal.actions or legal.choices


def test_a_spectator_decides_nothing() -> None:
    with pytest.raises(ValueError, match="nothing to decide"):
        BotPlayer(usual("thulla")[1], Random(SEED)).decide(FollowedTable("a table"))
