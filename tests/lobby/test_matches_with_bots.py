"""Players are matched by preset, and seated with bots when they have waited as long for others as they wished."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from croupier.lobby.assembly import Lobby
from croupier.lobby.matchmaking.tickets import MatchCriteria, Ticket, choose
from croupier.lobby.tables.forming_table import Table, TableState, TimeControl
from croupier.runtime.errors import MalformedRequest
from tests.databases import on_both_databases
from tests.lobby.fakes import ENGINE_UNAVAILABLE, TIME_CONTROL, FakeClock, FakeEngine, LobbyDeployment, player
from tests.lobby.matches import ADA, BOB, EVE, TWO, match_all, next_message, running, seated, waiting

FOUR = MatchCriteria("pairs", 4)
PRESETS: Mapping[str, tuple[dict[str, int], TimeControl]] = {
    "": ({"rounds": 3}, TIME_CONTROL),
    "blitz": ({"rounds": 1}, TimeControl(5, 0, 0)),
    "slow": ({"rounds": 3}, TimeControl(7200, 0, 0, away_seconds=7200)),
}


def seats_of(table: Table) -> list[str]:
    """Return the names of a table's seats, of bots the kind."""
    return [seat.bot or seat.name for seat in table.seats]


async def match_later(lobby: Lobby, clock: FakeClock, seconds: float) -> None:
    """Match all after a time, shorter than a call and than a heartbeat is valid."""
    clock.advance(seconds)
    await match_all(lobby)


@on_both_databases
@pytest.mark.parametrize("preset", PRESETS)
async def test_a_match_has_the_options_and_times_of_its_preset(lobby: Lobby, preset: str) -> None:
    streams = await waiting(lobby, ADA, BOB, criteria=MatchCriteria("pairs", 2, preset))
    await match_all(lobby)
    table, same = [await seated(stream) for stream in streams]
    assert (table.options, table.time_control) == PRESETS[preset]
    assert table == same
    assert table.state is TableState.PLAYING


@on_both_databases
async def test_players_with_different_presets_are_not_matched(lobby: Lobby, engine: FakeEngine) -> None:
    names = ("", "blitz", "slow")
    criteria = [MatchCriteria("pairs", 2, name) for name in names]
    streams = [(await waiting(lobby, player(number), criteria=one))[0] for number, one in enumerate(criteria)]
    await match_all(lobby)
    assert not engine.opened
    await waiting(lobby, EVE, criteria=criteria[1])
    await match_all(lobby)
    assert sorted(seats_of(await seated(streams[1]))) == ["Player 1", EVE.name]


@pytest.mark.parametrize(
    ("criteria", "expected"),
    [
        (MatchCriteria("pairs", 2, "bliz"), "invalid preset 'bliz': expected one of blitz, slow"),
        (MatchCriteria("alone", 2, "blitz"), "invalid preset 'blitz': alone has no presets"),
    ],
)
async def test_an_unknown_preset_is_refused(lobby: Lobby, criteria: MatchCriteria, expected: str) -> None:
    with pytest.raises(MalformedRequest, match=expected) as refusal:
        await next_message(lobby.matchmaker.find_match(ADA, criteria, b""))
    assert refusal.value.field == "preset"
    await lobby.matchmaker.tick()
    assert lobby.matchmaker.pending == 0


async def test_bots_of_a_game_that_has_none_are_refused(lobby: Lobby) -> None:
    with pytest.raises(MalformedRequest, match="alone has no bots"):
        await waiting(lobby, ADA, criteria=MatchCriteria("alone", 2), bots_after=0)


async def test_another_preset_is_another_ticket(lobby: Lobby) -> None:
    [first], [second] = [
        await waiting(lobby, ADA, criteria=MatchCriteria("pairs", 2, preset)) for preset in ("blitz", "slow")
    ]
    [other] = await waiting(lobby, BOB, criteria=MatchCriteria("pairs", 2, "blitz"))
    await match_all(lobby)
    assert lobby.matchmaker.pending == 3
    await asyncio.gather(*(stream.aclose() for stream in (first, second, other)))


async def test_bots_come_when_the_time_is_over_and_not_before(
    lobby: Lobby, clock: FakeClock, engine: FakeEngine
) -> None:
    [ada] = await waiting(lobby, ADA, criteria=FOUR, bots_after=10)
    await match_later(lobby, clock, 9.999)
    assert not engine.opened
    await match_later(lobby, clock, 0.001)
    table = await seated(ada)
    assert seats_of(table) == [ADA.name, "clever", "clever", "clever"]
    assert [seat.name for seat in table.seats[1:]] == ["Bot 2", "Bot 3", "Bot 4"]
    assert table.access.is_matched
    assert table.host_player_id == ADA.player_id


@on_both_databases
async def test_a_time_of_zero_is_over_at_once(lobby: Lobby) -> None:
    [ada] = await waiting(lobby, ADA, criteria=FOUR, bots_after=0)
    await match_all(lobby)
    assert seats_of(await seated(ada)) == [ADA.name, "clever", "clever", "clever"]


@on_both_databases
async def test_those_who_allow_bots_are_seated_together_as_soon_as_one_waits_for_them(
    lobby: Lobby, clock: FakeClock
) -> None:
    streams = []
    for number, bots_after in enumerate((600, None, 0), start=1):
        streams += await waiting(lobby, player(number), criteria=FOUR, bots_after=bots_after)
        await asyncio.sleep(0.002)
        clock.advance(0.002)
    await match_all(lobby)
    first, other = await seated(streams[0]), await seated(streams[2])
    assert first == other
    assert seats_of(first) == ["Player 1", "Player 3", "clever", "clever"]
    assert (await next_message(streams[1])).waiting_count == 1
    await streams[1].aclose()


async def test_enough_players_are_matched_without_bots_whether_or_not_they_allow_them(
    lobby: Lobby, engine: FakeEngine, clock: FakeClock
) -> None:
    streams = []
    for number, bots_after in enumerate((None, 0, 0, None, 0), start=1):
        streams += await waiting(lobby, player(number), criteria=FOUR, bots_after=bots_after)
        clock.advance(0.001)
    await match_all(lobby)
    assert seats_of(await seated(streams[0])) == [f"Player {number}" for number in (1, 2, 3, 4)]
    assert seats_of(await seated(streams[4])) == ["Player 5", "clever", "clever", "clever"]
    assert len(engine.opened) == 2


async def test_players_without_a_time_wait_for_players(lobby: Lobby, clock: FakeClock, engine: FakeEngine) -> None:
    streams = await waiting(lobby, ADA, BOB, criteria=FOUR)
    await match_later(lobby, clock, 14)
    assert not engine.opened
    await asyncio.gather(*(stream.aclose() for stream in streams))


async def test_the_time_counts_from_the_first_call_and_only_a_player_who_calls_is_seated(
    lobby: Lobby, clock: FakeClock, engine: FakeEngine
) -> None:
    for _ in range(2):
        [ada] = await waiting(lobby, ADA, criteria=FOUR, bots_after=40)
        await match_later(lobby, clock, 19)
        await ada.aclose()
        await lobby.matchmaker.tick()
    await match_later(lobby, clock, 4)
    assert not engine.opened
    [ada] = await waiting(lobby, ADA, criteria=FOUR, bots_after=40)
    await match_all(lobby)
    assert seats_of(await seated(ada)) == [ADA.name, "clever", "clever", "clever"]


@pytest.mark.parametrize(("first", "newest"), [(None, 0), (0, None), (0, 600)])
async def test_the_time_of_the_newest_call_counts(
    lobby: Lobby, engine: FakeEngine, first: int | None, newest: int | None
) -> None:
    [older] = await waiting(lobby, ADA, criteria=FOUR, bots_after=first)
    [newer] = await waiting(lobby, ADA, criteria=FOUR, bots_after=newest)
    await match_all(lobby)
    assert len(engine.opened) == (newest == 0)
    await asyncio.gather(older.aclose(), newer.aclose())


@on_both_databases
async def test_a_table_with_bots_is_returned_again_after_a_lost_answer_and_a_restart(
    deployment: LobbyDeployment, engine: FakeEngine
) -> None:
    async with deployment.lobby() as lobby:
        [ada] = await waiting(lobby, ADA, request_id="a request", bots_after=0)
        await match_all(lobby)
        await ada.aclose()
    async with deployment.lobby() as lobby, running(lobby):
        tables = [
            await seated(lobby.matchmaker.find_match(ADA, TWO, b"", "a request", bots_after_seconds=0))
            for _ in range(2)
        ]
    assert [table.table_id for table in tables] == [*engine.opened] * 2


async def test_a_table_with_bots_is_opened_after_a_crash(
    deployment: LobbyDeployment, engine: FakeEngine, clock: FakeClock
) -> None:
    async with deployment.lobby() as lobby:
        [ada] = await waiting(lobby, ADA, request_id="a request", bots_after=0)
        engine.failure = ENGINE_UNAVAILABLE
        await match_all(lobby)
        assert not engine.opened
        await ada.aclose()
    engine.failure = None
    clock.advance(3)
    async with deployment.lobby() as lobby, running(lobby):
        await lobby.housekeeper.open_tables()
        table = await seated(lobby.matchmaker.find_match(ADA, TWO, b"", "a request"))
    assert seats_of(table) == [ADA.name, "clever"]


def tickets(*bots_after: int | None) -> Sequence[Ticket]:
    return [
        Ticket(f"t{number}", f"p{number}", "", FOUR, b"", number, bots_after_seconds=seconds)
        for number, seconds in enumerate(bots_after)
    ]


@pytest.mark.parametrize(
    ("bots_after", "is_bot_due", "expected"),
    [
        ((None, 5, 600), True, [1, 2]),
        ((None, 5, 600), False, []),
        ((None, None), True, []),
        ((5, None, 5, None), False, [0, 1, 2, 3]),
        ((5, None, 5, None, 5), True, [0, 1, 2, 3]),
    ],
)
def test_the_choice_with_bots(bots_after: Sequence[int | None], is_bot_due: bool, expected: list[int]) -> None:
    found = tickets(*bots_after)
    assert [found.index(ticket) for ticket in choose(found, 4, is_bot_due)] == expected
