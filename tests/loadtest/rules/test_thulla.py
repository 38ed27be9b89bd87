"""The referee's Thulla beside the engine's."""

import pytest

from loadtest.referee.rules.thulla import ThullaTable
from tests.loadtest.rules.comparison import compare_games


def test_random_games_go_as_the_engine_says(request: pytest.FixtureRequest) -> None:
    compare_games("thulla", ThullaTable, request.node.nodeid, games=16)
