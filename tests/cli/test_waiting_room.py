"""A forming table whose lobby does not answer."""

import asyncio
from itertools import count
from typing import Any

import grpc

from croupier.cli.terminal.waiting_room import WaitingRoom
from croupier_api.v1 import lobby_pb2, tables_pb2
from croupier_client.errors import PermissionDenied, Unavailable
from tests.cli.conftest import FakeScreen

DEADLINE_SECONDS = 30.0
FAILURES = 20
SEAT = tables_pb2.Seat(name="Ada", player_id="ada")
TABLE = tables_pb2.Table(table_id="t1", state=tables_pb2.TABLE_STATE_FORMING, seats=[SEAT])
BEGUN = tables_pb2.Table(table_id="t1", state=tables_pb2.TABLE_STATE_PLAYING)


class Client:
    """A client whose calls have scripted answers: a table, or None while no lobby answers."""

    player = lobby_pb2.Player(player_id="ada")

    def __init__(self, *answers: tables_pb2.Table | None) -> None:
        self._answers = list(answers)

    async def get_table(self, *, table_id: str) -> Any:
        if table := self._answers.pop(0):
            return lobby_pb2.GetTableResponse(table=table)
        raise Unavailable(grpc.StatusCode.UNAVAILABLE, f"no lobby for {table_id}")

    async def set_ready(self, *, table_id: str, client_seed: bytes) -> Any:
        raise PermissionDenied(grpc.StatusCode.PERMISSION_DENIED, f"no seat at {table_id}: join it first")


async def test_a_lost_lobby_is_shown_and_asked_until_it_answers() -> None:
    screen, seconds = FakeScreen(), count(0, 10)
    client: Any = Client(*[None] * FAILURES, BEGUN)
    room = WaitingRoom(client, TABLE, "Thulla", screen, clock=lambda: float(next(seconds)), poll_seconds=0)
    async with asyncio.timeout(DEADLINE_SECONDS):
        assert await room.run()
    assert len(screen.messages) >= FAILURES
    assert screen.messages[0].startswith("The connection is lost: asking the lobby until it answers")


async def test_a_seat_that_was_given_up_between_the_reading_and_getting_ready_is_no_fault() -> None:
    client: Any = Client(TABLE, BEGUN)
    async with asyncio.timeout(DEADLINE_SECONDS):
        assert await WaitingRoom(client, TABLE, "Thulla", FakeScreen(), poll_seconds=0).run()
