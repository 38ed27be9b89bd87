"""A forming table whose lobby does not answer."""

import asyncio
from itertools import count
from typing import Any

import grpc
import pytest

from croupier.cli.faults import CommandFault
from croupier.cli.terminal.console import Picture
from croupier.cli.terminal.waiting_room import WaitingRoom
from croupier_api.v1 import tables_pb2
from croupier_client.errors import Unavailable

DEADLINE_SECONDS = 30.0
TABLE = tables_pb2.Table(table_id="t1", state=tables_pb2.TABLE_STATE_FORMING, seats=[tables_pb2.Seat(name="Ada")])


class Client:
    """A client whose lobby is away."""

    player = None

    async def get_table(self, *, table_id: str) -> Any:
        raise Unavailable(grpc.StatusCode.UNAVAILABLE, f"no lobby for {table_id}")


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


async def test_a_lost_lobby_is_shown_and_ends_the_waiting() -> None:
    screen, seconds = Screen(), count(0, 10)
    room = WaitingRoom(Client(), TABLE, "Thulla", screen, clock=lambda: float(next(seconds)))  # type: ignore[arg-type]
    with pytest.raises(CommandFault, match="the lobby has not answered for 60 seconds"):
        async with asyncio.timeout(DEADLINE_SECONDS):
            await room.run()
    assert screen.messages[0].startswith("The connection is lost: asking the lobby for ")
