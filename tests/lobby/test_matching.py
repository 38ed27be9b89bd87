"""Quick match: nobody is seated twice and nobody is lost, whatever happens in between."""

import asyncio
from collections import Counter
from contextlib import aclosing

import pytest

from croupier.lobby.assembly import Lobby
from croupier.lobby.tables import Table, TableState
from croupier.lobby.ticket_store import TicketStore
from croupier.lobby.tickets import ATTENDED_SECONDS, Wish
from croupier.runtime.errors import IllegalNow, LimitReached, MalformedRequest, StaleSequence, Unavailable
from tests.lobby.fakes import PATIENCE_SECONDS, SILENT, FakeClock, FakeEngine, on_both_databases, player
from tests.lobby.house import House
from tests.lobby.matches import following, match_all, running, seated

pytestmark = on_both_databases
ADA, BOB, EVE = player(1), player(2), player(3)
TWO = Wish("pairs", 2)


async def test_two_with_the_same_wish_are_seated_together(lobby: Lobby, engine: FakeEngine, clock: FakeClock) -> None:
    ada, bob = lobby.matching.quick_match(ADA, TWO, b"a"), lobby.matching.quick_match(BOB, TWO, b"b")
    assert (await following(ada)).waiting == 1
    clock.advance(1)
    assert (await following(bob)).waiting == 2
    await match_all(lobby)
    first, second = (await following(ada)), (await following(bob))
    while first.table is None:
        first = await following(ada)
    assert first.table == second.table
    assert first.table.state is TableState.PLAYING
    assert [(seat.name, seat.client_seed) for seat in engine.opened[first.table.table_id]] == [
        ("Player 1", b"a"),
        ("Player 2", b"b"),
    ]
    for stream in (ada, bob):
        with pytest.raises(StopAsyncIteration):
            await following(stream)
    assert (await lobby.forming.get(EVE.player_id, first.table.table_id)).commitment


async def test_different_wishes_do_not_meet(lobby: Lobby, engine: FakeEngine) -> None:
    streams = [
        lobby.matching.quick_match(player(number), wish, b"")
        for number, wish in enumerate([TWO, Wish("pairs", 3), Wish("alone", 2)])
    ]
    for stream in streams:
        assert (await following(stream)).waiting == 1
    await match_all(lobby)
    assert engine.opened == {}
    for stream in streams:
        await stream.aclose()


@pytest.mark.parametrize(
    ("wish", "field"), [(Wish("whist", 2), "game"), (Wish("pairs", 1), "seats"), (Wish("pairs", 6), "seats")]
)
async def test_impossible_wishes_are_refused(lobby: Lobby, wish: Wish, field: str) -> None:
    with pytest.raises(MalformedRequest) as refusal:
        await following(lobby.matching.quick_match(ADA, wish, b""))
    assert refusal.value.field == field


async def test_the_count_of_those_who_wait_is_kept_up_to_date(lobby: Lobby) -> None:
    wish = Wish("pairs", 5)
    ada, bob = lobby.matching.quick_match(ADA, wish, b""), lobby.matching.quick_match(BOB, wish, b"")
    await following(ada)
    await following(bob)
    await lobby.matching.tick()
    assert (await following(ada)).waiting == 2
    await bob.aclose()
    await lobby.matching.tick()
    assert (await following(ada)).waiting == 1
    await ada.aclose()


async def test_whoever_broke_off_is_not_matched(lobby: Lobby, engine: FakeEngine) -> None:
    gone = lobby.matching.quick_match(ADA, TWO, b"")
    await following(gone)
    await gone.aclose()
    stays = lobby.matching.quick_match(BOB, TWO, b"")
    await following(stays)
    await match_all(lobby)
    assert engine.opened == {}
    await stays.aclose()


async def test_whoever_calls_again_in_time_has_the_same_ticket_and_place(lobby: Lobby, clock: FakeClock) -> None:
    first = lobby.matching.quick_match(ADA, TWO, b"")
    ticket_id = (await following(first)).ticket_id
    await first.aclose()
    await lobby.matching.tick()
    await lobby.reconciler.forget()
    clock.advance(20)
    again = lobby.matching.quick_match(ADA, TWO, b"")
    assert (await following(again)).ticket_id == ticket_id
    await again.aclose()
    await lobby.matching.tick()
    clock.advance(31)
    await lobby.reconciler.forget()
    late = lobby.matching.quick_match(ADA, TWO, b"")
    assert (await following(late)).ticket_id != ticket_id
    await late.aclose()


async def test_a_new_wish_takes_the_place_of_the_old_one(lobby: Lobby) -> None:
    first = lobby.matching.quick_match(ADA, TWO, b"")
    old = await following(first)
    second = lobby.matching.quick_match(ADA, Wish("pairs", 3), b"")
    assert (await following(second)).ticket_id != old.ticket_id
    await lobby.matching.tick()
    with pytest.raises(StaleSequence):
        await following(first)
    await second.aclose()


async def test_of_two_streams_on_one_ticket_the_newer_one_goes_on(lobby: Lobby) -> None:
    first, second = (lobby.matching.quick_match(ADA, TWO, b"") for _ in range(2))
    assert (await following(first)).ticket_id == (await following(second)).ticket_id
    await lobby.matching.tick()
    with pytest.raises(StaleSequence) as refusal:
        await following(first)
    assert refusal.value.reason == "SUPERSEDED"
    other = lobby.matching.quick_match(BOB, TWO, b"")
    await following(other)
    await match_all(lobby)
    assert await seated(second) == await seated(other)


async def test_whoever_was_seated_while_away_gets_his_table_once(lobby: Lobby) -> None:
    ada, bob = lobby.matching.quick_match(ADA, TWO, b""), lobby.matching.quick_match(BOB, TWO, b"")
    await following(ada)
    await following(bob)
    await match_all(lobby)
    await ada.aclose()
    table = await seated(bob)
    await lobby.matching.tick()
    async with running(lobby):
        assert await seated(lobby.matching.quick_match(ADA, TWO, b"")) == table
    fresh = lobby.matching.quick_match(ADA, TWO, b"")
    assert (await following(fresh)).table is None
    await fresh.aclose()


async def test_a_ticket_survives_a_restart(house: House) -> None:
    async with house.lobby() as lobby:
        ticket_id = (await following(lobby.matching.quick_match(ADA, TWO, b"a"))).ticket_id
    async with house.lobby() as lobby:
        again = lobby.matching.quick_match(ADA, TWO, b"a")
        assert (await following(again)).ticket_id == ticket_id
        await again.aclose()


async def test_a_ticket_that_a_crash_left_is_not_matched_for_ever(
    house: House, clock: FakeClock, engine: FakeEngine
) -> None:
    async with house.lobby() as lobby:
        await following(lobby.matching.quick_match(ADA, TWO, b""))
    clock.advance(ATTENDED_SECONDS + 1)
    async with house.lobby() as lobby:
        bob = lobby.matching.quick_match(BOB, TWO, b"")
        await following(bob)
        await match_all(lobby)
        assert engine.opened == {}
        ada = lobby.matching.quick_match(ADA, TWO, b"")
        await following(ada)
        await match_all(lobby)
        assert await seated(ada) == await seated(bob)


async def test_a_ticket_that_was_taken_for_abandoned_is_to_be_called_for_again(house: House, clock: FakeClock) -> None:
    """As when a lobby could not reach the database for long, and another one could."""
    async with house.lobby() as cut_off, house.lobby() as other:
        ada = cut_off.matching.quick_match(ADA, TWO, b"")
        await following(ada)
        clock.advance(31)
        await other.reconciler.forget()
        await cut_off.matching.tick()
        with pytest.raises(Unavailable) as refusal:
            await following(ada)
        assert refusal.value.reason == "TICKET_LOST"


async def test_whoever_breaks_off_while_the_database_is_away_is_not_matched_afterwards(
    lobby: Lobby, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, bob = lobby.matching.quick_match(ADA, TWO, b""), lobby.matching.quick_match(BOB, TWO, b"")
    await following(ada)
    await ada.aclose()
    with monkeypatch.context() as away:
        away.setattr(TicketStore, "depart", _unavailable)
        with pytest.raises(Unavailable):
            await lobby.matching.tick()
    await following(bob)
    await match_all(lobby)
    assert engine.opened == {}
    await bob.aclose()


async def _unavailable(*_: object) -> None:
    raise Unavailable("DATABASE_UNAVAILABLE", "not now")


async def test_those_who_wait_long_stay_attended(lobby: Lobby, clock: FakeClock) -> None:
    ada = lobby.matching.quick_match(ADA, TWO, b"")
    await following(ada)
    for _ in range(10):
        clock.advance(6)
        await lobby.matching.tick()
    bob = lobby.matching.quick_match(BOB, TWO, b"")
    await following(bob)
    await match_all(lobby)
    assert await seated(ada) == await seated(bob)


@pytest.mark.parametrize("calls_that_succeed", [0, 1])
async def test_a_match_goes_on_after_a_crash_at_each_step(
    house: House, engine: FakeEngine, clock: FakeClock, calls_that_succeed: int
) -> None:
    async with house.lobby() as lobby:
        streams = [lobby.matching.quick_match(one, TWO, one.name.encode()) for one in (ADA, BOB)]
        for stream in streams:
            await following(stream)
            clock.advance(1)
        if calls_that_succeed:
            engine.open_table = _silent  # type: ignore[method-assign, assignment]
        else:
            engine.failure = SILENT
        await match_all(lobby)
    assert engine.opened == {}
    engine.failure = None
    vars(engine).pop("open_table", None)
    clock.advance(3)
    async with house.lobby() as lobby:
        await lobby.reconciler.open_tables()
        (table_id,) = engine.opened
        assert [seat.client_seed for seat in engine.opened[table_id]] == [b"Player 1", b"Player 2"]
        for one in (ADA, BOB):
            async with running(lobby):
                table = await seated(lobby.matching.quick_match(one, TWO, b""))
            assert table.table_id == table_id


async def _silent(*_: object) -> None:
    raise SILENT


async def test_a_match_that_the_engine_refuses_is_told_and_the_ticket_freed(lobby: Lobby, engine: FakeEngine) -> None:
    streams = [lobby.matching.quick_match(one, TWO, b"", "a wish") for one in (ADA, BOB)]
    for stream in streams:
        await following(stream)
    engine.failure = IllegalNow("CLOSED", "no tables today")
    await match_all(lobby)
    engine.failure = None
    for stream in streams:
        with pytest.raises(IllegalNow) as refusal:
            await seated(stream)
        assert refusal.value.reason == "MATCH_FAILED"
    again = lobby.matching.quick_match(ADA, TWO, b"", "a wish")
    assert (await following(again)).waiting == 1
    await again.aclose()


async def test_matched_tables_are_hidden_until_they_play(lobby: Lobby, engine: FakeEngine) -> None:
    streams = [lobby.matching.quick_match(one, TWO, b"") for one in (ADA, BOB)]
    for stream in streams:
        await following(stream)
    engine.failure = SILENT
    await match_all(lobby)
    assert await lobby.forming.public("", [TableState.FORMING, TableState.OPENING], None, 10) == []
    for stream in streams:
        await stream.aclose()


async def test_fifty_at_two_replicas_that_come_and_go_are_each_seated_once(house: House, engine: FakeEngine) -> None:
    """Every third player breaks off once and calls again, at the other replica."""
    async with house.lobby() as one, house.lobby() as other, running(one), running(other):

        async def play(number: int) -> Table:
            lobby, second = (one, other) if number % 2 else (other, one)
            if number % 3 == 0:
                async with aclosing(lobby.matching.quick_match(player(number), TWO, b"")) as stream:
                    news = await following(stream)
                    if news.table:
                        return news.table
                lobby = second
            return await seated(lobby.matching.quick_match(player(number), TWO, b""))

        tables = await asyncio.wait_for(asyncio.gather(*(play(number) for number in range(50))), PATIENCE_SECONDS)
    everybody = Counter(seat.player_id for seats in engine.opened.values() for seat in seats)
    assert everybody == Counter(player(number).player_id for number in range(50))
    assert len({table.table_id for table in tables}) == 25


async def test_a_player_has_so_many_streams_and_no_more(house: House) -> None:
    async with house.lobby(player_streams_limit=1) as lobby:
        first = lobby.matching.quick_match(ADA, TWO, b"")
        await following(first)
        with pytest.raises(LimitReached):
            await following(lobby.matching.quick_match(ADA, TWO, b""))
        await first.aclose()


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
        again = lobby.matching.quick_match(ADA, TWO, b"")
        assert (await following(again)).ticket_id == ticket_id
        await again.aclose()
