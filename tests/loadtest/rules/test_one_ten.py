"""Random games of the referee's 110 beside the engine's rules."""

from collections.abc import Mapping
from random import Random
from typing import Any, NamedTuple

import pytest

from croupier.games import facts
from croupier.games.actions import Bid, Swap
from croupier.games.interface import Event, Game, SeatActed, State
from loadtest.judge.rules.interface import Card, Options, Pile
from loadtest.judge.rules.one_ten import OneTenTable
from tests.games.walk import next_event, sample_options
from tests.loadtest.rules import comparison


class Seen(NamedTuple):
    """What one viewer sees of a table."""

    round_number: int
    scores: list[int]
    hands: list[list[Card]]
    piles: Mapping[str, Pile]


@pytest.fixture
def secret_views(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the comparison ask for what a viewer sees, which differs from viewer to viewer until an exchange is over."""
    same_view: Any = comparison.same_view

    def same_secret_view(view: facts.View, viewer: int, table: OneTenTable) -> None:
        hands, piles = table.hands_seen_by(viewer), table.piles_seen_by(viewer)
        same_view(view, viewer, Seen(table.round_number, table.scores, hands, piles))

    monkeypatch.setattr(comparison, "same_view", same_secret_view)


@pytest.mark.usefixtures("secret_views")
def test_random_games_go_as_with_the_engine(request: pytest.FixtureRequest) -> None:
    comparison.compare_games("one_ten", OneTenTable, request.node.nodeid, 8)


@pytest.mark.usefixtures("secret_views")
def test_games_to_the_target_go_as_with_the_engine(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "sample_options", options_to_the_target)
    monkeypatch.setattr(comparison, "next_event", event_to_the_target)

    comparison.compare_games("one_ten", OneTenTable, request.node.nodeid, 5)


def options_to_the_target(game: Game, seats: int, random: Random) -> Options:
    """Any, but no end before the target where it is not far."""
    return sample_options(game, seats, random) | {"max_rounds": 0 if seats <= 4 else 2}


def event_to_the_target(game: Game, state: State, random: Random) -> Event | None:
    """Mostly what a cautious bidder and a greedy swapper do, so that games are won and stocks fall short."""
    for _ in range(40):
        event = next_event(game, state, random)
        match event:
            case SeatActed(_, Bid(amount)) if amount != 15:
                continue
            case SeatActed(_, Swap(cards)) if len(cards) < 3 and random.random() < 0.9:
                continue
        break
    return event
