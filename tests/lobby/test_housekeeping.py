"""Housekeeping, and the engine's stream of ends, finish what the calls of players left behind."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from croupier.lobby import housekeeping
from croupier.lobby.assembly import Lobby
from croupier.lobby.housekeeping import REPAIR_MILLISECONDS
from croupier.lobby.tables import table_opener
from croupier.lobby.tables.engine_port import EndedTables
from croupier.lobby.tables.forming_table import TableState
from croupier.runtime.database.database import Database
from croupier.runtime.errors import LimitReached, ServiceError, Unauthenticated, Unavailable
from croupier.runtime.server.tasks import end_tasks
from croupier.runtime.table_access import SEATED
from tests.databases import execute, on_both_databases
from tests.lobby.fakes import ALONE, ENGINE_UNAVAILABLE, START, FakeClock, FakeEngine, LobbyDeployment, player
from tests.lobby.matches import ADA, BOB, ready
from tests.waiting import until


async def playing(lobby: Lobby, number: int = 1) -> str:
    return (await ready(lobby, await lobby.tables.create(player(number), ALONE), player(number))).table_id


async def state_of(lobby: Lobby, table_id: str) -> TableState:
    return (await lobby.tables.get(ADA.player_id, table_id)).state


async def test_a_complete_table_opens_when_the_engine_is_back_also_after_a_restart(
    deployment: LobbyDeployment, engine: FakeEngine, clock: FakeClock
) -> None:
    async with deployment.lobby() as lobby:
        table = await lobby.tables.create(ADA, ALONE)
        engine.failure = ENGINE_UNAVAILABLE
        await lobby.tables.set_ready(ADA.player_id, table.table_id, True, b"seed")
        engine.failure = None
        # A table that was changed just now is opened by the call that changed it.
        await lobby.housekeeper.open_tables()
        assert engine.opened == {}
    engine.failure = ENGINE_UNAVAILABLE
    async with deployment.lobby() as lobby:
        clock.advance(3)
        await lobby.housekeeper.open_tables()
        assert await state_of(lobby, table.table_id) is TableState.OPENING
        engine.failure = None
        await lobby.housekeeper.open_tables()
        assert await state_of(lobby, table.table_id) is TableState.PLAYING
    assert engine.opened[table.table_id][0].client_seed == b"seed"


@on_both_databases
async def test_finished_games_are_stored_in_batches_of_limited_size(
    lobby: Lobby, engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(housekeeping, "MAX_TABLE_IDS", 2)
    table_ids = [await playing(lobby, number) for number in range(5)]
    engine.finished = set(table_ids[:4])
    for _ in range(3):
        await lobby.housekeeper.finish_tables()
    states = [await state_of(lobby, table_id) for table_id in table_ids]
    assert states == [TableState.FINISHED] * 4 + [TableState.PLAYING]


@pytest.mark.parametrize("failure", [ENGINE_UNAVAILABLE, RuntimeError("a defect")])
async def test_a_step_that_fails_is_tried_again(lobby: Lobby, engine: FakeEngine, failure: ServiceError) -> None:
    table_id = await playing(lobby)
    engine.finished.add(table_id)
    engine.failure = failure
    await lobby.housekeeper.run_steps()
    assert "table_statuses" in engine.calls
    engine.failure = None
    await lobby.housekeeper.run_steps()
    assert await state_of(lobby, table_id) is TableState.FINISHED


@on_both_databases
async def test_public_tables_that_form_without_a_change_for_an_hour_are_closed(lobby: Lobby, clock: FakeClock) -> None:
    idle = await lobby.tables.create(ADA, replace(ALONE, seat_count=2))
    busy = await lobby.tables.create(ADA, replace(ALONE, seat_count=2))
    clock.advance(3000)
    await lobby.tables.join(BOB, busy.table_id)
    clock.advance(601)
    await lobby.housekeeper.close_idle_tables()
    assert await state_of(lobby, idle.table_id) is TableState.CLOSED
    assert await state_of(lobby, busy.table_id) is TableState.FORMING


@on_both_databases
async def test_a_table_that_is_not_public_forms_for_a_day(lobby: Lobby, clock: FakeClock) -> None:
    table = await lobby.tables.create(ADA, replace(ALONE, seat_count=2, access=SEATED))
    clock.advance(86_399)
    await lobby.housekeeper.close_idle_tables()
    assert await state_of(lobby, table.table_id) is TableState.FORMING
    clock.advance(1)
    await lobby.housekeeper.close_idle_tables()
    assert await state_of(lobby, table.table_id) is TableState.CLOSED


@on_both_databases
async def test_a_table_closes_when_it_says(lobby: Lobby, clock: FakeClock) -> None:
    lifetime = lobby.servicer.encoded.lifetime
    hidden = await lobby.tables.create(ADA, replace(ALONE, seat_count=2, access=SEATED))
    for _ in range(2):
        clock.advance(1000)
        public = await lobby.tables.update(ADA.player_id, hidden.table_id, replace(ALONE, seat_count=3))
        hidden = await lobby.tables.update(ADA.player_id, hidden.table_id, replace(ALONE, seat_count=2, access=SEATED))
        assert lifetime.closes_at(public) == clock() + 3_600_000
        assert lifetime.closes_at(hidden) == START + 86_400_000
    clock.advance(86_400 - 2000 - 3600)
    public = await lobby.tables.update(ADA.player_id, hidden.table_id, replace(ALONE, seat_count=3))
    assert lifetime.closes_at(public) == START + 86_400_000
    for seconds, state in ((3599, TableState.FORMING), (1, TableState.CLOSED)):
        clock.advance(seconds)
        await lobby.housekeeper.close_idle_tables()
        assert await state_of(lobby, public.table_id) is state


@on_both_databases
async def test_a_table_that_forms_for_a_day_is_closed_whatever_happens_there(lobby: Lobby, clock: FakeClock) -> None:
    table = await lobby.tables.create(ADA, replace(ALONE, seat_count=2))
    for number in range(48):
        assert await state_of(lobby, table.table_id) is TableState.FORMING
        clock.advance(1801)
        await lobby.tables.set_ready(ADA.player_id, table.table_id, number % 2 == 0, b"")
        await lobby.housekeeper.close_idle_tables()
    assert await state_of(lobby, table.table_id) is TableState.CLOSED


async def test_closed_tables_are_discarded_at_the_engine_even_if_that_fails_at_first(
    lobby: Lobby, engine: FakeEngine
) -> None:
    closed = [await lobby.tables.create(ADA, ALONE) for _ in range(3)]
    forming = await lobby.tables.create(ADA, ALONE)
    for table in closed:
        await lobby.tables.leave(ADA.player_id, table.table_id)
    running = await playing(lobby)
    engine.failure = ENGINE_UNAVAILABLE
    with pytest.raises(Unavailable):
        await lobby.housekeeper.updater.send_discarded()
    engine.failure = None
    for _ in range(2):
        await lobby.housekeeper.updater.send_discarded()
    assert set(engine.prepared) == {forming.table_id, running}
    assert engine.calls.count("discard_tables") == 2


async def test_tables_beyond_the_limit_of_their_host_leave_nothing_at_the_engine(
    deployment: LobbyDeployment, engine: FakeEngine
) -> None:
    async with deployment.lobby(max_player_tables=2) as lobby:
        created = await asyncio.gather(*(lobby.tables.create(ADA, ALONE) for _ in range(5)), return_exceptions=True)
        assert sum(isinstance(each, LimitReached) for each in created) == 3
        await lobby.housekeeper.updater.send_discarded()
        assert len(engine.prepared) == 2


@on_both_databases
async def test_ended_tables_and_expired_sign_ins_are_deleted_in_time(
    lobby: Lobby, clock: FakeClock, database: Database, engine: FakeEngine
) -> None:
    _, tokens, _ = await lobby.auth.sign_in("a secret of this device", "Ada")
    closed = (await lobby.tables.create(ADA, ALONE)).table_id
    await lobby.tables.leave(ADA.player_id, closed)
    finished, running = await playing(lobby), await playing(lobby)
    engine.finished.add(finished)
    await lobby.housekeeper.finish_tables()

    async def remaining() -> set[str]:
        await lobby.housekeeper.delete_expired()
        return {table.table_id for table in await lobby.housekeeper.tables.list_by_ids([closed, finished, running])}

    for seconds, expected in (
        (600, {closed, finished, running}),
        (1, {finished, running}),
        (30 * 86_400 - 601, {finished, running}),
        (1, {running}),
    ):
        clock.advance(seconds)
        assert await remaining() == expected
    with pytest.raises(Unauthenticated):
        await lobby.auth.refresh(tokens.refresh_token)
    assert await execute(database, "SELECT count(*) FROM lobby_sign_ins") == [(0,)]


@on_both_databases
async def test_tables_are_counted_by_game_and_state(lobby: Lobby) -> None:
    await playing(lobby)
    table = await lobby.tables.create(ADA, ALONE)
    value = lobby.housekeeper.metrics.registry.get_sample_value

    async def counted(state: str) -> float | None:
        await lobby.housekeeper.count_tables()
        return value("croupier_lobby_tables", {"game": "alone", "state": state})

    assert [await counted("PLAYING"), await counted("FORMING")] == [1, 1]
    await lobby.tables.leave(ADA.player_id, table.table_id)
    assert await counted("FORMING") is None


async def test_old_rows_are_deleted_twice_a_minute(
    deployment: LobbyDeployment, clock: FakeClock, database: Database
) -> None:
    counts = []
    async with deployment.lobby(refresh_token_seconds=0) as lobby:
        for number in range(12):
            await lobby.auth.sign_in(f"the secret of device {number}", "Ada")
            await lobby.housekeeper.run_steps()
            ((count,),) = await execute(database, "SELECT count(*) FROM lobby_sign_ins")
            counts.append(count)
            clock.advance(3)
    assert counts == [*range(10), 0, 1]


@pytest.fixture
async def following(lobby: Lobby, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    for name in ("RESUME_SECONDS", "RETRY_SECONDS"):
        monkeypatch.setattr(table_opener, name, 0.001)
    task = asyncio.create_task(lobby.opener.follow_ends())
    yield
    await end_tasks([task])


async def until_finished(lobby: Lobby, table_id: str) -> None:
    async def is_finished() -> bool:
        return await state_of(lobby, table_id) is TableState.FINISHED

    await until(is_finished)


@on_both_databases
@pytest.mark.usefixtures("following")
async def test_an_ended_table_is_finished_at_once(lobby: Lobby, engine: FakeEngine) -> None:
    ended, other = await playing(lobby, 1), await playing(lobby, 2)
    engine.finished.add(ended)
    # The engine may know tables that the lobby has deleted.
    engine.ended.put_nowait(EndedTables(["unknown", ended], START + 5))
    await until_finished(lobby, ended)
    assert await state_of(lobby, other) is TableState.PLAYING


@pytest.mark.usefixtures("following")
async def test_the_stream_is_resumed_after_its_last_message(lobby: Lobby, engine: FakeEngine) -> None:
    table_id = await playing(lobby)
    engine.ended.put_nowait(EndedTables([], START + 5))
    engine.ended.put_nowait(None)
    await until(lambda: engine.resumed_at == [START, START + 5])
    engine.failure = ENGINE_UNAVAILABLE
    engine.ended.put_nowait(None)
    await until(lambda: engine.calls.count("watch_ended_tables") > 3)
    engine.failure = None
    engine.finished.add(table_id)
    engine.ended.put_nowait(EndedTables([table_id], START + 6))
    await until_finished(lobby, table_id)
    assert set(engine.resumed_at[1:]) == {START + 5}


async def test_all_games_are_asked_for_at_the_start_and_then_seldom(
    lobby: Lobby, engine: FakeEngine, clock: FakeClock
) -> None:
    await playing(lobby)
    for _ in range(3):
        await lobby.housekeeper.repair_finished()
    assert engine.calls.count("table_statuses") == 1
    clock.advance(REPAIR_MILLISECONDS / 1000)
    await lobby.housekeeper.repair_finished()
    assert engine.calls.count("table_statuses") == 2
