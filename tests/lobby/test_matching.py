"""Quick match: nobody is seated twice and nobody is lost, whatever happens in between."""

import pytest

from croupier.lobby.assembly import Lobby
from croupier.lobby.forming import FORMING
from croupier.lobby.tables import TableState
from croupier.lobby.ticket_store import TicketStore
from croupier.lobby.tickets import ATTENDED_SECONDS, Wish
from croupier.runtime.errors import IllegalNow, LimitReached, StaleSequence, Unavailable
from tests.databases import on_both_databases
from tests.lobby.fakes import SILENT, FakeClock, FakeEngine
from tests.lobby.house import House
from tests.lobby.matches import ADA, BOB, EVE, TWO, following, match_all, running, seated, waiting


@on_both_databases
async def test_two_with_the_same_wish_are_seated_together(lobby: Lobby, engine: FakeEngine, clock: FakeClock) -> None:
    ada, bob = lobby.matching.quick_match(ADA, TWO, b"a"), lobby.matching.quick_match(BOB, TWO, b"b")
    assert (await following(ada)).waiting == 1
    clock.advance(1)
    assert (await following(bob)).waiting == 2
    await match_all(lobby)
    table = await seated(ada)
    assert (await following(bob)).table == table
    assert table.state is TableState.PLAYING
    assert [(seat.name, seat.client_seed) for seat in engine.opened[table.table_id]] == [
        ("Player 1", b"a"),
        ("Player 2", b"b"),
    ]
    with pytest.raises(StopAsyncIteration):
        await following(bob)
    assert (await lobby.forming.get(EVE.player_id, table.table_id)).commitment


async def test_different_wishes_do_not_meet(lobby: Lobby, engine: FakeEngine) -> None:
    wishes = {ADA: TWO, BOB: Wish("pairs", 3), EVE: Wish("alone", 2)}
    streams = [lobby.matching.quick_match(one, wish, b"") for one, wish in wishes.items()]
    assert [(await following(stream)).waiting for stream in streams] == [1, 1, 1]
    await match_all(lobby)
    assert engine.opened == {}


async def test_the_count_of_those_who_wait_is_kept_up_to_date(lobby: Lobby) -> None:
    ada, bob = await waiting(lobby, ADA, BOB, wish=Wish("pairs", 5))
    await lobby.matching.tick()
    assert (await following(ada)).waiting == 2
    await bob.aclose()
    await lobby.matching.tick()
    assert (await following(ada)).waiting == 1


@pytest.mark.parametrize("is_database_away", [False, True])
async def test_whoever_broke_off_is_not_matched(
    lobby: Lobby, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch, is_database_away: bool
) -> None:
    [gone] = await waiting(lobby, ADA)
    await gone.aclose()
    if is_database_away:
        with monkeypatch.context() as away:
            away.setattr(TicketStore, "depart", _unavailable)
            with pytest.raises(Unavailable):
                await lobby.matching.tick()
    [stays] = await waiting(lobby, BOB)
    await match_all(lobby)
    assert engine.opened == {}
    await stays.aclose()


async def _unavailable(*_: object) -> None:
    raise SILENT


@on_both_databases
async def test_whoever_calls_again_in_time_has_the_same_ticket_and_place(lobby: Lobby, clock: FakeClock) -> None:
    tickets = []
    for seconds_away in (0, 20, 31):
        clock.advance(seconds_away)
        await lobby.reconciler.forget()
        call = lobby.matching.quick_match(ADA, TWO, b"")
        tickets.append((await following(call)).ticket_id)
        await call.aclose()
        await lobby.matching.tick()
    assert tickets[0] == tickets[1] != tickets[2]


@on_both_databases
@pytest.mark.parametrize("wish", [TWO, Wish("alone", 2)])
async def test_of_two_streams_of_a_player_the_newer_one_goes_on(lobby: Lobby, wish: Wish) -> None:
    first, second = (lobby.matching.quick_match(ADA, one, b"") for one in (TWO, wish))
    is_same = (await following(first)).ticket_id == (await following(second)).ticket_id
    assert is_same is (wish == TWO)
    await lobby.matching.tick()
    with pytest.raises(StaleSequence) as refusal:
        await following(first)
    assert refusal.value.reason == "SUPERSEDED"
    [other] = await waiting(lobby, BOB, wish=wish)
    await match_all(lobby)
    assert await seated(second) == await seated(other)


async def test_a_ticket_that_a_crash_left_is_not_matched_for_ever(
    house: House, clock: FakeClock, engine: FakeEngine
) -> None:
    async with house.lobby() as lobby:
        left = await waiting(lobby, ADA)
        assert lobby.matching.streams == len(left)
    clock.advance(ATTENDED_SECONDS + 1)
    async with house.lobby() as lobby:
        [bob] = await waiting(lobby, BOB)
        await match_all(lobby)
        assert engine.opened == {}
        [ada] = await waiting(lobby, ADA)
        await match_all(lobby)
        assert await seated(ada) == await seated(bob)


@pytest.mark.parametrize("failing", [None, "waiting", "outcomes"])
async def test_a_ticket_that_was_taken_for_abandoned_is_to_be_called_for_again(
    house: House, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, failing: str | None
) -> None:
    """As when a lobby could not reach the database for long, and another one could."""
    async with house.lobby() as cut_off, house.lobby() as other:
        [ada] = await waiting(cut_off, ADA)
        clock.advance(31)
        await other.reconciler.forget()
        if failing:
            with monkeypatch.context() as away:
                away.setattr(TicketStore, failing, _unavailable)
                with pytest.raises(Unavailable):
                    await cut_off.matching.tick()
        await cut_off.matching.tick()
        with pytest.raises(Unavailable) as refusal:
            await following(ada)
        assert refusal.value.reason == "TICKET_LOST"
        # Later a newer call is told from a lost ticket again.
        older, newer = (cut_off.matching.quick_match(ADA, TWO, b"") for _ in range(2))
        assert (await following(older)).ticket_id == (await following(newer)).ticket_id
        await cut_off.matching.tick()
        with pytest.raises(StaleSequence):
            await following(older)


async def test_those_who_wait_long_stay_attended(lobby: Lobby, clock: FakeClock) -> None:
    [ada] = await waiting(lobby, ADA)
    for _ in range(10):
        clock.advance(6)
        await lobby.matching.tick()
    [bob] = await waiting(lobby, BOB)
    await match_all(lobby)
    assert await seated(ada) == await seated(bob)


@pytest.mark.parametrize("calls_that_succeed", [0, 1])
async def test_a_match_goes_on_after_a_crash_at_each_step(
    house: House, engine: FakeEngine, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, calls_that_succeed: int
) -> None:
    with monkeypatch.context() as silent:
        silent.setattr(engine, "open_table" if calls_that_succeed else "prepare_table", _unavailable)
        async with house.lobby() as lobby:
            ada = await waiting(lobby, ADA)
            clock.advance(1)
            streams = [*ada, *await waiting(lobby, BOB)]
            await match_all(lobby)
            # A matched table is hidden until it is prepared.
            assert len(await lobby.forming.public("", FORMING, None, 10)) == calls_that_succeed
            assert lobby.matching.streams == len(streams)
    assert engine.opened == {}
    clock.advance(3)
    async with house.lobby() as lobby, running(lobby):
        await lobby.reconciler.open_tables()
        (table_id,) = engine.opened
        assert [seat.client_seed for seat in engine.opened[table_id]] == [b"Player 1", b"Player 2"]
        for one in (ADA, BOB):
            assert (await seated(lobby.matching.quick_match(one, TWO, b""))).table_id == table_id


@on_both_databases
async def test_a_match_that_the_engine_refuses_is_told_and_the_ticket_freed(lobby: Lobby, engine: FakeEngine) -> None:
    streams = await waiting(lobby, ADA, BOB, request_id="a wish")
    engine.failure = IllegalNow("CLOSED", "no tables today")
    await match_all(lobby)
    engine.failure = None
    for stream in streams:
        with pytest.raises(IllegalNow) as refusal:
            await seated(stream)
        assert refusal.value.reason == "MATCH_FAILED"
    again = lobby.matching.quick_match(ADA, TWO, b"", "a wish")
    assert (await following(again)).waiting == 1


async def test_a_player_has_so_many_streams_and_no_more(house: House) -> None:
    async with house.lobby(player_streams_limit=1) as lobby:
        first = await waiting(lobby, ADA)
        with pytest.raises(LimitReached):
            await waiting(lobby, ADA)
        await first[0].aclose()


async def test_streams_end_when_the_server_stops_and_tickets_stay(house: House) -> None:
    async with house.lobby() as lobby:
        stream = lobby.matching.quick_match(ADA, TWO, b"")
        ticket_id = (await following(stream)).ticket_id
        lobby.end_streams()
        for ending in (stream, lobby.matching.quick_match(BOB, TWO, b"")):
            with pytest.raises(Unavailable, match="stop"):
                await following(ending)
        await lobby.matching.tick()
    async with house.lobby() as lobby:
        assert (await following(lobby.matching.quick_match(ADA, TWO, b""))).ticket_id == ticket_id
