"""The referee's 110: its page's worked positions and counted lines, and random games beside the engine's rules."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from croupier.games import facts
from loadtest.referee.rules.interface import Card, Pile
from loadtest.referee.rules.one_ten import OneTenTable
from tests.loadtest.rules import comparison


class Seen(NamedTuple):
    """What one viewer sees of a table."""

    round_number: int
    scores: list[int]
    hands: list[list[Card]]
    piles: Mapping[str, Pile]


def test_random_games_go_as_with_the_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    same_view: Any = comparison.same_view

    def same_secret_view(view: facts.View, viewer: int, table: OneTenTable) -> None:
        hands, piles = table.hands_seen_by(viewer), table.piles_seen_by(viewer)
        same_view(view, viewer, Seen(table.round_number, table.scores, hands, piles))

    monkeypatch.setattr(comparison, "same_view", same_secret_view)
    comparison.compare_games("one_ten", OneTenTable, request.node.nodeid, 10)
