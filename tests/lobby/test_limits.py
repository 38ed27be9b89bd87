"""Each network has a share of sign-ins, created and running tables, streams and tickets, and takes none of others."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import pytest
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.lobby import table_service
from croupier.lobby.assembly import Lobby
from croupier.lobby.schema import TABLES
from croupier.runtime.costs import TABLES_PAGE_COST
from croupier.runtime.errors import LimitReached, NotFound
from croupier.runtime.identity import Caller, set_caller
from croupier.runtime.network import Network
from croupier.runtime.rate_limit import SECOND, Budgets, CallBudget, TooManyCalls, begin_charging
from croupier_api.v1 import lobby_pb2 as pb
from tests.databases import on_both_databases
from tests.lobby.deployment import LobbyDeployment
from tests.lobby.fakes import HIDDEN_PAIRS, FakeClock, FakeEngine, player
from tests.lobby.matches import match_all
from tests.waiting import TIMEOUT_SECONDS

Start: TypeAlias = Callable[[], Any]
"""Starts a stream, which is an asynchronous generator."""

NEAR, FAR = Network("0" * 16), Network("1" * 16)
CREATE = pb.CreateTableRequest(game="pairs", seat_count=2)
FIND = pb.FindMatchRequest(game="pairs", seat_count=2)
WATCH = pb.WatchTablesRequest()
SMALL: dict[str, Any] = {
    "sign_in_burst": 3,
    "tables_created_burst": 3,
    "max_network_tables": 2,
    "max_lobby_streams": 6,
    "max_tickets": 6,
    "max_player_lobby_streams": 2,
    "max_network_lobby_streams": 3,
    "max_network_tickets": 3,
}


@pytest.fixture
async def small(deployment: LobbyDeployment) -> AsyncIterator[Lobby]:
    """Return a lobby with small limits."""
    async with deployment.lobby(**SMALL) as lobby:
        yield lobby


def call_as(number: int, network: Network | None = NEAR) -> None:
    """Let a player of a network make the next calls."""
    set_caller(Caller(player(number).player_id, player(number).name, network))


async def limit_of(call: Awaitable[Any]) -> str:
    """Return the limit that refuses a call."""
    with pytest.raises(LimitReached) as refusal:
        await asyncio.wait_for(call, TIMEOUT_SECONDS)
    assert refusal.value.retry_after_seconds is not None
    return refusal.value.limit


async def sign_in(lobby: Lobby, number: int, network: Network | None = NEAR) -> pb.SignInResponse:
    set_caller(Caller("", "", network))
    return await lobby.servicer.SignIn(pb.SignInRequest(device_secret=f"the secret of device {number}"), None)


async def test_sign_ins_of_a_network_have_a_budget_of_their_own(small: Lobby, clock: FakeClock) -> None:
    signed_in = [await sign_in(small, number) for number in range(3)]
    assert await limit_of(sign_in(small, 3)) == "sign_ins"
    set_caller(Caller("", "", NEAR))
    await small.servicer.RefreshToken(pb.RefreshTokenRequest(refresh_token=signed_in[0].tokens.refresh_token), None)
    await sign_in(small, 3, FAR)
    for number in range(9):
        await sign_in(small, number, None)
    clock.advance(1)
    await sign_in(small, 3)
    assert await limit_of(sign_in(small, 4)) == "sign_ins"


async def test_created_tables_of_a_network_have_a_budget_even_if_they_are_left(small: Lobby, clock: FakeClock) -> None:
    for number in range(3):
        call_as(number)
        table_id = (await small.servicer.CreateTable(CREATE, None)).table.table_id
        await small.servicer.LeaveTable(pb.LeaveTableRequest(table_id=table_id), None)
    assert await limit_of(small.servicer.CreateTable(CREATE, None)) == "tables_created"
    call_as(1, FAR)
    await small.servicer.CreateTable(CREATE, None)
    clock.advance(1)
    call_as(1)
    await small.servicer.CreateTable(CREATE, None)


async def test_tables_of_quick_match_take_units_of_the_network_of_their_first_player(
    small: Lobby, clock: FakeClock
) -> None:
    async def match(network: Network) -> None:
        async with AsyncExitStack() as stack:
            streams = []
            for number, of in ((1, network), (2, FAR)):
                call_as(number, of)
                start: Start = partial(small.servicer.FindMatch, FIND, None)
                streams.append(await stack.enter_async_context(aclosing(start())))
                await anext(streams[-1])
                clock.advance(0.001)
            await match_all(small)
            for number, stream in enumerate(streams, 1):
                call_as(number, network if number == 1 else FAR)
                assert (await anext(stream)).table.host_player_id == player(1).player_id
                with pytest.raises(StopAsyncIteration):
                    await anext(stream)

    for _ in range(4):
        await match(NEAR)
    assert await limit_of(match(NEAR)) == "tables_created"
    call_as(1)
    assert await limit_of(small.servicer.CreateTable(CREATE, None)) == "tables_created"
    await match(Network("2" * 16))
    clock.advance(1)
    await match(NEAR)


@on_both_databases
async def test_running_tables_of_a_network_are_limited(
    deployment: LobbyDeployment, engine: FakeEngine, database: AsyncEngine
) -> None:
    async with deployment.lobby(max_network_tables=2) as lobby:
        call_as(1)
        first = (await lobby.servicer.CreateTable(CREATE, None)).table
        call_as(2)
        await lobby.servicer.CreateTable(CREATE, None)
        engine.calls.clear()
        assert await limit_of(lobby.servicer.CreateTable(CREATE, None)) == "network_tables"
        assert engine.calls == []
        for network in (FAR, None):
            call_as(2, network)
            await lobby.servicer.CreateTable(CREATE, None)
        call_as(1)
        await lobby.servicer.LeaveTable(pb.LeaveTableRequest(table_id=first.table_id), None)
        third = (await lobby.servicer.CreateTable(CREATE, None)).table
    assert engine.networks[third.table_id] == NEAR
    async with database.connect() as connection:
        stored = (await connection.execute(select(TABLES.c.network).order_by(TABLES.c.network))).scalars().all()
    assert sorted(each or "" for each in stored) == ["", "", NEAR.id, NEAR.id, FAR.id]


async def test_a_wide_network_may_have_four_times_the_running_tables(small: Lobby) -> None:
    for number in range(8):
        call_as(number, Network(f"{number:016x}", "f" * 16))
        await small.servicer.CreateTable(CREATE, None)
    call_as(8, Network("8" * 16, "f" * 16))
    assert await limit_of(small.servicer.CreateTable(CREATE, None)) == "network_tables"


async def test_streams_and_tickets_have_slots_of_their_own_for_players_and_networks(small: Lobby) -> None:
    call_as(1, FAR)
    await small.servicer.CreateTable(CREATE, None)
    async with AsyncExitStack() as stack:

        async def opened(start: Start, number: int, network: Network) -> None:
            call_as(number, network)
            stream = await stack.enter_async_context(aclosing(start()))
            await anext(stream)

        starts: dict[str, Start] = {
            "streams": lambda: small.servicer.WatchTables(WATCH, None),
            "tickets": lambda: small.servicer.FindMatch(FIND, None),
        }
        for limit, start in starts.items():
            for _ in range(2):
                await opened(start, 1, NEAR)
            assert await limit_of(opened(start, 1, NEAR)) == limit
            await opened(start, 2, NEAR)
            assert await limit_of(opened(start, 3, NEAR)) == limit
            for number in (4, 5, 6):
                await opened(start, number, FAR)
            # All slots are taken, but those of the other kind are free.
            assert await limit_of(opened(start, 7, Network("2" * 16))) == limit


async def test_a_stream_pays_for_each_further_page_of_tables(lobby: Lobby, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_service, "PAGE_SIZE", 2)
    for number in range(5):
        call_as(number)
        await lobby.servicer.CreateTable(CREATE, None)
    budget = CallBudget("player_calls", 1, 1000, lambda: SECOND)
    begin_charging(Budgets(budget), Caller("ada", ""), 0)
    stream: Any = lobby.servicer.WatchTables(WATCH, None)
    async with aclosing(stream):
        for _ in range(5):
            await anext(stream)
    assert budget.wait("ada", 1000) == 2 * TABLES_PAGE_COST * SECOND


@pytest.mark.parametrize("network", [None, NEAR, Network("0" * 16, "1" * 16)])
async def test_the_engine_gets_the_network_of_the_creator(
    lobby: Lobby, engine: FakeEngine, network: Network | None
) -> None:
    call_as(1, network)
    table = (await lobby.servicer.CreateTable(CREATE, None)).table
    assert engine.networks == {table.table_id: network}


def join(lobby: Lobby, code: str = "23456789") -> Awaitable[pb.JoinTableResponse]:
    return lobby.servicer.JoinTable(pb.JoinTableRequest(invite_code=code), None)


async def wrong_codes(lobby: Lobby, count: int) -> None:
    for _ in range(count):
        with pytest.raises(NotFound):
            await join(lobby)


async def private_table(lobby: Lobby) -> str:
    """Return the invite code of a table with many seats."""
    created = await lobby.tables.create(player(99), replace(HIDDEN_PAIRS, seat_count=5))
    return created.invite_code


async def test_wrong_invite_codes_of_a_player_are_limited(lobby: Lobby, clock: FakeClock) -> None:
    call_as(1, None)
    await wrong_codes(lobby, 20)
    assert await limit_of(join(lobby)) == "invite_codes"
    call_as(2, None)
    await wrong_codes(lobby, 1)
    call_as(1, None)
    clock.advance(3)
    await wrong_codes(lobby, 1)
    assert await limit_of(join(lobby)) == "invite_codes"


async def test_wrong_invite_codes_at_once_are_limited_too(lobby: Lobby) -> None:
    call_as(1)
    calls = [asyncio.ensure_future(join(lobby)) for _ in range(200)]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    assert Counter(map(type, answers)) == {NotFound: 20, TooManyCalls: 180}


async def test_wrong_invite_codes_of_a_network_are_limited_for_all_of_its_guests(lobby: Lobby) -> None:
    code = await private_table(lobby)
    for number in range(20):
        call_as(number)
        await wrong_codes(lobby, 1)
    call_as(21)
    # Also a right one: a guess must not tell them apart.
    assert await limit_of(join(lobby, code)) == "invite_codes"
    call_as(21, FAR)
    assert (await join(lobby, code)).table.seats[1].player_id == player(21).player_id


async def test_right_invite_codes_are_not_limited(lobby: Lobby) -> None:
    code = await private_table(lobby)
    for number in range(100):
        call_as(number % 4)
        await join(lobby, code)
    await wrong_codes(lobby, 20)


async def test_codes_of_ended_tables_and_of_removed_players_are_wrong(lobby: Lobby, clock: FakeClock) -> None:
    table = await lobby.tables.create(player(1), HIDDEN_PAIRS)
    await lobby.tables.join_by_invite_code(player(2), table.invite_code)
    new_code = (await lobby.tables.clear_seat(player(1).player_id, table.table_id, 1)).invite_code
    call_as(2, None)
    with pytest.raises(NotFound):
        await join(lobby, new_code)
    await lobby.tables.leave(player(1).player_id, table.table_id)
    call_as(3, None)
    for _ in range(20):
        with pytest.raises(NotFound):
            await join(lobby, new_code)
    assert await limit_of(join(lobby, new_code)) == "invite_codes"
