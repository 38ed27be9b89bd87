"""The lobby describes games for a number of seats as the engine does, and asks the engine seldom."""

import pytest

from croupier.lobby.tables.games import MAX_AGE_MILLISECONDS, GameRegistry
from croupier.runtime.errors import Unavailable
from tests.lobby.fakes import ENGINE_UNAVAILABLE, FakeClock, FakeEngine


@pytest.fixture
def games(engine: FakeEngine, clock: FakeClock) -> GameRegistry:
    return GameRegistry(engine, clock)


@pytest.mark.parametrize(
    ("seat_count", "expected"),
    [(0, ["pairs", "alone"]), (1, ["alone"]), (3, ["pairs", "alone"]), (5, ["pairs"]), (6, []), (2**32 - 1, [])],
)
async def test_games_without_this_number_of_seats_are_left_out(
    games: GameRegistry, seat_count: int, expected: list[str]
) -> None:
    assert [game.game for game in await games.list_games(seat_count)] == expected


async def test_the_engine_is_asked_once_a_minute_for_each_number_that_a_game_has(
    games: GameRegistry, engine: FakeEngine, clock: FakeClock
) -> None:
    for _ in range(2):
        for seat_count in (0, 2, 3, 6, 7, 2**32 - 1):
            await games.list_games(seat_count)
    assert len(engine.calls) == 3
    clock.advance(MAX_AGE_MILLISECONDS / 1000)
    await games.list_games(3)
    assert len(engine.calls) == 5


async def test_known_descriptions_are_kept_while_the_engine_is_away(
    games: GameRegistry, engine: FakeEngine, clock: FakeClock
) -> None:
    known = await games.list_games(2)
    engine.failure = ENGINE_UNAVAILABLE
    clock.advance(MAX_AGE_MILLISECONDS / 1000)
    assert await games.list_games(2) == known
    with pytest.raises(Unavailable):
        await games.list_games(3)
