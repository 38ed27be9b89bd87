"""The referee's solo beside the engine's."""

import pytest

from loadtest.referee.rules.solo import SoloTable
from tests.loadtest.rules.comparison import compare_games


def test_random_games_are_the_same(request: pytest.FixtureRequest) -> None:
    compared = compare_games("solo", SoloTable, request.node.nodeid, games=6)
    assert compared.events > 0
    assert compared.refused > 0
