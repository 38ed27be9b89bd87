"""A player's own tables: the list of them, and the stream of their changes."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Collection
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace

import pytest
from sqlalchemy import select

from croupier.lobby.assembly import Lobby
from croupier.lobby.feed.own_tables import SLOW_ACTION_SECONDS
from croupier.lobby.storage.schema import SEATS
from croupier.lobby.tables.engine_port import Turn
from croupier.lobby.tables.forming_table import Table, TableState
from croupier.lobby.tables.my_seat import MySeat
from croupier.lobby.tables.new_table import TableSpec
from croupier.lobby.tables.presence import AWAY_MILLISECONDS
from croupier.lobby.tables.table_service import WatchedTable
from croupier.lobby.tables.turns import READ_SECONDS
from croupier.runtime.database.database import Database
from croupier_api.v1.lobby_pb2 import WatchTablesResponse
from croupier_api.v1.tables_pb2 import Table as PublicTable
from tests.databases import execute, on_both_databases
from tests.lobby.fakes import (
    ENGINE_UNAVAILABLE,
    HIDDEN_PAIRS,
    PAIRS,
    START,
    TIME_CONTROL,
    FakeClock,
    FakeEngine,
    LobbyDeployment,
)
from tests.lobby.matches import ADA, BOB, EVE, match_all, next_message, ready, waiting
from tests.waiting import settled

LIST_COMPLETE = WatchedTable(None, True)
SLOW_PAIRS = replace(HIDDEN_PAIRS, time_control=replace(TIME_CONTROL, action_seconds=SLOW_ACTION_SECONDS))
DEADLINE = START + 5_000
ADA_TO_ACT, BOB_TO_ACT = Turn(0b01, 0, DEADLINE), Turn(0b10, 0b10, DEADLINE)
Stream = AsyncGenerator[WatchedTable, None]


async def playing(lobby: Lobby, spec: TableSpec = HIDDEN_PAIRS) -> Table:
    """Return a table of Ada and Bob whose game has begun."""
    table = await lobby.tables.create(ADA, spec)
    table = await ready(lobby, await lobby.tables.join_by_invite_code(BOB, table.invite_code), ADA, BOB)
    assert table.state is TableState.PLAYING
    return table


async def finish(lobby: Lobby, engine: FakeEngine, table: Table) -> None:
    engine.finished.add(table.table_id)
    await lobby.opener.finish([table.table_id])


async def own(lobby: Lobby, player_id: str, *, has_ended: bool = False) -> list[str]:
    return [table.table_id for table in await lobby.tables.list_own(player_id, has_ended, None, 100)]


@asynccontextmanager
async def watching(lobby: Lobby, player_id: str, *expected: WatchedTable) -> AsyncIterator[Stream]:
    """Follow the tables of a player, which are these at the beginning."""
    async with aclosing(lobby.tables.watch_own(player_id)) as stream:
        begin = [await next_message(stream) for _ in range(len(expected) + 1)]
        assert begin == [*expected, LIST_COMPLETE]
        yield stream


async def silent(stream: Stream) -> asyncio.Task[WatchedTable]:
    """Return the read of the next message, which does not come."""
    reading = asyncio.ensure_future(anext(stream))
    await settled()
    assert not reading.done()
    return reading


@on_both_databases
async def test_a_player_lists_the_tables_at_which_they_have_a_seat(
    lobby: Lobby, engine: FakeEngine, clock: FakeClock, database: Database
) -> None:
    tables = []
    for spec in (PAIRS, HIDDEN_PAIRS, SLOW_PAIRS):
        tables.append(await lobby.tables.create(ADA, spec))
        clock.advance(1)
    await lobby.tables.join_by_invite_code(BOB, tables[1].invite_code)
    assert await own(lobby, ADA.player_id) == [table.table_id for table in reversed(tables)]
    assert await own(lobby, BOB.player_id) == [tables[1].table_id]
    assert await own(lobby, EVE.player_id) == []
    played = await ready(lobby, tables[1], ADA, BOB)
    assert await own(lobby, BOB.player_id) == [played.table_id]
    await lobby.tables.leave(ADA.player_id, tables[0].table_id)
    await finish(lobby, engine, played)
    assert await own(lobby, ADA.player_id) == [tables[2].table_id]
    for player in (ADA, BOB):
        assert await own(lobby, player.player_id, has_ended=True) == [played.table_id]
    # An ended table belongs to no network any more, and its seats go with it.
    await lobby.tables.store.delete_ended(TableState.FINISHED, clock() + 1)
    await lobby.tables.store.delete_ended(TableState.CLOSED, clock() + 1)
    assert [row.table_id for row in await execute(database, select(SEATS))] == [tables[2].table_id]


@on_both_databases
async def test_lists_are_paged_newest_first(lobby: Lobby, engine: FakeEngine, clock: FakeClock) -> None:
    tables = []
    for number in range(9):
        tables.append(await playing(lobby, PAIRS))
        clock.advance(number % 2)
    newest = sorted(tables, key=lambda table: (table.created_milliseconds, table.table_id), reverse=True)
    ids = [table.table_id for table in newest]
    for has_ended in (False, True):
        before, found = None, list[str]()
        while page := await lobby.tables.list_own(ADA.player_id, has_ended, before, 2):
            found += [table.table_id for table in page]
            before = (page[-1].created_milliseconds, page[-1].table_id)
        assert found == ids
        for table in tables:
            await finish(lobby, engine, table)


async def test_finished_tables_count_for_no_limit_and_keep_no_guest(
    deployment: LobbyDeployment, engine: FakeEngine, clock: FakeClock
) -> None:
    async with deployment.lobby(max_player_tables=1, max_network_tables=1) as lobby:
        ada, *_ = await lobby.auth.sign_in("the secret of Ada", "Ada")
        for _ in range(3):
            table = await lobby.tables.create(ada, replace(PAIRS, game="alone", seat_count=1), "192.0.2.0/24")
            engine.idle.add(ada.player_id)
            await finish(lobby, engine, await ready(lobby, table, ada))
        assert len(await own(lobby, ada.player_id, has_ended=True)) == 3
        clock.advance(1)
        assert await lobby.tables.opener.players.delete_unplayed(clock()) == 1


async def seat_at(lobby: Lobby, player_id: str, table: Table) -> MySeat:
    """Return the seat of a player as lists show it."""
    [(_, seat)] = [pair async for pair in lobby.tables.with_seats(player_id, [table])]
    return seat


async def current_seat(lobby: Lobby, player_id: str, table: Table) -> MySeat:
    current = await lobby.tables.store.get(table.table_id)
    assert current is not None
    return await seat_at(lobby, player_id, current)


async def test_a_seat_has_its_turn_while_the_game_is_played_if_the_engine_knows_it(
    lobby: Lobby, engine: FakeEngine
) -> None:
    forming = await lobby.tables.create(ADA, PAIRS)
    assert await current_seat(lobby, ADA.player_id, forming) == MySeat(0, is_away=False)
    table = await playing(lobby)
    assert await current_seat(lobby, ADA.player_id, table) == MySeat(0)
    engine.turns[table.table_id] = BOB_TO_ACT
    assert await current_seat(lobby, ADA.player_id, table) == MySeat(0, False, 0, False)
    assert await current_seat(lobby, BOB.player_id, table) == MySeat(1, True, DEADLINE, True)
    engine.failure = ENGINE_UNAVAILABLE
    assert await current_seat(lobby, BOB.player_id, table) == MySeat(1)
    engine.failure = None
    await finish(lobby, engine, table)
    assert await current_seat(lobby, BOB.player_id, table) == MySeat(1)


async def test_an_engine_that_does_not_answer_holds_up_no_list(
    lobby: Lobby, engine: FakeEngine, clock: FakeClock
) -> None:
    table = await playing(lobby)
    engine.turns[table.table_id] = ADA_TO_ACT
    engine.answers.clear()
    clock.drive()
    asking = asyncio.ensure_future(seat_at(lobby, ADA.player_id, table))
    await settled()
    clock.advance(READ_SECONDS)
    assert await asking == MySeat(0)
    engine.answers.set()


async def test_callers_at_once_share_calls_of_the_engine(lobby: Lobby, engine: FakeEngine, clock: FakeClock) -> None:
    tables = [await playing(lobby, PAIRS) for _ in range(5)]
    engine.turns = {table.table_id: ADA_TO_ACT for table in tables}
    engine.calls.clear()
    clock.drive()
    asking = [asyncio.ensure_future(seat_at(lobby, ADA.player_id, table)) for table in tables]
    await settled()
    assert [seat.is_to_act for seat in await asyncio.gather(*asking)] == [True] * 5
    assert engine.calls == ["table_statuses"]


async def test_a_stream_begins_with_all_tables_and_then_has_the_changes_that_concern_the_player(
    lobby: Lobby, engine: FakeEngine, clock: FakeClock
) -> None:
    hidden = await playing(lobby)
    engine.turns[hidden.table_id] = ADA_TO_ACT
    clock.advance(1)
    public = await lobby.tables.create(ADA, PAIRS)
    at_hidden, at_public = MySeat(0, True, DEADLINE, False), MySeat(0, is_away=False)
    begin = WatchedTable(public, False, at_public), WatchedTable(hidden, False, at_hidden)
    async with watching(lobby, ADA.player_id, *begin) as stream, watching(lobby, EVE.player_id) as strange:
        reading = await silent(strange)
        await lobby.tables.create(BOB, PAIRS)
        joined = await lobby.tables.join(BOB, public.table_id)
        assert await next_message(stream) == WatchedTable(joined, True, at_public)
        third = await lobby.tables.create(ADA, HIDDEN_PAIRS)
        assert await next_message(stream) == WatchedTable(third, True, at_public)
        await ready(lobby, joined, ADA, BOB)
        shown = [(await next_message(stream))]
        while shown[-1].table is None or shown[-1].table.state is not TableState.PLAYING:
            shown.append(await next_message(stream))
        assert {one.table.table_id for one in shown if one.table} == {public.table_id}
        assert shown[-1].my_seat == MySeat(0)
        await finish(lobby, engine, hidden)
        (ended, _, seat) = await next_message(stream)
        assert ended is not None
        assert (ended.table_id, ended.state, seat) == (hidden.table_id, TableState.FINISHED, MySeat(0))
        await lobby.opener.finish([hidden.table_id])
        await settled()
        assert not reading.done()
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def test_those_who_saw_a_game_end_see_which_table_follows(lobby: Lobby, engine: FakeEngine) -> None:
    table = await playing(lobby)
    async with aclosing(lobby.tables.watch_own(BOB.player_id)) as stream:
        for _ in range(2):
            await next_message(stream)
        await finish(lobby, engine, table)
        ended = (await next_message(stream)).table
        assert ended is not None
        assert (ended.state, ended.next_table_id) == (TableState.FINISHED, "")
        following, _ = await lobby.tables.rematch(ADA, table.table_id)
        last, _, seat = await next_message(stream)
        assert last is not None
        assert (last.table_id, last.next_table_id, seat) == (table.table_id, following.table_id, MySeat(1))
        joined, _ = await lobby.tables.rematch(BOB, table.table_id)
        assert await next_message(stream) == WatchedTable(joined, True, MySeat(0, is_away=False))


@pytest.mark.parametrize("spec", [PAIRS, HIDDEN_PAIRS], ids=["public", "hidden"])
@pytest.mark.parametrize("removes", [False, True], ids=["leaves", "is removed"])
async def test_a_player_who_loses_their_seat_gets_a_last_message(
    lobby: Lobby, clock: FakeClock, spec: TableSpec, removes: bool
) -> None:
    clock.drive()
    table = await lobby.tables.create(ADA, spec)
    await lobby.tables.join_by_invite_code(BOB, table.invite_code)
    async with aclosing(lobby.tables.watch_own(BOB.player_id)) as stream:
        for _ in range(2):
            await next_message(stream)
        if removes:
            await lobby.tables.clear_seat(ADA.player_id, table.table_id, 1, block=True)
        else:
            await lobby.tables.leave(BOB.player_id, table.table_id)
        last, _, seat = await next_message(stream)
        assert last is not None
        assert (last.table_id, last.seat_of(BOB.player_id), seat) == (table.table_id, None, None)
        assert last.is_shown_to(BOB.player_id) is (spec is PAIRS and not removes)
        # From now on it is no table of theirs.
        reading = await silent(stream)
        clock.advance(1)
        await lobby.tables.set_ready(ADA.player_id, table.table_id, True, b"")
        await settled()
        assert not reading.done()
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def test_a_table_that_is_public_no_more_is_shown_to_its_players_alone(lobby: Lobby) -> None:
    table = await lobby.tables.create(ADA, replace(PAIRS, seat_count=3))
    table = await lobby.tables.join(BOB, table.table_id)
    async with (
        watching(lobby, ADA.player_id, WatchedTable(table, False, MySeat(0, is_away=False))) as ada,
        watching(lobby, BOB.player_id, WatchedTable(table, False, MySeat(1, is_away=False))) as bob,
        watching(lobby, EVE.player_id) as eve,
    ):
        hidden = await lobby.tables.update(ADA.player_id, table.table_id, HIDDEN_PAIRS)
        assert await next_message(ada) == WatchedTable(hidden, True, MySeat(0, is_away=False))
        assert await next_message(bob) == WatchedTable(hidden, True, MySeat(1, is_away=False))
        assert await own(lobby, BOB.player_id) == [table.table_id]
        cleared = await lobby.tables.clear_seat(ADA.player_id, table.table_id, 1)
        assert await next_message(bob) == WatchedTable(cleared, True, None)
        message = WatchTablesResponse.FromString(lobby.servicer.encoded.message(cleared, BOB.player_id))
        assert message.table == PublicTable(table_id=table.table_id)
        reading = [await silent(stream) for stream in (bob, eve)]
        for one in reading:
            one.cancel()
        await asyncio.gather(*reading, return_exceptions=True)


async def test_two_devices_follow_the_same_tables(lobby: Lobby) -> None:
    table = await lobby.tables.create(ADA, HIDDEN_PAIRS)
    first = WatchedTable(table, False, MySeat(0, is_away=False))
    async with watching(lobby, ADA.player_id, first) as phone:
        async with watching(lobby, ADA.player_id, first) as tablet:
            await lobby.tables.leave(ADA.player_id, table.table_id)
            lasts = [await next_message(stream) for stream in (phone, tablet)]
            assert [(last.table is not None, last.my_seat) for last in lasts] == [(True, None)] * 2
        other = await lobby.tables.create(ADA, HIDDEN_PAIRS)
        assert await next_message(phone) == WatchedTable(other, True, MySeat(0, is_away=False))


async def test_a_matched_table_comes_once_it_is_formed(lobby: Lobby) -> None:
    async with watching(lobby, ADA.player_id) as stream:
        calls = await waiting(lobby, ADA, BOB)
        await match_all(lobby)
        states: list[TableState] = []
        while not states or states[-1] is not TableState.PLAYING:
            table, _, seat = await next_message(stream)
            assert table is not None
            assert seat is not None
            states.append(table.state)
        assert TableState.PREPARING not in states
        for call in calls:
            await call.aclose()


async def test_turns_of_slow_games_come_when_they_change_for_the_player(
    lobby: Lobby, engine: FakeEngine, clock: FakeClock
) -> None:
    slow, fast = await playing(lobby, SLOW_PAIRS), await playing(lobby)
    engine.turns = {slow.table_id: ADA_TO_ACT, fast.table_id: ADA_TO_ACT}
    async with (
        aclosing(lobby.tables.watch_own(ADA.player_id)) as ada,
        aclosing(lobby.tables.watch_own(BOB.player_id)) as bob,
    ):
        for stream in (ada, bob):
            for _ in range(3):
                await next_message(stream)
        clock.drive()
        engine.calls.clear()
        readings = [await silent(stream) for stream in (ada, bob)]
        for _ in range(2):
            await tick(lobby, clock)
            assert not any(reading.done() for reading in readings)
        assert engine.calls == ["table_statuses"] * 2
        # Only the turns of others have changed at first, and those of a fast game.
        engine.turns = {slow.table_id: Turn(0b01, 0b10, DEADLINE), fast.table_id: BOB_TO_ACT}
        await tick(lobby, clock)
        assert [reading.done() for reading in readings] == [False, True]
        assert await readings[1] == WatchedTable(slow, True, MySeat(1, False, 0, True))
        engine.turns[slow.table_id] = BOB_TO_ACT
        readings[1] = await silent(bob)
        await tick(lobby, clock)
        assert await readings[0] == WatchedTable(slow, True, MySeat(0, False, 0, False))
        assert await readings[1] == WatchedTable(slow, True, MySeat(1, True, DEADLINE, True))
        engine.turns[slow.table_id] = ADA_TO_ACT
        await tick(lobby, clock)
        # As the stream began, and not as it was since.
        assert await next_message(ada) == WatchedTable(slow, True, MySeat(0, True, DEADLINE, False))
        await finish(lobby, engine, slow)
        await settled()
        engine.calls.clear()
        await tick(lobby, clock)
        assert engine.calls == []


async def test_a_catch_up_repeats_neither_ended_tables_nor_older_turns_to_a_new_stream(
    lobby: Lobby, engine: FakeEngine, clock: FakeClock
) -> None:
    """A catch-up publishes again what has changed lately."""
    ended, slow, fast = await playing(lobby), await playing(lobby, SLOW_PAIRS), await playing(lobby)
    engine.turns = {slow.table_id: ADA_TO_ACT}
    await finish(lobby, engine, ended)
    async with aclosing(lobby.tables.watch_own(ADA.player_id)) as ada:
        for _ in range(3):
            await next_message(ada)
        await lobby.turns.tick()
        engine.turns = {slow.table_id: BOB_TO_ACT, fast.table_id: BOB_TO_ACT}
        async with aclosing(lobby.tables.watch_own(BOB.player_id)) as bob:
            begin = [await next_message(bob) for _ in range(3)]
            turn = MySeat(1, True, DEADLINE, True)
            assert {one.table.table_id: one.my_seat for one in begin if one.table} == {
                slow.table_id: turn,
                fast.table_id: turn,
            }
            readings = [await silent(stream) for stream in (ada, bob)]
            await lobby.catch_up_worker.catch_up()
            await settled()
            assert not any(reading.done() for reading in readings)
            await lobby.turns.tick()
            assert (await readings[0]).my_seat == MySeat(0, False, 0, False)
            await settled()
            assert not readings[1].done()
            readings[1].cancel()
            await asyncio.gather(*readings, return_exceptions=True)


async def tick(lobby: Lobby, clock: FakeClock) -> None:
    clock.advance(1)
    await lobby.turns.tick()
    await settled()


@on_both_databases
@pytest.mark.parametrize("moment", ["before", "between", "after"])
async def test_a_seat_that_is_lost_at_another_replica_while_a_stream_begins_is_not_missed(
    deployment: LobbyDeployment, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """The seat is lost before, between or after the two reads with which a stream begins."""
    async with deployment.lobby() as one, deployment.lobby() as other:
        table = await other.tables.create(ADA, PAIRS)
        await other.tables.join(BOB, table.table_id)
        store = one.tables.store
        ids_of_running, list_by_ids = store.ids_of_running, store.list_by_ids

        async def leave(now: str) -> None:
            if now == moment:
                await other.tables.leave(BOB.player_id, table.table_id)
                await one.catch_up_worker.catch_up()

        async def ids(player_id: str) -> list[str]:
            await leave("before")
            return await ids_of_running(player_id)

        async def by_ids(table_ids: Collection[str]) -> list[Table]:
            await leave("between")
            found = await list_by_ids(table_ids)
            await leave("after")
            return found

        with monkeypatch.context() as patch:
            patch.setattr(store, "ids_of_running", ids)
            patch.setattr(store, "list_by_ids", by_ids)
            stream = one.tables.watch_own(BOB.player_id)
            first = await next_message(stream)
        async with aclosing(stream):
            if moment != "after":
                assert first == LIST_COMPLETE
                return
            assert first.my_seat is not None
            assert await next_message(stream) == LIST_COMPLETE
            last, _, seat = await next_message(stream)
            assert last is not None
            assert (last.table_id, seat) == (table.table_id, None)


async def test_a_stream_of_own_tables_shows_that_the_player_is_in_the_waiting_room(
    lobby: Lobby, clock: FakeClock
) -> None:
    clock.advance(AWAY_MILLISECONDS / 1000)
    table = await lobby.tables.create(ADA, PAIRS)
    await lobby.tables.join(BOB, table.table_id)
    played = await playing(lobby)
    async with aclosing(lobby.tables.watch_own(BOB.player_id)) as stream:
        await next_message(stream)
        assert list(lobby.feed.followers()) == [(table.table_id, BOB.player_id)]
        for _ in range(12):
            clock.advance(5)
            await lobby.presence.tick()
        current = await lobby.tables.store.get(table.table_id)
        assert current is not None
        assert [seat.is_away for seat in current.seats] == [True, False]
        assert played.table_id not in {table_id for table_id, _ in lobby.feed.followers()}
    assert not list(lobby.feed.followers())
    assert not lobby.feed.has_subscribers
