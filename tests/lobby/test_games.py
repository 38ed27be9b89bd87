"""The games that the lobby offers for a number of seats, also while engines of two versions know different ones."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from croupier.lobby.assembly import Lobby
from croupier.lobby.tables.engine_port import OfferedGames
from croupier.lobby.tables.forming_table import TableState
from croupier.lobby.tables.games import MAX_AGE_MILLISECONDS, MAX_AGE_OF_REFUSALS_MILLISECONDS, GameRegistry
from croupier.runtime.errors import MalformedRequest, Unavailable
from croupier_api.v1 import errors_pb2
from croupier_api.v1.games_pb2 import GameDescription
from tests.lobby.fakes import ENGINE_UNAVAILABLE, GAMES, OFFERED, FakeClock, FakeEngine
from tests.lobby.matches import ADA, BOB, match_all, seated, waiting

PAIRS, ALONE = GAMES
EARLIER_PAIRS = replace(PAIRS, max_seats=4, bots=("random",), presets={})
PARTS: tuple[Callable[[GameRegistry], Awaitable[object]], ...] = (
    lambda games: games.find("alone"),
    lambda games: games.check_seat_count("pairs", 5),
    lambda games: games.find_preset("pairs", "blitz"),
    lambda games: games.choose_bot("pairs", "clever"),
)
"""Calls for what an engine does not know that has the earlier pairs only."""
TOO_NEW = Unavailable(errors_pb2.ERROR_REASON_TABLE_TOO_NEW, "another engine may know it", retry_after_seconds=1)


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
    assert [game.game for game in (await games.list_games(seat_count)).games] == expected


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
    clock.advance(-5)
    await games.list_games(3)
    assert len(engine.calls) == 7


async def test_games_and_reactions_are_those_of_the_language_and_each_language_is_asked_once(
    games: GameRegistry, engine: FakeEngine
) -> None:
    for _ in range(2):
        for language, summary in (("en", "A game of the tests."), ("nb", "nb: A game of the tests.")):
            for seat_count in (0, 5):
                offered = await games.list_games(seat_count, language)
                assert GameDescription.FromString(offered.games[0].description).summary == summary
                assert offered.reactions == OFFERED.reactions
            assert (await games.list_games(6, language)) == offered._replace(games=())
    assert len(engine.calls) == 4


async def test_what_is_refused_for_good_does_not_depend_on_a_list_in_another_language(
    games: GameRegistry, engine: FakeEngine
) -> None:
    await games.list_games(0, "ru")
    for part in PARTS:
        await part(games)
    with pytest.raises(MalformedRequest):
        await games.find("newest")
    assert len(engine.calls) == 2


async def test_during_a_roll_out_the_engine_is_asked_once_a_second(
    games: GameRegistry, engine: FakeEngine, clock: FakeClock
) -> None:
    engine.offered = OfferedGames(GAMES, is_rolling_out=True)
    for asked in (2, 4):
        for _ in range(2):
            for seat_count in (3, 6, 2**32 - 1):
                await games.list_games(seat_count)
        assert len(engine.calls) == asked
        clock.now += MAX_AGE_OF_REFUSALS_MILLISECONDS


async def test_known_descriptions_are_kept_while_the_engine_is_away(
    games: GameRegistry, engine: FakeEngine, clock: FakeClock
) -> None:
    known = await games.list_games(2)
    engine.failure = ENGINE_UNAVAILABLE
    clock.advance(MAX_AGE_MILLISECONDS / 1000)
    assert await games.list_games(2) == known
    with pytest.raises(Unavailable):
        await games.list_games(3)


@pytest.mark.parametrize("number", range(4))
async def test_nothing_is_refused_by_an_old_list(
    games: GameRegistry, engine: FakeEngine, clock: FakeClock, number: int
) -> None:
    engine.offered = OfferedGames((EARLIER_PAIRS,))
    for _ in range(3):
        with pytest.raises(MalformedRequest):
            await PARTS[number](games)
    assert len(engine.calls) == 1
    engine.offered = OfferedGames(GAMES)
    clock.now += MAX_AGE_OF_REFUSALS_MILLISECONDS
    await PARTS[number](games)
    assert len(engine.calls) == 2


async def test_during_a_roll_out_nothing_is_refused_for_good(
    games: GameRegistry, engine: FakeEngine, clock: FakeClock
) -> None:
    engine.offered = OfferedGames((EARLIER_PAIRS,), is_rolling_out=True)
    for part in PARTS:
        with pytest.raises(Unavailable) as refusal:
            await part(games)
        assert refusal.value.reason_name == "TABLE_TOO_NEW"
    engine.offered = OfferedGames((EARLIER_PAIRS,))
    clock.now += MAX_AGE_OF_REFUSALS_MILLISECONDS
    for part in PARTS:
        with pytest.raises(MalformedRequest):
            await part(games)


async def test_a_match_waits_for_an_engine_that_knows_its_game(
    lobby: Lobby, engine: FakeEngine, clock: FakeClock
) -> None:
    streams = await waiting(lobby, ADA, BOB)
    engine.failure = TOO_NEW
    await match_all(lobby)
    (table,) = await lobby.tables.store.list_in_states({TableState.PREPARING}, "", 10)
    engine.failure = None
    clock.advance(3)
    await lobby.housekeeper.open_tables()
    await lobby.matchmaker.tick()
    assert [(await seated(stream)).table_id for stream in streams] == [table.table_id] * 2
