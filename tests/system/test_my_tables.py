"""An app that is opened again finds its tables: by both clients of Python, by JSON, and by streams of all three."""

import asyncio
import http.client
import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from queue import Queue
from random import Random
from typing import Any

import pytest
from google.protobuf.duration_pb2 import Duration

from croupier.cli.launcher.background import started_services
from croupier_api.v1 import lobby_pb2, tables_pb2
from croupier_client import BlockingClient, Client, Endpoints, choose_random_action, play_game_blocking
from tests.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.gateway
GAME = "thulla"
HIDDEN = tables_pb2.TableAccess(visibility=tables_pb2.VISIBILITY_SEATED)
PLAYING, FINISHED = tables_pb2.TABLE_STATE_PLAYING, tables_pb2.TABLE_STATE_FINISHED


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("services")
    with started_services(folder, gateway=()) as services:
        yield services.addresses["gateway"]["listen"]


def get(address: str, client: BlockingClient, path: str, lines: int = 0) -> list[Any]:
    """Return the answer to a call by JSON, or the first lines of a stream."""
    token = client.session.access_token
    with closing(http.client.HTTPConnection(address, timeout=TIMEOUT_SECONDS)) as connection:
        connection.request("GET", path, headers={"authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        assert answer.status == http.HTTPStatus.OK
        if not lines:
            return [json.loads(answer.read())]
        return [json.loads(answer.readline()) for _ in range(lines)]


def test_a_player_finds_their_tables_again(address: str) -> None:
    endpoints = Endpoints.single(address)
    with (
        BlockingClient(endpoints, "the secret device of Ada", "Ada") as ada,
        BlockingClient(endpoints, "the secret device of Bob", "Bob") as bob,
    ):
        slow = tables_pb2.TimeControl(action_time=Duration(seconds=600))
        created = ada.create_table(game=GAME, seat_count=2, access=HIDDEN, time_control=slow).table
        table_id = created.table_id
        bob.join_table(invite_code=created.invite_code)
        ((mine,),) = (page["tables"] for page in get(address, bob, "/v1/players/me/tables"))
        assert (mine["table"]["table_id"], mine["my_seat"]) == (table_id, {"seat": 1, "is_away": False})
        assert mine["table"]["invite_code"] == created.invite_code
        for client in (ada, bob):
            client.set_ready(table_id=table_id)
        assert [mine.table.table_id for mine in bob.list_my_tables(state=PLAYING).tables] == [table_id]
        turns = [client.list_my_tables().tables[0].my_seat for client in (ada, bob)]
        assert sorted(seat.is_to_act for seat in turns) == [False, True]
        (to_act,) = (seat for seat in turns if seat.is_to_act)
        assert to_act.HasField("deadline_time")
        assert [seat.HasField("is_away") for seat in turns] == [True, True]
        first, complete = get(address, ada, "/v1/tables:watch?mine=true", lines=2)
        assert (first["table"]["table_id"], first["my_seat"]["is_to_act"]) == (table_id, turns[0].is_to_act)
        assert complete["is_list_complete"]
        for client in (ada, bob):
            client.list_games()
        ends: Queue[lobby_pb2.WatchTablesResponse] = Queue()
        following = threading.Thread(target=follow_to_the_end, args=(ada, ends))
        following.start()
        asyncio.run(watched_by_another_device(endpoints, table_id))
        play(ada, bob, table_id)
        end = ends.get(timeout=TIMEOUT_SECONDS)
        following.join(TIMEOUT_SECONDS)
        assert (end.table.table_id, end.my_seat.seat, end.my_seat.HasField("is_to_act")) == (table_id, 0, False)
        assert not bob.list_my_tables().tables
        assert [mine.table.table_id for mine in bob.list_my_tables(state=FINISHED).tables] == [table_id]


def follow_to_the_end(client: BlockingClient, ends: "Queue[lobby_pb2.WatchTablesResponse]") -> None:
    for answer in client.watch_my_tables():
        if answer.table.state == FINISHED:
            ends.put(answer)
            return


async def watched_by_another_device(endpoints: Endpoints, table_id: str) -> None:
    """Follow the tables with a second client of the same player."""
    async with Client(endpoints, "the secret device of Ada") as client:
        answers: AsyncIterator[lobby_pb2.WatchTablesResponse] = client.watch_my_tables()
        first = await asyncio.wait_for(anext(answers), TIMEOUT_SECONDS)
        assert (first.table.table_id, first.my_seat.seat) == (table_id, 0)
        assert [mine.table.table_id for mine in (await client.list_my_tables()).tables] == [table_id]


def play(ada: BlockingClient, bob: BlockingClient, table_id: str) -> None:
    """Play a game to its end."""
    rng = Random(1)

    def play_seat(client: BlockingClient) -> None:
        with client.play_table(table_id) as table:
            play_game_blocking(table, lambda seen: choose_random_action(seen, rng))

    playing = [threading.Thread(target=play_seat, args=(client,)) for client in (ada, bob)]
    for thread in playing:
        thread.start()
    for thread in playing:
        thread.join(TIMEOUT_SECONDS)
