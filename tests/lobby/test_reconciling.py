"""What was left undone is looked after."""

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.lobby import reconciling
from croupier.lobby.assembly import Lobby
from croupier.lobby.tables import TableState
from croupier.runtime.errors import NotFound, ServiceError, Unauthenticated
from tests.databases import on_both_databases
from tests.lobby.fakes import PAIRS, SILENT, FakeClock, FakeEngine, player
from tests.lobby.house import House
from tests.lobby.matches import ADA, BOB
from tests.waiting import until

ALONE = replace(PAIRS, game="alone", seats=1)


async def playing(lobby: Lobby, number: int = 1) -> str:
    table = await lobby.forming.create(player(number), ALONE)
    await lobby.forming.set_ready(player(number).player_id, table.table_id, True, b"")
    return table.table_id


async def state_of(lobby: Lobby, table_id: str) -> TableState:
    return (await lobby.forming.get(ADA.player_id, table_id)).state


async def test_a_complete_table_opens_when_the_engine_is_back_also_after_a_restart(
    house: House, engine: FakeEngine, clock: FakeClock
) -> None:
    async with house.lobby() as lobby:
        table = await lobby.forming.create(ADA, ALONE)
        engine.failure = SILENT
        await lobby.forming.set_ready(ADA.player_id, table.table_id, True, b"seed")
        engine.failure = None
        # A table that was changed just now is left to whoever did.
        await lobby.reconciler.open_tables()
        assert engine.opened == {}
    engine.failure = SILENT
    async with house.lobby() as lobby:
        clock.advance(3)
        await lobby.reconciler.open_tables()
        assert await state_of(lobby, table.table_id) is TableState.OPENING
        engine.failure = None
        await lobby.reconciler.open_tables()
        assert await state_of(lobby, table.table_id) is TableState.PLAYING
    assert engine.opened[table.table_id][0].client_seed == b"seed"


@on_both_databases
async def test_games_that_are_over_are_noted_in_bounded_batches(
    lobby: Lobby, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconciling, "MOST_STATUSES", 2)
    table_ids = [await playing(lobby, number) for number in range(5)]
    engine.finished = set(table_ids[:4])
    for _ in range(3):
        await lobby.reconciler.finish_tables()
    states = [await state_of(lobby, table_id) for table_id in table_ids]
    assert states == [TableState.FINISHED] * 4 + [TableState.PLAYING]


@pytest.mark.parametrize("failure", [SILENT, RuntimeError("a defect")])
async def test_a_step_that_fails_is_tried_again(lobby: Lobby, engine: FakeEngine, failure: ServiceError) -> None:
    table_id = await playing(lobby)
    engine.finished.add(table_id)
    engine.failure = failure
    going_round = asyncio.create_task(lobby.reconciler.run(pause_seconds=0.01))
    await until(lambda: "table_statuses" in engine.calls)
    engine.failure = None

    async def is_finished() -> bool:
        return await state_of(lobby, table_id) is TableState.FINISHED

    await until(is_finished)
    going_round.cancel()
    await asyncio.wait([going_round])


@on_both_databases
async def test_forming_tables_that_nobody_touched_for_an_hour_close(lobby: Lobby, clock: FakeClock) -> None:
    idle = await lobby.forming.create(ADA, replace(ALONE, seats=2))
    busy = await lobby.forming.create(ADA, replace(ALONE, seats=2))
    clock.advance(3000)
    await lobby.forming.join(BOB, busy.table_id)
    clock.advance(601)
    await lobby.reconciler.close_idle()
    assert await state_of(lobby, idle.table_id) is TableState.CLOSED
    assert await state_of(lobby, busy.table_id) is TableState.FORMING


@on_both_databases
async def test_what_has_ended_is_forgotten_in_time(lobby: Lobby, clock: FakeClock, database: AsyncEngine) -> None:
    _, tokens, _ = await lobby.reception.sign_in("a secret of this device", "Ada")
    table = await lobby.forming.create(ADA, ALONE)
    await lobby.forming.leave(ADA.player_id, table.table_id)
    plays = await playing(lobby)
    clock.advance(29 * 86_400)
    await lobby.reconciler.forget()
    assert await state_of(lobby, table.table_id) is TableState.CLOSED
    clock.advance(2 * 86_400)
    await lobby.reconciler.forget()
    with pytest.raises(NotFound):
        await state_of(lobby, table.table_id)
    assert await state_of(lobby, plays) is TableState.PLAYING
    with pytest.raises(Unauthenticated):
        await lobby.reception.refresh(tokens.refresh_token)
    async with database.connect() as connection:
        assert (await connection.execute(text("SELECT count(*) FROM lobby_sign_ins"))).scalar() == 0


@on_both_databases
async def test_tables_are_counted_by_game_and_state(lobby: Lobby) -> None:
    await playing(lobby)
    table = await lobby.forming.create(ADA, ALONE)
    value = lobby.reconciler.metrics.registry.get_sample_value

    async def counted(state: str) -> float | None:
        await lobby.reconciler.count()
        return value("croupier_lobby_tables", {"game": "alone", "state": state})

    assert [await counted("PLAYING"), await counted("FORMING")] == [1, 1]
    await lobby.forming.leave(ADA.player_id, table.table_id)
    assert await counted("FORMING") is None
