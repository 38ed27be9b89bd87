"""A forming table whose lobby does not answer."""

import asyncio
from itertools import count
from typing import Any

import grpc

from croupier.cli.terminal.console import Picture
from croupier.cli.terminal.waiting_room import WaitingRoom
from croupier_api.v1 import lobby_pb2, tables_pb2
from croupier_client.errors import PermissionDenied, Unavailable

DEADLINE_SECONDS = 30.0
FAILURES = 20
TABLE = tables_pb2.Table(table_id="t1", state=tables_pb2.TABLE_STATE_FORMING, seats=[tables_pb2.Seat(name="Ada")])


class Client:
    """A client whose lobby is away for a number of calls; then the game has begun."""

    player = None

    def __init__(self) -> None:
        self.calls = 0

    async def get_table(self, *, table_id: str) -> Any:
        self.calls += 1
        if self.calls <= FAILURES:
            raise Unavailable(grpc.StatusCode.UNAVAILABLE, f"no lobby for {table_id}")
        return lobby_pb2.GetTableResponse(table=tables_pb2.Table(state=tables_pb2.TABLE_STATE_PLAYING))


class Screen:
    """A screen that keeps the messages, at which nobody types."""

    width = 80

    def __init__(self) -> None:
        self.messages: list[str] = []

    def say(self, *lines: object) -> None:
        """Show nothing."""

    def draw(self, picture: Picture, *, is_news: bool) -> None:
        self.messages += [message.plain for message in picture.messages]

    async def read(self) -> str | None:
        await asyncio.Event().wait()
        return None


async def test_a_lost_lobby_is_shown_and_asked_until_it_answers() -> None:
    screen, seconds = Screen(), count(0, 10)
    client: Any = Client()
    room = WaitingRoom(client, TABLE, "Thulla", screen, clock=lambda: float(next(seconds)), poll_seconds=0)
    async with asyncio.timeout(DEADLINE_SECONDS):
        assert await room.run()
    assert len(screen.messages) >= FAILURES
    assert screen.messages[0].startswith("The connection is lost: asking the lobby until it answers")


class LeavingClient:
    """A client whose player leaves a full table between the reading and getting ready."""

    player = lobby_pb2.Player(player_id="ada")

    def __init__(self) -> None:
        seat = tables_pb2.Seat(name="Ada", player_id="ada")
        left = tables_pb2.Table(table_id="t1", state=tables_pb2.TABLE_STATE_PLAYING)
        self._tables = [tables_pb2.Table(table_id="t1", state=tables_pb2.TABLE_STATE_FORMING, seats=[seat]), left]

    async def get_table(self, *, table_id: str) -> Any:
        return lobby_pb2.GetTableResponse(table=self._tables.pop(0))

    async def set_ready(self, *, table_id: str, client_seed: bytes) -> Any:
        raise PermissionDenied(grpc.StatusCode.PERMISSION_DENIED, f"no seat at {table_id}: join it first")


async def test_a_seat_that_was_given_up_meanwhile_is_no_fault() -> None:
    client: Any = LeavingClient()
    async with asyncio.timeout(DEADLINE_SECONDS):
        assert await WaitingRoom(client, TABLE, "Thulla", Screen(), poll_seconds=0).run()
