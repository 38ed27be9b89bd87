"""Players of a finished table play again: one next table, with a seat for each of them for a minute."""

import asyncio
from collections.abc import Awaitable
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from croupier.lobby.accounts.players import Player
from croupier.lobby.assembly import Lobby
from croupier.lobby.storage.table_store import TableStore
from croupier.lobby.tables.forming_table import Table, TableState, TimeControl
from croupier.lobby.tables.new_table import TableSpec
from croupier.lobby.tables.table_changes import RESERVED_MILLISECONDS
from croupier.lobby.tables.table_service import WatchedTable
from croupier.runtime.errors import ServiceError
from croupier.runtime.table_access import OPEN
from tests.databases import on_both_databases
from tests.lobby.fakes import (
    ENGINE_UNAVAILABLE,
    HIDDEN_PAIRS,
    PAIRS,
    FakeClock,
    FakeEngine,
    LobbyDeployment,
    player,
)
from tests.lobby.matches import ADA, BOB, EVE, match_all, next_message, ready, waiting
from tests.lobby.test_replicas import lobbies, outcomes
from tests.waiting import TIMEOUT_SECONDS

TRIPLE = replace(PAIRS, seat_count=3)
SLOW = replace(TRIPLE, options={"rounds": 5}, time_control=TimeControl(40, 0, 700, away_seconds=9))
DAN = player(4)
RESERVED_SECONDS = RESERVED_MILLISECONDS / 1000


async def playing(lobby: Lobby, *players: Player, spec: TableSpec = TRIPLE) -> Table:
    """Return a table that is played, with these players, and bots on the other seats."""
    table = await lobby.tables.create(players[0], spec)
    for guest in players[1:]:
        await (
            lobby.tables.join(guest, table.table_id)
            if spec.access.is_public
            else lobby.tables.join_by_invite_code(guest, table.invite_code)
        )
    for _ in range(spec.seat_count - len(players)):
        await lobby.tables.add_bot(players[0].player_id, table.table_id, "random")
    return await ready(lobby, table, *players)


async def finished(lobby: Lobby, engine: FakeEngine, *players: Player, spec: TableSpec = TRIPLE) -> str:
    """Return the id of a finished table of these players and of bots."""
    table = await playing(lobby, *players, spec=spec)
    engine.finished.add(table.table_id)
    await lobby.housekeeper.finish_tables()
    return table.table_id


async def rematch(lobby: Lobby, who: Player, table_id: str) -> Table:
    table, _ = await lobby.tables.rematch(who, table_id)
    return table


async def stored(lobby: Lobby, table_id: str) -> Table:
    table = await lobby.tables.store.get(table_id)
    assert table is not None
    return table


async def refusal_of(call: Awaitable[object]) -> str:
    with pytest.raises(ServiceError) as refusal:
        await asyncio.wait_for(call, TIMEOUT_SECONDS)
    return refusal.value.reason_name


def occupants(table: Table) -> list[str]:
    """Return the player, the bot, or the player with a reserved seat, of each seat."""
    return [seat.player_id or seat.bot or f"({seat.reserved_player_id})" for seat in table.seats]


@on_both_databases
async def test_the_first_caller_creates_the_next_table_and_the_others_get_their_seats(
    lobby: Lobby, engine: FakeEngine
) -> None:
    old = await stored(lobby, await finished(lobby, engine, ADA, BOB, spec=SLOW))
    table, is_new = await lobby.tables.rematch(BOB, old.table_id)
    assert is_new
    assert occupants(table) == ["random", f"({ADA.player_id})", BOB.player_id]
    assert [seat.name for seat in table.seats] == ["Bot 1", "", BOB.name]
    assert (table.state, table.host_player_id) == (TableState.FORMING, BOB.player_id)
    assert (table.game, table.options, table.time_control, table.access) == (
        old.game,
        {"rounds": 5},
        SLOW.time_control,
        SLOW.access,
    )
    assert engine.prepared[table.table_id] == engine.prepared[old.table_id]
    assert table.seed_commitment not in ("", old.seed_commitment)
    followed = await stored(lobby, old.table_id)
    assert (table.previous_table_id, followed.next_table_id) == (old.table_id, table.table_id)
    assert replace(followed, next_table_id="", version=old.version) == old
    joined, is_new = await lobby.tables.rematch(ADA, old.table_id)
    assert not is_new
    assert occupants(joined) == ["random", ADA.player_id, BOB.player_id]
    for who in (ADA, BOB):
        assert await lobby.tables.rematch(who, old.table_id) == (joined, False)


async def test_players_who_take_their_reserved_seats_leave_the_others_ready(lobby: Lobby, engine: FakeEngine) -> None:
    table_id = await finished(lobby, engine, ADA, BOB)
    for who in (ADA, BOB):
        table = await ready(lobby, await rematch(lobby, who, table_id), who)
    assert table.state is TableState.PLAYING
    # A repeated call, whose answer was lost, gets it again.
    assert await rematch(lobby, ADA, table_id) == table
    # A chain: the next of the next.
    engine.finished.add(table.table_id)
    third = await rematch(lobby, ADA, table.table_id)
    assert occupants(third) == [f"({BOB.player_id})", "random", ADA.player_id]
    second = await rematch(lobby, ADA, table_id)
    assert (second.table_id, second.state, second.next_table_id) == (
        table.table_id,
        TableState.FINISHED,
        third.table_id,
    )


@on_both_databases
async def test_two_callers_at_two_lobbies_make_one_table(deployment: LobbyDeployment, engine: FakeEngine) -> None:
    players = [player(number) for number in range(1, 6)]
    async with lobbies(deployment) as replicas:
        table_id = await finished(replicas[0], engine, *players, spec=replace(HIDDEN_PAIRS, seat_count=5))
        found = await outcomes(
            *(lobby.tables.rematch(one, table_id) for one in players for lobby in replicas for _ in range(2))
        )
        answers = [each for each in found if not isinstance(each, BaseException)]
        assert len(answers) == len(found)
        (next_id,) = {table.table_id for table, _ in answers}
        assert sum(is_new for _, is_new in answers) == 1
        table = await stored(replicas[1], next_id)
        assert occupants(table) == [player(number).player_id for number in (5, 1, 2, 3, 4)]
        assert (await stored(replicas[2], table_id)).next_table_id == next_id
        # The tables that the others prepared are discarded.
        for lobby in replicas:
            await lobby.tables.updater.send_discarded()
        assert set(engine.prepared) == {table_id, next_id}


async def test_a_repeated_call_gets_the_table_whose_answer_was_lost(
    lobby: Lobby, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    table_id, add = await finished(lobby, engine, ADA, BOB), TableStore.add

    async def add_and_fail(self: TableStore, *given: Any) -> None:
        await add(self, *given)
        raise ENGINE_UNAVAILABLE

    with monkeypatch.context() as patch:
        patch.setattr(TableStore, "add", add_and_fail)
        assert await refusal_of(lobby.tables.rematch(ADA, table_id)) == "SERVICE_UNAVAILABLE"
    next_id = (await stored(lobby, table_id)).next_table_id
    table, is_new = await lobby.tables.rematch(ADA, table_id)
    assert (table.table_id, is_new) == (next_id, False)


async def test_others_get_only_seats_that_are_not_reserved_until_the_minute_is_over(
    lobby: Lobby, engine: FakeEngine, clock: FakeClock
) -> None:
    table = await rematch(lobby, ADA, await finished(lobby, engine, ADA, BOB, EVE))
    assert await refusal_of(lobby.tables.join(DAN, table.table_id)) == "TABLE_FULL"
    await lobby.tables.leave(EVE.player_id, table.table_id)
    assert occupants(await lobby.tables.join(DAN, table.table_id))[0] == DAN.player_id
    # One who gave up the seat has it no more.
    assert await refusal_of(lobby.tables.join(EVE, table.table_id)) == "TABLE_FULL"
    clock.advance(RESERVED_SECONDS - 0.001)
    assert await refusal_of(lobby.tables.join(EVE, table.table_id)) == "TABLE_FULL"
    clock.advance(0.001)
    # Before any housekeeping.
    assert occupants(await lobby.tables.join(EVE, table.table_id)) == [one.player_id for one in (DAN, ADA, EVE)]
    assert await refusal_of(lobby.tables.rematch(BOB, table.previous_table_id)) == "TABLE_FULL"


@on_both_databases
async def test_viewers_see_the_end_of_reservations_and_players_stay_ready(
    lobby: Lobby, engine: FakeEngine, clock: FakeClock
) -> None:
    for spec in (TRIPLE, replace(HIDDEN_PAIRS, seat_count=3)):
        table = await rematch(lobby, ADA, await finished(lobby, engine, ADA, BOB, spec=spec))
        await ready(lobby, table, ADA)
        async with aclosing(lobby.tables.watch_table(ADA.player_id, table.table_id)) as stream:
            for _ in range(2):
                await next_message(stream)
            clock.advance(RESERVED_SECONDS - 0.001)
            await lobby.housekeeper.free_idle_seats()
            assert occupants(await stored(lobby, table.table_id))[2] == f"({BOB.player_id})"
            clock.advance(0.001)
            await lobby.housekeeper.free_idle_seats()
            freed = (await next_message(stream)).table
        assert freed == await stored(lobby, table.table_id)
        assert occupants(freed) == ["random", ADA.player_id, "()"]
        assert freed.seats[1].is_ready
        # Late, they are seated all the same while there is a free seat.
        assert occupants(await rematch(lobby, BOB, table.previous_table_id))[2] == BOB.player_id


async def test_a_player_with_a_reserved_seat_sees_a_hidden_table_and_joins_it_by_id_or_code(
    lobby: Lobby, engine: FakeEngine, clock: FakeClock
) -> None:
    table = await rematch(
        lobby, ADA, await finished(lobby, engine, ADA, BOB, EVE, spec=replace(HIDDEN_PAIRS, seat_count=3))
    )
    assert len(table.invite_code) == 8
    assert await refusal_of(lobby.tables.get(DAN.player_id, table.table_id)) == "UNKNOWN_TABLE"
    assert await lobby.tables.get(BOB.player_id, table.table_id) == table
    assert occupants(await lobby.tables.join(BOB, table.table_id))[2] == BOB.player_id
    assert await refusal_of(lobby.tables.join_by_invite_code(DAN, table.invite_code)) == "TABLE_FULL"
    assert occupants(await lobby.tables.join_by_invite_code(EVE, table.invite_code))[0] == EVE.player_id
    again = await rematch(lobby, ADA, await finished(lobby, engine, ADA, BOB, spec=HIDDEN_PAIRS))
    clock.advance(RESERVED_SECONDS)
    assert await refusal_of(lobby.tables.join(BOB, again.table_id)) == "UNKNOWN_TABLE"


async def test_only_players_of_a_finished_table_play_it_again(lobby: Lobby, engine: FakeEngine) -> None:
    for spec, stranger in ((TRIPLE, "NOT_SEATED"), (replace(HIDDEN_PAIRS, seat_count=3), "UNKNOWN_TABLE")):
        forming, running = await lobby.tables.create(ADA, spec), await playing(lobby, ADA, spec=spec)
        closed = await lobby.tables.create(ADA, spec)
        await lobby.tables.updater.update(closed.table_id, partial(replace, state=TableState.CLOSED))
        over = await finished(lobby, engine, ADA, spec=spec)
        for table_id, who, reason in (
            ("0" * 32, ADA, "UNKNOWN_TABLE"),
            (forming.table_id, ADA, "TABLE_NOT_FINISHED"),
            (running.table_id, ADA, "TABLE_NOT_FINISHED"),
            (closed.table_id, ADA, "TABLE_CLOSED"),
            (over, BOB, stranger),
            (running.table_id, BOB, stranger),
        ):
            before = await lobby.tables.store.get(table_id)
            engine.calls.clear()
            assert await refusal_of(lobby.tables.rematch(who, table_id)) == reason
            assert await lobby.tables.store.get(table_id) == before
            assert "prepare_table" not in engine.calls
            # A stranger does not let the lobby ask the engine.
            assert who is ADA or not engine.calls


async def test_a_game_that_is_over_at_the_engine_is_played_again_at_once(lobby: Lobby, engine: FakeEngine) -> None:
    table = await playing(lobby, ADA)
    engine.finished.add(table.table_id)
    assert (await rematch(lobby, ADA, table.table_id)).previous_table_id == table.table_id
    assert (await stored(lobby, table.table_id)).state is TableState.FINISHED


async def test_a_next_table_that_closed_before_its_game_is_replaced(
    lobby: Lobby, engine: FakeEngine, clock: FakeClock
) -> None:
    table_id = await finished(lobby, engine, ADA, BOB)
    first = await rematch(lobby, ADA, table_id)
    await lobby.tables.leave(ADA.player_id, first.table_id)
    assert (await stored(lobby, first.table_id)).state is TableState.CLOSED
    second, is_new = await lobby.tables.rematch(BOB, table_id)
    assert is_new
    assert second.table_id != first.table_id
    assert occupants(second) == ["random", f"({ADA.player_id})", BOB.player_id]
    assert (await stored(lobby, table_id)).next_table_id == second.table_id
    await lobby.tables.leave(BOB.player_id, second.table_id)
    clock.advance(700)
    await lobby.housekeeper.delete_expired()
    assert await lobby.tables.store.get(second.table_id) is None
    assert (await lobby.tables.rematch(BOB, table_id))[1]


async def test_a_next_table_that_has_begun_without_a_player_refuses_them(lobby: Lobby, engine: FakeEngine) -> None:
    table_id = await finished(lobby, engine, ADA, BOB)
    table = await rematch(lobby, ADA, table_id)
    assert await refusal_of(lobby.tables.add_bot(ADA.player_id, table.table_id, "random")) == "TABLE_FULL"
    assert await refusal_of(lobby.tables.add_bot(ADA.player_id, table.table_id, "random", 2)) == "SEAT_TAKEN"
    # The host waits no longer for them.
    await lobby.tables.clear_seat(ADA.player_id, table.table_id, 2)
    await ready(lobby, await lobby.tables.add_bot(ADA.player_id, table.table_id, "random", 2), ADA)
    assert await refusal_of(lobby.tables.rematch(BOB, table_id)) == "TABLE_STARTED"
    engine.finished.add(table.table_id)
    await lobby.housekeeper.finish_tables()
    assert await refusal_of(lobby.tables.rematch(BOB, table_id)) == "TABLE_FINISHED"


async def test_players_whom_a_host_removed_stay_removed(lobby: Lobby, engine: FakeEngine) -> None:
    table = await lobby.tables.create(ADA, PAIRS)
    await lobby.tables.join(EVE, table.table_id)
    await lobby.tables.clear_seat(ADA.player_id, table.table_id, 1, block=True)
    await lobby.tables.join(BOB, table.table_id)
    await ready(lobby, table, ADA, BOB)
    engine.finished.add(table.table_id)
    following = await rematch(lobby, ADA, table.table_id)
    for call in (
        lobby.tables.rematch(EVE, table.table_id),
        lobby.tables.get(EVE.player_id, following.table_id),
        lobby.tables.join(EVE, following.table_id),
    ):
        assert await refusal_of(call) == "UNKNOWN_TABLE"
    # So do those whom the host of the next table removes.
    await rematch(lobby, BOB, table.table_id)
    await lobby.tables.clear_seat(ADA.player_id, following.table_id, 0, block=True)
    assert await refusal_of(lobby.tables.rematch(BOB, table.table_id)) == "UNKNOWN_TABLE"


async def test_a_seat_counts_to_the_limits_once_it_is_taken(
    deployment: LobbyDeployment, engine: FakeEngine, clock: FakeClock
) -> None:
    async with deployment.lobby(max_player_tables=2) as lobby:
        table_id = await finished(lobby, engine, ADA, BOB)
        await rematch(lobby, ADA, table_id)
        for _ in range(2):
            await lobby.tables.create(BOB, PAIRS)
        engine.calls.clear()
        assert await refusal_of(lobby.tables.rematch(BOB, table_id)) == "TOO_MANY_TABLES"
        await lobby.tables.create(ADA, PAIRS)
        other = await finished(lobby, engine, EVE, DAN)
        assert await refusal_of(lobby.tables.rematch(BOB, other)) == "NOT_SEATED"
        await rematch(lobby, EVE, other)


async def test_a_matched_table_is_played_again_as_a_public_one_that_forms(lobby: Lobby, engine: FakeEngine) -> None:
    calls = await waiting(lobby, ADA, BOB)
    await match_all(lobby)
    (table_id,) = engine.opened
    for call in calls:
        await call.aclose()
    engine.finished.add(table_id)
    table = await rematch(lobby, BOB, table_id)
    assert (table.access, table.state) == (OPEN, TableState.FORMING)
    assert sorted(occupants(table)) == [f"({ADA.player_id})", BOB.player_id]


async def test_players_who_follow_a_finished_table_learn_of_the_next_one(
    deployment: LobbyDeployment, engine: FakeEngine
) -> None:
    async with deployment.lobby() as one, deployment.lobby() as other, AsyncExitStack() as stack:
        table = await playing(one, ADA, BOB)
        ada, eve, bob = [
            await stack.enter_async_context(aclosing(lobby.tables.watch_table(who.player_id, table.table_id)))
            for lobby, who in ((one, ADA), (one, EVE), (other, BOB))
        ]
        for stream in (ada, eve, bob) * 2:
            await next_message(stream)
        await other.catch_up_worker.catch_up()
        engine.finished.add(table.table_id)
        await one.housekeeper.finish_tables()
        await other.catch_up_worker.catch_up()
        over = await stored(one, table.table_id)
        assert [await next_message(stream) for stream in (ada, eve, bob)] == [WatchedTable(over, True)] * 3
        # A spectator does not wait for a table to which nobody takes them.
        with pytest.raises(StopAsyncIteration):
            await next_message(eve)
        following = await rematch(one, BOB, table.table_id)
        await other.catch_up_worker.catch_up()
        for stream in (ada, bob):
            changed = (await next_message(stream)).table
            assert changed is not None
            assert changed.next_table_id == following.table_id
            with pytest.raises(StopAsyncIteration):
                await next_message(stream)


async def test_a_finished_table_is_played_again_as_long_as_it_is_kept(
    lobby: Lobby, engine: FakeEngine, clock: FakeClock
) -> None:
    table_id = await finished(lobby, engine, ADA)
    clock.advance(29 * 86_400)
    await lobby.housekeeper.delete_expired()
    table = await rematch(lobby, ADA, table_id)
    clock.advance(31 * 86_400)
    await lobby.housekeeper.delete_expired()
    assert await refusal_of(lobby.tables.rematch(ADA, table_id)) == "UNKNOWN_TABLE"
    assert (await stored(lobby, table.table_id)).previous_table_id == table_id
