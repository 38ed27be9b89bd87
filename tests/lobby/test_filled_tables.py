"""Bots take the free seats of a table when its time is over and all its players are ready."""

from dataclasses import replace

import pytest

from croupier.lobby.accounts.players import Player
from croupier.lobby.assembly import Lobby
from croupier.lobby.tables.forming_table import Table, TableState, add_bot, join, leave, set_ready
from croupier.lobby.tables.games import GameRegistry
from croupier.lobby.tables.new_table import TableSpec
from croupier.lobby.tables.table_changes import IDLE_MILLISECONDS, bots_due_at, seats_due_at, with_due_bots
from croupier.runtime.errors import MalformedRequest
from tests.databases import on_both_databases
from tests.lobby.fakes import (
    ALONE,
    ENGINE_UNAVAILABLE,
    HIDDEN_PAIRS,
    PAIRS,
    START,
    FakeClock,
    FakeEngine,
    LobbyDeployment,
    forming_table,
)
from tests.lobby.matches import ADA, BOB, EVE, ready

FOUR = replace(PAIRS, seat_count=4, bots_after_seconds=60)
DUE = START + 60_000


def seats_of(table: Table) -> list[str]:
    """Return the names of a table's seats, of bots the kind."""
    return [seat.bot or seat.name for seat in table.seats]


def waiting(seats: int = 3) -> Table:
    """Return a table of Ada and Bob, that bots may fill, and where Ada is ready."""
    return set_ready(join(forming_table(seats, bots_at_milliseconds=DUE), BOB), ADA.player_id, True, b"ada")


def filled_at(table: Table, now: int) -> Table:
    """Return a table with bots from a time on; all of its players are there."""
    seen = {seat.player_id: now for seat in table.seats}
    return with_due_bots(table, "clever", seen, since=now, now=now)


async def pass_time(lobby: Lobby, clock: FakeClock, seconds: float, *calling: Player, table: Table) -> None:
    """Let time pass, and some players ask for their table again and again."""
    end = clock.now + round(seconds * 1000)
    while clock.now < end:
        clock.advance(min(5, (end - clock.now) / 1000))
        for one in calling:
            await lobby.tables.get(one.player_id, table.table_id)
        await lobby.presence.tick()


async def stored(lobby: Lobby, table: Table) -> Table:
    found = await lobby.tables.store.get(table.table_id)
    assert found is not None
    return found


def test_bots_take_all_free_seats_at_the_time_and_the_game_begins() -> None:
    table = set_ready(add_bot(waiting(4), ADA.player_id, "random", 3), BOB.player_id, True, b"bob")
    assert filled_at(table, DUE - 1) == table
    filled = filled_at(table, DUE)
    assert filled.state is TableState.OPENING
    assert seats_of(filled) == [ADA.name, BOB.name, "clever", "random"]
    assert [seat.name for seat in filled.seats[2:]] == ["Bot 3", "Bot 4"]
    assert [seat.client_seed for seat in filled.seats] == [b"ada", b"bob", b"", b""]


@pytest.mark.parametrize("state", [state for state in TableState if state is not TableState.FORMING])
def test_only_a_forming_table_gets_bots(state: TableState) -> None:
    table = replace(set_ready(waiting(), BOB.player_id, True, b""), state=state)
    assert bots_due_at(table) is None
    assert filled_at(table, DUE) == table


def test_bots_wait_until_all_players_are_ready() -> None:
    table = waiting()
    assert bots_due_at(table) is None
    assert filled_at(table, DUE) == table
    table = set_ready(table, BOB.player_id, True, b"")
    assert bots_due_at(table) == seats_due_at(table) == DUE
    assert bots_due_at(leave(table, BOB.player_id)) is None
    assert bots_due_at(replace(table, bots_at_milliseconds=None)) is None


async def test_a_table_is_due_at_the_earlier_of_both_times(lobby: Lobby, clock: FakeClock) -> None:
    table = await lobby.tables.create(ADA, replace(FOUR, bots_after_seconds=600))
    await ready(lobby, await lobby.tables.join(BOB, table.table_id), ADA)
    assert seats_due_at(await stored(lobby, table)) == START + IDLE_MILLISECONDS
    clock.advance(IDLE_MILLISECONDS / 1000)
    await lobby.housekeeper.free_idle_seats()
    freed = await stored(lobby, table)
    assert seats_of(freed) == [ADA.name, "", "", ""]
    assert seats_due_at(freed) == START + 600_000


@on_both_databases
@pytest.mark.parametrize("spec", [FOUR, replace(HIDDEN_PAIRS, bots_after_seconds=60)], ids=["public", "private"])
async def test_housekeeping_fills_a_table_and_its_game_begins(
    lobby: Lobby, clock: FakeClock, engine: FakeEngine, spec: TableSpec
) -> None:
    table = await ready(lobby, await lobby.tables.create(ADA, spec), ADA)
    await pass_time(lobby, clock, 59.999, ADA, table=table)
    await lobby.housekeeper.run_steps()
    assert not engine.opened
    clock.advance(0.001)
    await lobby.housekeeper.run_steps()
    filled = await stored(lobby, table)
    assert seats_of(filled) == [ADA.name, *["clever"] * (spec.seat_count - 1)]
    assert filled.state is TableState.PLAYING
    assert engine.opened[table.table_id][0].client_seed == ADA.name.encode()


@on_both_databases
async def test_a_player_who_gets_ready_later_starts_the_game_with_bots(
    lobby: Lobby, clock: FakeClock, engine: FakeEngine
) -> None:
    table = await lobby.tables.create(ADA, FOUR)
    await ready(lobby, await lobby.tables.join(BOB, table.table_id), ADA)
    await pass_time(lobby, clock, 70, ADA, BOB, table=table)
    assert not await lobby.tables.store.list_with_due_seats(clock.now, 10)
    await lobby.housekeeper.run_steps()
    assert not engine.opened
    await ready(lobby, table, BOB)
    await lobby.housekeeper.run_steps()
    assert seats_of(await stored(lobby, table)) == [ADA.name, BOB.name, "clever", "clever"]


async def test_no_game_begins_with_players_who_are_gone_and_they_do_not_keep_housekeeping_busy(
    lobby: Lobby, clock: FakeClock, engine: FakeEngine
) -> None:
    table = await lobby.tables.create(ADA, replace(FOUR, bots_after_seconds=0))
    await ready(lobby, await lobby.tables.join(BOB, table.table_id), ADA, BOB)
    await pass_time(lobby, clock, 60, table=table)
    await lobby.housekeeper.run_steps()
    assert not engine.opened
    left = await stored(lobby, table)
    assert [seat.is_ready for seat in left.seats] == [False] * 4
    assert seats_due_at(left) == clock.now + IDLE_MILLISECONDS
    await ready(lobby, table, ADA, BOB)
    await lobby.housekeeper.run_steps()
    assert [*engine.opened] == [table.table_id]


async def test_after_a_start_or_an_outage_bots_wait_until_it_is_known_who_is_there(
    lobby: Lobby, clock: FakeClock, engine: FakeEngine
) -> None:
    table = await ready(lobby, await lobby.tables.create(ADA, replace(FOUR, bots_after_seconds=0)), ADA)
    for first_pause in (5, 25):
        clock.advance(first_pause)
        await lobby.housekeeper.fill_seats()
        await pass_time(lobby, clock, 35, ADA, table=table)
        await lobby.housekeeper.fill_seats()
        assert not engine.opened
        assert (await stored(lobby, table)).seats[0].is_ready
    await pass_time(lobby, clock, 15, ADA, table=table)
    await lobby.housekeeper.fill_seats()
    assert [*engine.opened] == [table.table_id]


async def test_a_table_that_was_created_without_a_time_is_not_filled(
    lobby: Lobby, clock: FakeClock, engine: FakeEngine
) -> None:
    table = await ready(lobby, await lobby.tables.create(ADA, PAIRS), ADA)
    await pass_time(lobby, clock, 600, ADA, table=table)
    await lobby.housekeeper.fill_seats()
    assert not engine.opened


async def test_a_table_is_filled_after_a_restart_and_opened_when_the_engine_is_back(
    deployment: LobbyDeployment, clock: FakeClock, engine: FakeEngine
) -> None:
    async with deployment.lobby() as lobby:
        table = await ready(lobby, await lobby.tables.create(ADA, FOUR), ADA)
    async with deployment.lobby() as lobby, deployment.lobby() as other:
        await pass_time(lobby, clock, 60, ADA, table=table)
        engine.failure = ENGINE_UNAVAILABLE
        await lobby.housekeeper.run_steps()
        assert (await stored(lobby, table)).state is TableState.FORMING
        engine.failure = None
        await other.presence.tick()
        for _ in range(2):
            await lobby.housekeeper.run_steps()
            await other.housekeeper.run_steps()
        assert (await stored(lobby, table)).state is TableState.PLAYING
    assert engine.calls.count("open_table") == 1


async def test_a_player_who_joins_at_the_last_moment_has_a_seat(
    lobby: Lobby, clock: FakeClock, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = await ready(lobby, await lobby.tables.create(ADA, FOUR), ADA)
    await pass_time(lobby, clock, 60, ADA, table=table)
    choose_bot = lobby.housekeeper.games.choose_bot

    async def and_eve_joins(_: GameRegistry, game: str, bot: str) -> str:
        await lobby.tables.join(EVE, table.table_id)
        return await choose_bot(game, bot)

    monkeypatch.setattr(GameRegistry, "choose_bot", and_eve_joins)
    await lobby.housekeeper.fill_seats()
    assert not engine.opened
    assert seats_of(await stored(lobby, table)) == [ADA.name, EVE.name, "", ""]


async def test_a_game_without_bots_is_refused_and_leaves_no_table(lobby: Lobby, engine: FakeEngine) -> None:
    with pytest.raises(MalformedRequest, match="alone has no bots"):
        await lobby.tables.create(ADA, replace(ALONE, bots_after_seconds=0))
    assert not engine.prepared
