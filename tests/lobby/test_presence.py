"""Players of forming tables who are gone hold up nobody."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace

import pytest

from croupier.lobby.assembly import Lobby
from croupier.lobby.storage.presence_store import PresenceStore
from croupier.lobby.storage.store import Store
from croupier.lobby.tables.forming_table import Seat, Table, TableState, with_presence
from croupier.lobby.tables.presence import AWAY_MILLISECONDS
from croupier.lobby.tables.table_service import WatchedTable
from croupier.runtime.errors import NotPermitted, Unavailable
from tests.databases import on_both_databases
from tests.lobby.fakes import ENGINE_UNAVAILABLE, PAIRS, FakeClock, FakeEngine, LobbyDeployment, forming_table, player
from tests.lobby.matches import ADA, BOB, EVE, next_message, ready

THREE = replace(PAIRS, seat_count=3)
AWAY_SECONDS = AWAY_MILLISECONDS / 1000


@pytest.fixture
def settled(lobby: Lobby, clock: FakeClock) -> Lobby:
    """Return a lobby that has run long enough to know who is away."""
    clock.advance(AWAY_SECONDS)
    return lobby


async def full(lobby: Lobby) -> Table:
    """Return a table of Ada, the host, Bob and Eve, who joined in this order."""
    table = await lobby.tables.create(ADA, THREE)
    await lobby.tables.join(BOB, table.table_id)
    return await lobby.tables.join(EVE, table.table_id)


async def stored(lobby: Lobby, table: Table) -> Table:
    current = await lobby.tables.store.get(table.table_id)
    assert current is not None
    return current


def away(table: Table) -> list[bool]:
    return [seat.is_away for seat in table.seats]


@asynccontextmanager
async def watching(lobby: Lobby, player_id: str, table: Table) -> AsyncIterator[None]:
    async with aclosing(lobby.tables.watch_table(player_id, table.table_id)) as stream:
        await next_message(stream)
        yield


async def pass_time(lobby: Lobby, clock: FakeClock, seconds: int) -> None:
    for _ in range(seconds // 5):
        clock.advance(5)
        await lobby.presence.tick()


async def test_a_host_who_is_gone_passes_on_to_the_next_player_who_calls(settled: Lobby, clock: FakeClock) -> None:
    table = await full(settled)
    await ready(settled, table, BOB, EVE)
    await pass_time(settled, clock, 60)
    # All are away: nobody would be a better host.
    before = await stored(settled, table)
    assert (before.host_player_id, away(before)) == (ADA.player_id, [False] * 3)
    now = await settled.tables.get(BOB.player_id, table.table_id)
    assert (now.host_player_id, away(now)) == (BOB.player_id, [True, False, True])
    assert [seat.is_ready for seat in now.seats] == [False, True, False]
    cleared = await settled.tables.clear_seat(BOB.player_id, table.table_id, 0)
    assert cleared.seats[0].is_free


async def test_a_call_of_a_player_is_the_call_of_the_new_host(settled: Lobby, clock: FakeClock) -> None:
    table = await full(settled)
    with pytest.raises(NotPermitted):
        await settled.tables.clear_seat(EVE.player_id, table.table_id, 0)
    clock.advance(AWAY_SECONDS + 1)
    cleared = await settled.tables.clear_seat(EVE.player_id, table.table_id, 0)
    assert (cleared.host_player_id, cleared.seats[0].is_free) == (EVE.player_id, True)


@on_both_databases
async def test_a_player_who_follows_the_table_is_there_and_becomes_host(settled: Lobby, clock: FakeClock) -> None:
    table = await full(settled)
    eve = settled.tables.watch_table(EVE.player_id, table.table_id)
    async with aclosing(eve) as stream, watching(settled, player(9).player_id, table):
        assert [await next_message(stream) for _ in range(2)] == [WatchedTable(table, False), WatchedTable(None, True)]
        await pass_time(settled, clock, 60)
        now = await stored(settled, table)
        assert await next_message(stream) == WatchedTable(now, True)
    assert (now.host_player_id, away(now)) == (EVE.player_id, [True, True, False])


async def test_an_away_host_who_returns_is_an_ordinary_player(settled: Lobby, clock: FakeClock) -> None:
    table = await full(settled)
    async with watching(settled, BOB.player_id, table):
        await pass_time(settled, clock, 60)
    now = await settled.tables.get(ADA.player_id, table.table_id)
    assert (now.host_player_id, away(now)) == (BOB.player_id, [False, False, True])
    async with watching(settled, EVE.player_id, table):
        assert away(await stored(settled, table)) == [False] * 3


async def test_no_game_begins_with_a_player_who_is_away(settled: Lobby, engine: FakeEngine, clock: FakeClock) -> None:
    table = await full(settled)
    await ready(settled, table, ADA, BOB)
    clock.advance(AWAY_SECONDS + 1)
    # Nobody has marked them before.
    now = await ready(settled, table, EVE)
    assert (now.state, [seat.is_ready for seat in now.seats]) == (TableState.FORMING, [False, False, True])
    assert engine.opened == {}
    assert (await ready(settled, table, ADA, BOB)).state is TableState.PLAYING


async def test_a_host_alone_with_bots_begins_whenever_they_like(settled: Lobby, clock: FakeClock) -> None:
    table = await ready(settled, await settled.tables.create(ADA, PAIRS), ADA)
    await pass_time(settled, clock, 60)
    # The free seat is nobody who is there.
    assert await stored(settled, table) == table
    assert (await settled.tables.add_bot(ADA.player_id, table.table_id, "")).state is TableState.PLAYING


async def test_a_player_who_joins_a_table_of_players_who_are_gone_is_its_host(settled: Lobby, clock: FakeClock) -> None:
    table = await settled.tables.create(ADA, THREE)
    await pass_time(settled, clock, 60)
    joined = await settled.tables.join(BOB, table.table_id)
    assert (joined.host_player_id, away(joined)) == (BOB.player_id, [True, False, False])


async def test_nobody_is_away_just_after_a_start_or_an_outage(deployment: LobbyDeployment, clock: FakeClock) -> None:
    async with deployment.lobby() as lobby:
        table = await full(lobby)
        clock.advance(AWAY_SECONDS + 60)
    async with deployment.lobby() as restarted:
        await restarted.presence.tick()
        assert away(await restarted.tables.get(BOB.player_id, table.table_id)) == [False] * 3
        await pass_time(restarted, clock, 40)
        assert away(await restarted.tables.get(BOB.player_id, table.table_id)) == [False] * 3
        # The database was away: nobody could be recorded.
        clock.advance(60)
        await restarted.presence.tick()
        assert away(await restarted.tables.get(BOB.player_id, table.table_id)) == [False] * 3
        await pass_time(restarted, clock, 45)
        assert away(await restarted.tables.get(BOB.player_id, table.table_id)) == [True, False, True]


async def test_lobbies_know_of_each_others_players(deployment: LobbyDeployment, clock: FakeClock) -> None:
    async with deployment.lobby() as one, deployment.lobby() as other:
        clock.advance(AWAY_SECONDS)
        table = await full(one)
        async with watching(one, ADA.player_id, table), watching(other, BOB.player_id, table):
            for _ in range(12):
                clock.advance(5)
                await one.presence.tick()
                await other.presence.tick()
            assert away(await stored(one, table)) == [False, False, True]


async def test_a_player_is_recorded_at_most_every_fifteen_seconds(settled: Lobby, clock: FakeClock) -> None:
    table = await full(settled)
    records = settled.presence.store
    before = await records.seen([table.table_id])
    for seconds, is_recorded in ((14, False), (2, True), (10, False)):
        clock.advance(seconds)
        await settled.tables.get(ADA.player_id, table.table_id)
        after = await records.seen([table.table_id])
        assert (after != before) is is_recorded
        before = after


async def test_rows_of_tables_that_form_no_more_are_deleted(settled: Lobby, clock: FakeClock) -> None:
    playing, gone = await full(settled), await full(settled)
    await ready(settled, playing, ADA, BOB, EVE)
    await pass_time(settled, clock, 60)
    assert await settled.presence.store.list_stale(clock() + 1, 10) == []
    assert (await stored(settled, playing)).state is TableState.PLAYING
    assert away(await stored(settled, gone)) == [False] * 3


async def test_presence_is_recorded_again_after_a_failure(
    settled: Lobby, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = await full(settled)

    async def fail(*_: object) -> list[str]:
        raise ENGINE_UNAVAILABLE

    with monkeypatch.context() as outage:
        outage.setattr(PresenceStore, "list_stale", fail)
        with pytest.raises(Unavailable):
            await settled.presence.tick()
    async with watching(settled, BOB.player_id, table):
        await pass_time(settled, clock, 60)
    assert away(await stored(settled, table)) == [True, False, True]


@on_both_databases
async def test_records_of_a_player_replace_each_other(store: Store, clock: FakeClock) -> None:
    presence = PresenceStore(store)
    await presence.record([("t", "a"), ("t", "b")], 1_000)
    await presence.record([("t", "b"), ("u", "a")], 30_000)
    assert await presence.seen(["t", "u", "v"]) == {"t": {"a": 1_000, "b": 30_000}, "u": {"a": 30_000}, "v": {}}
    assert await presence.list_stale(2_000, 10) == ["t"]
    await presence.delete_stale(["t"], 2_000)
    assert await presence.seen(["t"]) == {"t": {"b": 30_000}}


def test_the_host_is_the_player_who_was_seen_last() -> None:
    seats = (*(Seat(one.player_id, one.name) for one in (ADA, BOB, EVE)), Seat("", "Bot 4", "random", True))
    table = replace(forming_table(), seats=seats)
    changed = with_presence(table, {BOB.player_id: 20, EVE.player_id: 30, "another": 90}, 10)
    assert (changed.host_player_id, away(changed)) == (EVE.player_id, [True, False, False, False])
    assert changed.seats[3].is_ready
    assert with_presence(table, {"another": 90}, 10) == table
    playing = replace(table, state=TableState.PLAYING)
    assert with_presence(playing, {BOB.player_id: 20}, 10) == playing
