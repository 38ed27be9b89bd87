"""No call of the lobby keeps the event loop for long, with a thousand forming tables."""

import asyncio
from contextlib import ExitStack, aclosing
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from google.protobuf.message import Message
from sqlalchemy import insert

from croupier.lobby.accounts.players import Player
from croupier.lobby.assembly import Lobby
from croupier.lobby.feed.subscriptions import TableFeed
from croupier.lobby.storage.schema import SEATS, TABLES
from croupier.lobby.storage.table_store import to_row
from croupier.lobby.tables.forming_table import FREE_SEAT, Seat, Table, TableState
from croupier.runtime.database.database import Database
from croupier.runtime.server.tasks import end_tasks
from croupier_api.v1 import lobby_pb2 as pb
from tests.calls import call_of
from tests.databases import execute
from tests.lobby.fakes import START, add_players, forming_table
from tests.loop_steps import MAX_STEP_SECONDS, TRIES, longest_step, read_all, serialized

FORMING_TABLES = 1_000
FINISHED_TABLES = 100
STREAMS = 1_000
REGULAR = "regular"
"""A player with a seat at every table."""
MAX_STREAMS = 5_000
"""Of one lobby, by default."""
MESSAGES = {"WatchTables": FORMING_TABLES, "FindMatch": 1}
"""The messages to read of each stream."""
METHODS = [method.name for method in pb.DESCRIPTOR.services_by_name["LobbyService"].methods]


def forming(number: int) -> Table:
    """Return a table with as many seats, options and bytes as a table may have, and a free seat."""
    seats = (
        Seat(f"host{number}", "n" * 64, client_seed=bytes(64)),
        *(Seat(f"player{number}-{seat}", "n" * 64, client_seed=bytes(64)) for seat in range(4)),
        Seat(REGULAR, "n" * 64, client_seed=bytes(64)),
        FREE_SEAT,
    )
    return replace(
        forming_table(),
        table_id=f"table{number}",
        options={f"option_{name}": name for name in range(20)},
        seats=seats,
        host_player_id=f"host{number}",
        seed_commitment="0" * 64,
        created_milliseconds=START + number,
        updated_milliseconds=START + number,
        teams=((0, 2, 4), (1, 3, 5)),
    )


def finished(number: int) -> Table:
    return replace(
        forming(number), table_id=f"finished{number}", state=TableState.FINISHED, options={}, created_milliseconds=START
    )


@pytest.fixture
async def full_lobby(lobby: Lobby, database: Database) -> Lobby:
    await execute(database, insert(TABLES), [to_row(forming(number)) for number in range(FORMING_TABLES)])
    await execute(database, insert(TABLES), [to_row(finished(number)) for number in range(FINISHED_TABLES)])
    await add_players(lobby, *(Player(f"host{number}", "Host") for number in range(TRIES)))
    seats = [{"table_id": f"table{number}", "player_id": REGULAR} for number in range(FORMING_TABLES)]
    await execute(database, insert(SEATS), seats)
    return lobby


def request_of(method: str, number: int, refresh_token: str) -> Message:
    """Return a request of a method that the host of a table may send, and that changes no other table."""
    table_id = f"table{number}"
    requests: dict[str, Message] = {
        "SignIn": pb.SignInRequest(device_secret=f"the secret of device {number}"),
        "RefreshToken": pb.RefreshTokenRequest(refresh_token=refresh_token),
        "SignOut": pb.SignOutRequest(refresh_token=refresh_token, all_devices=True),
        "GetPlayer": pb.GetPlayerRequest(player_id="me"),
        "UpdatePlayer": pb.UpdatePlayerRequest(name="Ada"),
        "DeletePlayer": pb.DeletePlayerRequest(),
        "CreateDeviceCode": pb.CreateDeviceCodeRequest(),
        "ListGames": pb.ListGamesRequest(),
        "CreateTable": pb.CreateTableRequest(game="pairs", seat_count=5),
        "GetTable": pb.GetTableRequest(table_id=table_id),
        "ListTables": pb.ListTablesRequest(page_size=100),
        "ListMyTables": pb.ListMyTablesRequest(page_size=100),
        "WatchTables": pb.WatchTablesRequest(),
        "JoinTable": pb.JoinTableRequest(table_id=f"table{FORMING_TABLES - 1 - number}"),
        "UpdateTable": pb.UpdateTableRequest(table_id=table_id, seat_count=8),
        "LeaveTable": pb.LeaveTableRequest(table_id=table_id),
        "SetReady": pb.SetReadyRequest(table_id=table_id, is_ready=True),
        "AddBot": pb.AddBotRequest(table_id=table_id),
        "ClearSeat": pb.ClearSeatRequest(table_id=table_id, seat=1),
        "Rematch": pb.RematchRequest(table_id=f"finished{number}"),
        "FindMatch": pb.FindMatchRequest(game="pairs", seat_count=2),
    }
    return requests[method]


@pytest.mark.parametrize("method", METHODS)
async def test_a_call_takes_short_steps(full_lobby: Lobby, method: str) -> None:
    numbers = count()

    async def call() -> None:
        number = next(numbers)
        signed_in = await full_lobby.servicer.SignIn(
            pb.SignInRequest(device_secret="the secret of a device"), call_of()
        )
        request = request_of(method, number, signed_in.tokens.refresh_token)
        answer = getattr(full_lobby.servicer, method)(request, call_of(f"host{number}"))
        if method not in MESSAGES:
            await serialized(answer)
            return
        async with aclosing(answer) as stream:
            await read_all(stream, MESSAGES[method])

    assert await longest_step(call) < MAX_STEP_SECONDS


async def test_lists_and_streams_of_many_own_tables_take_short_steps(full_lobby: Lobby) -> None:
    servicer = full_lobby.servicer

    async def list_them() -> None:
        answer = await servicer.ListMyTables(pb.ListMyTablesRequest(page_size=100), call_of(REGULAR))
        assert len(answer.tables) == 100

    async def watch_them() -> None:
        watched: Any = servicer.WatchTables(pb.WatchTablesRequest(mine=True), call_of(REGULAR))
        async with aclosing(watched) as stream:
            await read_all(stream, FORMING_TABLES)

    assert await longest_step(list_them) < MAX_STEP_SECONDS
    assert await longest_step(watch_them) < MAX_STEP_SECONDS


async def test_a_catch_up_with_many_changes_and_streams_takes_short_steps(full_lobby: Lobby) -> None:
    with ExitStack() as streams:
        for number in range(STREAMS):
            streams.enter_context(full_lobby.feed.subscribe_table(f"table{number}", "stranger"))
        assert await longest_step(full_lobby.catch_up_worker.catch_up) < MAX_STEP_SECONDS


@pytest.mark.parametrize("table_id", ["", "table1"], ids=["public tables", "one table"])
async def test_a_change_for_all_streams_of_a_lobby_takes_short_steps(table_id: str) -> None:
    assert min([await step_of_a_change(table_id) for _ in range(TRIES)]) < MAX_STEP_SECONDS


async def step_of_a_change(table_id: str) -> float:
    """Return the longest step of the publication of a change while all streams wait for it, in seconds."""
    feed = TableFeed()
    with ExitStack() as stack:
        waiting = []
        for number in range(MAX_STREAMS):
            viewer = ("viewer", str(number))
            context = feed.subscribe_table(table_id, *viewer) if table_id else feed.subscribe_public("", *viewer)
            waiting.append(asyncio.ensure_future(anext(stack.enter_context(context).changes())))
        await asyncio.sleep(0)

        async def publish() -> None:
            feed.publish(forming(1))
            await waiting[0]

        longest = await longest_step(publish, tries=1)
        await end_tasks(waiting)
        return longest
