"""The lobby learns the ends of games from the engine's stream."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from croupier.lobby.assembly import Lobby
from croupier.lobby.housekeeping import REPAIR_MILLISECONDS
from croupier.lobby.tables import table_opener
from croupier.lobby.tables.engine_port import EndedTables
from croupier.lobby.tables.forming_table import TableState
from tests.databases import on_both_databases
from tests.lobby.fakes import ENGINE_UNAVAILABLE, START, FakeClock, FakeEngine
from tests.lobby.test_housekeeping import playing, state_of
from tests.waiting import until


@pytest.fixture
async def following(lobby: Lobby, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """Follow the ends in the background."""
    for name in ("RESUME_SECONDS", "RETRY_SECONDS"):
        monkeypatch.setattr(table_opener, name, 0.001)
    task = asyncio.create_task(lobby.opener.follow_ends())
    yield
    task.cancel()
    await asyncio.wait([task])


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
