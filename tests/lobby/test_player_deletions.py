"""A deleted player is gone at once, their seats and names soon, and nothing brings them back."""

from contextlib import aclosing
from typing import Any

import pytest

from croupier.lobby.accounts.players import Player
from croupier.lobby.assembly import Lobby
from croupier.lobby.player_deletions import CALL_MILLISECONDS, RETRY_MILLISECONDS
from croupier.lobby.storage.schema import METADATA
from croupier.lobby.tables.forming_table import TableState
from croupier.runtime.database.database import Database
from croupier.runtime.errors import NotFound, ServiceError, Unauthenticated
from croupier_api.v1 import lobby_pb2 as pb
from tests.calls import call_of
from tests.databases import execute, on_both_databases
from tests.lobby.fakes import (
    ALONE,
    ENGINE_UNAVAILABLE,
    HIDDEN_PAIRS,
    PAIRS,
    FakeClock,
    FakeEngine,
    LobbyDeployment,
    add_players,
)
from tests.lobby.matches import ADA, BOB, EVE, next_message, ready, waiting

TOKEN_SECONDS = 900
LAST_PASS_SECONDS = TOKEN_SECONDS + CALL_MILLISECONDS / 1000


async def delete(lobby: Lobby, player: Player = ADA) -> None:
    await lobby.servicer.DeletePlayer(pb.DeletePlayerRequest(), call_of(player.player_id))


async def rows_with(database: Database, text: str) -> dict[str, int]:
    """Return the numbers of rows in which a text is, by table of the database."""
    counts = {}
    for table in METADATA.tables:
        rows = await execute(database, f"SELECT * FROM {table}")  # noqa: S608 - names of ours
        if count := sum(text in str(row) for row in rows):
            counts[table] = count
    return counts


@on_both_databases
async def test_nothing_that_signs_a_player_in_is_left(lobby: Lobby, database: Database) -> None:
    ada, tokens, _ = await lobby.auth.sign_in("a secret of the phone", "Ada")
    code = await lobby.auth.create_device_code(ada.player_id)
    await lobby.auth.sign_in("a secret of the tablet", "", code)
    (stream,) = await waiting(lobby, ada)
    for _ in range(2):
        await delete(lobby, ada)
    assert await rows_with(database, ada.player_id) == {"lobby_deletions": 1}
    assert await rows_with(database, "Ada") == {}
    with pytest.raises(Unauthenticated):
        await lobby.auth.refresh(tokens.refresh_token)
    with pytest.raises(NotFound) as unknown:
        await lobby.servicer.GetPlayer(pb.GetPlayerRequest(player_id=ada.player_id), call_of(BOB.player_id))
    assert unknown.value.reason_name == "UNKNOWN_PLAYER"
    again, _, is_new = await lobby.auth.sign_in("a secret of the phone", "")
    assert (is_new, again.player_id != ada.player_id) == (True, True)
    await lobby.matchmaker.tick()
    with pytest.raises(ServiceError):
        await next_message(stream)


async def test_a_deleted_player_leaves_forming_tables_as_others_see(lobby: Lobby) -> None:
    await add_players(lobby, ADA)
    hosted = await lobby.tables.create(ADA, PAIRS)
    await lobby.tables.join(BOB, hosted.table_id)
    alone = await lobby.tables.create(ADA, HIDDEN_PAIRS)
    async with aclosing(lobby.tables.watch_table(BOB.player_id, hosted.table_id)) as stream:
        assert [(await next_message(stream)).is_list_complete for _ in range(2)] == [False, True]
        await delete(lobby)
        seen = (await next_message(stream)).table
    assert seen is not None
    assert (seen.host_player_id, [seat.player_id for seat in seen.seats]) == (BOB.player_id, ["", BOB.player_id])
    (closed,) = await lobby.housekeeper.tables.list_by_ids([alone.table_id])
    assert closed.state is TableState.CLOSED


@on_both_databases
async def test_the_name_goes_from_games_that_have_begun_and_from_results(
    lobby: Lobby, engine: FakeEngine, clock: FakeClock, database: Database
) -> None:
    await add_players(lobby, ADA, BOB)
    ended = [await lobby.tables.create(ADA, ALONE) for _ in range(3)]
    playing = await lobby.tables.create(BOB, PAIRS)
    await lobby.tables.join(ADA, playing.table_id)
    for table in ended:
        await ready(lobby, table, ADA)
    await ready(lobby, playing, ADA, BOB)
    engine.finished = {table.table_id for table in ended}
    await lobby.housekeeper.finish_tables()
    # The ledger may know tables that the lobby has deleted.
    engine.results = {*engine.finished, "a deleted table", "zz"}
    clock.advance(5)
    before = {table.table_id: table for table in await lobby.housekeeper.tables.list_by_ids(engine.finished)}
    await delete(lobby)
    await lobby.servicer.deletions.finish_due()
    assert await rows_with(database, ADA.name) == {}
    after = {table.table_id: table for table in await lobby.housekeeper.tables.list_by_ids(engine.finished)}
    for table_id, table in after.items():
        assert table.seats[0].player_id == ADA.player_id
        # It is another version, but kept no longer.
        assert (table.version, table.updated_milliseconds) == (
            before[table_id].version + 1,
            before[table_id].updated_milliseconds,
        )
    (seen,) = await lobby.housekeeper.tables.list_by_ids([playing.table_id])
    assert (seen.state, [seat.name for seat in seen.seats]) == (TableState.PLAYING, [BOB.name, ""])
    pages = sorted(engine.results)
    assert engine.forgotten == [(ADA.player_id, (playing.table_id,), after) for after in ("", *pages)]


async def test_a_table_that_is_being_opened_keeps_its_seats_until_the_engine_has_it(
    lobby: Lobby, engine: FakeEngine, clock: FakeClock, database: Database
) -> None:
    """The engine would refuse other seats in a repeated call, and the lobby would close the table."""
    await add_players(lobby, ADA)
    table = await lobby.tables.create(ADA, ALONE)
    engine.failure = ENGINE_UNAVAILABLE
    await ready(lobby, table, ADA)
    engine.failure = None
    await delete(lobby)
    await lobby.servicer.deletions.finish_due()
    (opening,) = await lobby.housekeeper.tables.list_by_ids([table.table_id])
    assert (opening.state, opening.seats[0].name, engine.forgotten) == (TableState.OPENING, ADA.name, [])
    clock.advance(RETRY_MILLISECONDS / 1000)
    await lobby.housekeeper.open_tables()
    await lobby.servicer.deletions.finish_due()
    assert engine.forgotten == [(ADA.player_id, (table.table_id,), "")]
    assert await rows_with(database, ADA.name) == {}


async def test_a_deletion_is_finished_once_engine_and_scoring_answer(
    lobby: Lobby, engine: FakeEngine, clock: FakeClock, database: Database
) -> None:
    await add_players(lobby, ADA)
    engine.failure = ENGINE_UNAVAILABLE
    await delete(lobby)
    for _ in range(3):
        await lobby.servicer.deletions.finish_due()
    assert len(engine.forgotten) == 0
    assert engine.calls.count("forget_player") == 1
    engine.failure = None
    clock.advance(RETRY_MILLISECONDS / 1000)
    await lobby.servicer.deletions.finish_due()
    assert engine.forgotten == [(ADA.player_id, (), "")]
    assert await rows_with(database, ADA.player_id) == {"lobby_deletions": 1}


@on_both_databases
async def test_what_calls_under_way_have_stored_goes_when_access_tokens_have_expired(
    deployment: LobbyDeployment, engine: FakeEngine, clock: FakeClock, database: Database
) -> None:
    async with deployment.lobby(access_token_seconds=TOKEN_SECONDS) as lobby:
        await add_players(lobby, ADA, BOB, EVE)
        await delete(lobby)
        await lobby.servicer.deletions.finish_due()
        # The servicer had looked the player up before their deletion.
        table = await lobby.tables.create(ADA, PAIRS)
        (stream,) = await waiting(lobby, ADA)
        await stream.aclose()
        clock.advance(LAST_PASS_SECONDS - 1)
        await lobby.servicer.deletions.finish_due()
        assert len(engine.forgotten) == 1
        clock.advance(1)
        await lobby.servicer.deletions.finish_due()
        assert len(engine.forgotten) == 2
        assert await rows_with(database, ADA.name) == {}
        (closed,) = await lobby.housekeeper.tables.list_by_ids([table.table_id])
        assert closed.state is TableState.CLOSED
        assert "lobby_deletions" not in await rows_with(database, ADA.player_id)


CALLS: dict[str, Any] = {
    "CreateTable": pb.CreateTableRequest(game="pairs", seat_count=2),
    "JoinTable": pb.JoinTableRequest(table_id="t"),
    "Rematch": pb.RematchRequest(table_id="t"),
    "FindMatch": pb.FindMatchRequest(game="pairs", seat_count=2),
    "GetPlayer": pb.GetPlayerRequest(player_id="me"),
    "UpdatePlayer": pb.UpdatePlayerRequest(name="Ada"),
    "CreateDeviceCode": pb.CreateDeviceCodeRequest(),
}


@pytest.mark.parametrize("method", CALLS)
async def test_the_access_token_of_a_deleted_player_brings_nothing_back(
    lobby: Lobby, database: Database, method: str
) -> None:
    await add_players(lobby, ADA)
    table = await lobby.tables.create(BOB, PAIRS)
    request = CALLS[method]
    if method == "JoinTable":
        request = pb.JoinTableRequest(table_id=table.table_id)
    await delete(lobby)
    answer = getattr(lobby.servicer, method)(request, call_of(ADA.player_id))
    with pytest.raises(Unauthenticated) as refused:
        await (next_message(answer) if method == "FindMatch" else answer)
    assert refused.value.reason_name == "INVALID_ACCESS_TOKEN"
    assert await rows_with(database, ADA.player_id) == {"lobby_deletions": 1}


async def test_the_access_token_of_a_deleted_player_still_reads(lobby: Lobby) -> None:
    await add_players(lobby, ADA, BOB)
    table = await lobby.tables.create(BOB, PAIRS)
    await lobby.tables.join(ADA, table.table_id)
    await ready(lobby, table, ADA, BOB)
    await delete(lobby)
    seen = await lobby.servicer.GetTable(pb.GetTableRequest(table_id=table.table_id), call_of(ADA.player_id))
    assert [seat.name for seat in seen.table.seats] == [BOB.name, ""]


async def test_a_guest_who_was_deleted_by_housekeeping_is_gone(lobby: Lobby, engine: FakeEngine) -> None:
    await delete(lobby)
    await lobby.servicer.deletions.finish_due()
    assert engine.forgotten == []
