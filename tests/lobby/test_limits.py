"""Each network has a share of sign-ins, created and running tables, streams and tickets, and takes none of others."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Any, TypeAlias

import pytest
from sqlalchemy import select

from croupier.lobby.api import servicer as lobby_servicer
from croupier.lobby.api.servicer import WRONG_CODE_COST
from croupier.lobby.assembly import Lobby
from croupier.lobby.storage.schema import TABLES
from croupier.lobby.storage.table_store import TableStore
from croupier.lobby.tables import table_service
from croupier.runtime.admission.budget import SECOND, Budget, TooManyCalls
from croupier.runtime.admission.costs import CREATE_TABLE_COST, REMATCH_COST, TABLES_PAGE_COST
from croupier.runtime.database.database import Database
from croupier.runtime.errors import LimitReached, NotFound
from croupier.runtime.identity.tokens import Caller
from croupier.runtime.server.call import Call
from croupier_api.v1 import lobby_pb2 as pb
from tests.calls import call_of, limits
from tests.databases import execute, on_both_databases
from tests.lobby.fakes import (
    FAR,
    HIDDEN_PAIRS,
    NEAR,
    PAIRS,
    FakeClock,
    FakeEngine,
    LobbyDeployment,
    add_players,
    player,
)
from tests.waiting import TIMEOUT_SECONDS

Start: TypeAlias = Callable[[], Any]
"""Starts a stream, which is an asynchronous generator."""

CREATE = pb.CreateTableRequest(game="pairs", seat_count=2)
FIND = pb.FindMatchRequest(game="pairs", seat_count=2)
WATCH = pb.WatchTablesRequest()


@pytest.fixture
async def small(deployment: LobbyDeployment) -> AsyncIterator[Lobby]:
    async with deployment.lobby(sign_in_burst=3, max_network_tables=2) as lobby:
        yield lobby


def call_as(number: int, network: str = NEAR) -> Call:
    return call_of(Caller(player(number).player_id, player(number).name, network))


async def limit_of(call: Awaitable[Any]) -> str:
    """Return the limit that refuses a call."""
    with pytest.raises(LimitReached) as refusal:
        await asyncio.wait_for(call, TIMEOUT_SECONDS)
    assert refusal.value.retry_after_seconds is not None
    return refusal.value.limit


async def sign_in(lobby: Lobby, number: int, network: str = NEAR) -> pb.SignInResponse:
    request = pb.SignInRequest(device_secret=f"the secret of device {number}")
    return await lobby.servicer.SignIn(request, call_of(Caller("", "", network)))


async def test_sign_ins_of_a_network_have_a_budget_of_their_own(small: Lobby, clock: FakeClock) -> None:
    signed_in = [await sign_in(small, number) for number in range(3)]
    assert await limit_of(sign_in(small, 3)) == "sign_ins"
    request = pb.RefreshTokenRequest(refresh_token=signed_in[0].tokens.refresh_token)
    await small.servicer.RefreshToken(request, call_of(Caller("", "", NEAR)))
    await sign_in(small, 3, FAR)
    for number in range(9):
        await sign_in(small, number, "")
    value = small.housekeeper.metrics.registry.get_sample_value
    assert [value("croupier_lobby_sign_ins_total", {"new": new}) for new in ("true", "false")] == [9, 4]
    clock.advance(1)
    await sign_in(small, 3)
    assert await limit_of(sign_in(small, 4)) == "sign_ins"


@on_both_databases
async def test_running_tables_of_a_network_are_limited(
    deployment: LobbyDeployment, engine: FakeEngine, database: Database
) -> None:
    async with deployment.lobby(max_network_tables=2) as lobby:
        await add_players(lobby, player(1), player(2))
        first = (await lobby.servicer.CreateTable(CREATE, call_as(1))).table
        await lobby.servicer.CreateTable(CREATE, call_as(2))
        engine.calls.clear()
        assert await limit_of(lobby.servicer.CreateTable(CREATE, call_as(2))) == "tables"
        assert engine.calls == []
        for network in (FAR, ""):
            await lobby.servicer.CreateTable(CREATE, call_as(2, network))
        await lobby.servicer.LeaveTable(pb.LeaveTableRequest(table_id=first.table_id), call_as(1))
        third = (await lobby.servicer.CreateTable(CREATE, call_as(1))).table
    assert sorted(engine.networks.values()) == ["", NEAR, NEAR, NEAR, FAR]
    assert engine.networks[third.table_id] == NEAR
    stored = await execute(database, select(TABLES.c.network))
    assert sorted(each or "" for (each,) in stored) == ["", "", NEAR, NEAR, FAR]


async def test_a_stream_pays_for_each_further_page_of_tables(lobby: Lobby, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (table_service, lobby_servicer):
        monkeypatch.setattr(module, "PAGE_SIZE", 2)
    await add_players(lobby, *map(player, range(5)))
    for number in range(5):
        await lobby.servicer.CreateTable(CREATE, call_as(number))
    budget = Budget("player_calls", 1, 1000, lambda: SECOND)
    stream: Any = lobby.servicer.WatchTables(WATCH, call_of("ada", limits(player=budget)))
    async with aclosing(stream):
        for _ in range(5):
            await anext(stream)
    assert budget.wait("ada", 1000) == 2 * TABLES_PAGE_COST * SECOND


async def test_the_first_player_who_plays_again_pays_for_the_table(lobby: Lobby, engine: FakeEngine) -> None:
    await add_players(lobby, player(1), player(2))
    table = await lobby.tables.create(player(1), PAIRS)
    await lobby.tables.join(player(2), table.table_id)
    for number in (1, 2):
        await lobby.tables.set_ready(player(number).player_id, table.table_id, True, b"")
    engine.finished.add(table.table_id)
    budget, again = Budget("player_calls", 1, 1000, lambda: SECOND), pb.RematchRequest(table_id=table.table_id)
    for number in (2, 1, 2):
        await lobby.servicer.Rematch(again, call_of(player(number).player_id, limits(player=budget)))
    owed = [budget.wait(player(number).player_id, 1000) // SECOND for number in (1, 2)]
    assert owed == [0, CREATE_TABLE_COST - REMATCH_COST]


def join(lobby: Lobby, call: Call, code: str = "23456789") -> Awaitable[pb.JoinTableResponse]:
    return lobby.servicer.JoinTable(pb.JoinTableRequest(invite_code=code), call)


def look(lobby: Lobby, call: Call, code: str = "23456789") -> Awaitable[pb.GetTableResponse]:
    return lobby.servicer.GetTable(pb.GetTableRequest(invite_code=code), call)


async def wrong_codes(lobby: Lobby, call: Call, count: int, code: str = "23456789") -> None:
    for number in range(count):
        with pytest.raises(NotFound):
            await (look if number % 2 else join)(lobby, call, code)


async def private_table(lobby: Lobby) -> str:
    """Return the invite code of a table with many seats."""
    created = await lobby.tables.create(player(99), replace(HIDDEN_PAIRS, seat_count=5))
    return created.invite_code


MAX_WRONG_CODES = 100


@pytest.mark.parametrize("network", [NEAR, ""])
async def test_wrong_invite_codes_count_as_sign_ins(lobby: Lobby, clock: FakeClock, network: str) -> None:
    await add_players(lobby, player(1), player(2))
    guesser = call_as(1, network)
    await wrong_codes(lobby, guesser, MAX_WRONG_CODES)
    assert await limit_of(join(lobby, guesser)) == "sign_ins"
    await wrong_codes(lobby, call_as(2, FAR), 1)
    clock.advance(WRONG_CODE_COST)
    await wrong_codes(lobby, guesser, 1)
    assert await limit_of(join(lobby, guesser)) == "sign_ins"


async def test_wrong_invite_codes_at_once_are_limited_too(lobby: Lobby) -> None:
    await add_players(lobby, player(1))
    calls = [asyncio.ensure_future(join(lobby, call_as(1))) for _ in range(200)]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    assert Counter(map(type, answers)) == {NotFound: MAX_WRONG_CODES, TooManyCalls: 200 - MAX_WRONG_CODES}


async def test_wrong_invite_codes_of_a_network_are_limited_for_all_of_its_guests(lobby: Lobby) -> None:
    code = await private_table(lobby)
    await add_players(lobby, *map(player, (*range(MAX_WRONG_CODES), 200)))
    for number in range(MAX_WRONG_CODES):
        await wrong_codes(lobby, call_as(number), 1)
    # Also a right one: a guess must not tell them apart.
    for by_code in (join, look):
        assert await limit_of(by_code(lobby, call_as(200), code)) == "sign_ins"
    assert (await join(lobby, call_as(200, FAR), code)).table.seats[1].player_id == player(200).player_id


async def test_right_invite_codes_are_not_limited(lobby: Lobby) -> None:
    code = await private_table(lobby)
    await add_players(lobby, *map(player, range(4)))
    for number in range(2 * MAX_WRONG_CODES):
        await join(lobby, call_as(number % 4), code)
        await look(lobby, call_as(number), code)
    await wrong_codes(lobby, call_as(1), MAX_WRONG_CODES)


async def test_a_look_by_a_code_shows_the_table_and_takes_no_seat(lobby: Lobby, clock: FakeClock) -> None:
    table = await lobby.tables.create(player(1), replace(HIDDEN_PAIRS, seat_count=5))
    shown = (await look(lobby, call_as(2), table.invite_code.lower())).table
    assert (shown.table_id, [seat.name for seat in shown.seats]) == (table.table_id, ["Player 1", *[""] * 4])
    # Those without a seat know the code already, and players without the code do not get it.
    assert shown.invite_code == ""
    assert (await look(lobby, call_as(1), table.invite_code)).table.invite_code == table.invite_code
    assert shown.close_time.ToMilliseconds() == clock() + 86_400_000
    assert await lobby.tables.store.get(table.table_id) == table
    with pytest.raises(NotFound):
        await lobby.tables.get(player(2).player_id, table.table_id)


async def test_a_blocked_player_waits_for_no_more_reads_than_one_with_a_wrong_code(
    lobby: Lobby, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add_players(lobby, player(2))
    table = await lobby.tables.create(player(1), HIDDEN_PAIRS)
    await lobby.tables.join_by_invite_code(player(2), table.invite_code)
    blocked = await lobby.tables.clear_seat(player(1).player_id, table.table_id, 1, block=True)
    read = []

    async def get(_: TableStore, table_id: str) -> None:
        read.append(table_id)

    monkeypatch.setattr(TableStore, "get", get)
    for code in (blocked.invite_code, "23456789"):
        await wrong_codes(lobby, call_as(2), 2, code)
    assert read == []


async def test_codes_of_ended_tables_and_of_removed_players_are_wrong(lobby: Lobby) -> None:
    await add_players(lobby, player(2), player(3))
    table = await lobby.tables.create(player(1), HIDDEN_PAIRS)
    await lobby.tables.join_by_invite_code(player(2), table.invite_code)
    new_code = (await lobby.tables.clear_seat(player(1).player_id, table.table_id, 1, block=True)).invite_code
    await wrong_codes(lobby, call_as(2), 1, new_code)
    await lobby.tables.leave(player(1).player_id, table.table_id)
    await wrong_codes(lobby, call_as(3), MAX_WRONG_CODES - 1, new_code)
    assert await limit_of(join(lobby, call_as(3), new_code)) == "sign_ins"
