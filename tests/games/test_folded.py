"""Views folded from facts as values equal those that clients fold, and those that the rules return."""

import pytest

from croupier.conformance import fold as messages
from croupier.conformance.tables import tables
from croupier.conformance.walks import viewers
from croupier.engine.api.fact_codec import encode_view
from croupier.games.facts import (
    EVERYONE,
    Call,
    Called,
    CardsMoved,
    HandRevealed,
    MoveReason,
    OwnedPile,
    SeatOut,
    SeatView,
    View,
)
from croupier.games.interface import Game
from croupier.games.registry import OWN_GAMES
from croupier.games.view_fold import fold
from tests.games.laws import TABLES, every_table
from tests.games.record import recorded_tables

START = View(1, "play", None, (SeatView(3, (1, 2, 3)), SeatView(3, known_cards=(4,)), SeatView(1, (9,))))
"""The view of seat 0: the hand of seat 2 lies open."""


@pytest.mark.parametrize("game", OWN_GAMES.values(), ids=OWN_GAMES)
def test_recorded_facts_fold_to_the_views_of_the_rules(game: Game) -> None:
    for start, steps in recorded_tables(game):
        seats = len(game.scores(start))
        views = {viewer: game.view(start, viewer) for viewer in viewers(seats)}
        for after, facts in steps:
            for viewer, view in views.items():
                views[viewer] = fold(view, facts, viewer)
                assert views[viewer] == game.view(after, viewer)


@every_table
def test_facts_of_random_tables_fold_as_by_the_client(game: Game, seats: int, seed: int) -> None:
    for table in tables(game, seats, seed, TABLES):
        views = {viewer: game.view(table.state, viewer) for viewer in viewers(seats)}
        for step in table.some_transitions():
            for viewer, view in views.items():
                views[viewer] = fold(view, step.facts, viewer)
                assert views[viewer] == game.view(step.after, viewer)
                assert encode_view(views[viewer]) == messages.fold(encode_view(view), step.facts, viewer)


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param([CardsMoved(0, 1, (1,), 1, MoveReason.SWAP)], id="openly from hand to hand"),
        pytest.param([CardsMoved(0, 1, (), 1, MoveReason.SWAP)], id="unseen from hand to hand"),
        pytest.param([CardsMoved(1, "waste", (4,), 1, MoveReason.DISCARD)], id="a known card"),
        pytest.param([CardsMoved(1, "waste", (), 2, MoveReason.DISCARD, face_down=True)], id="unknown cards"),
        pytest.param([CardsMoved(None, 2, (5,), 1, MoveReason.DRAW)], id="openly to an open hand"),
        pytest.param([CardsMoved(None, 2, (), 1, MoveReason.DRAW)], id="unseen to an open hand"),
        pytest.param(
            [
                CardsMoved(0, OwnedPile("meld", 1), (1, 3), 2, MoveReason.LAY),
                CardsMoved(0, "meld", (2,), 1, MoveReason.LAY),
                CardsMoved(OwnedPile("meld", 1), "meld", (3,), 1, MoveReason.LAY),
            ],
            id="from pile to pile",
        ),
        pytest.param([CardsMoved("stock", 1, (), 0, MoveReason.DRAW)], id="no cards of an unknown pile"),
        pytest.param([HandRevealed(1, (8, 4, 6))], id="a hand"),
        pytest.param([Called(Call(1, None)), Called(Call(0, None)), Called(Call(1, None))], id="secret calls"),
        pytest.param([SeatOut(1, 2), SeatOut(1, None, EVERYONE)], id="a seat out"),
    ],
)
def test_odd_facts_fold_as_by_the_client(facts: list[CardsMoved]) -> None:
    assert encode_view(fold(START, facts, 0)) == messages.fold(encode_view(START), facts, 0)
