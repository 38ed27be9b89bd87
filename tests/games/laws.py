"""The tables on which the laws of games are tested: croupier's own and the toy, at every number of seats."""

import os

import pytest

from croupier.games.interface import Game
from croupier.games.registry import OWN_GAMES
from tests.games.toy import TOY

TABLES = int(os.environ.get("CROUPIER_TEST_TABLES") or 2)
"""The number of random tables of each law by number of seats."""


def _tables_of(*games: Game) -> pytest.MarkDecorator:
    tables = [pytest.param(game, seats, id=f"{game.id}-{seats}") for game in games for seats in game.seats]
    return pytest.mark.parametrize(("game", "seats"), tables)


every_game = pytest.mark.parametrize("game", [*OWN_GAMES.values(), TOY], ids=lambda game: game.id)
every_table = _tables_of(*OWN_GAMES.values(), TOY)
every_judged_table = _tables_of(*OWN_GAMES.values())
"""The tables of games that the judge knows too."""
