"""The referee's Jøssing beside the engine's."""

import pytest

from loadtest.referee.rules.jossing import JossingTable
from tests.loadtest.rules.comparison import compare_games


def test_random_games_go_as_the_engine_says(request: pytest.FixtureRequest) -> None:
    compare_games("jossing", JossingTable, request.node.nodeid, games=10)
