"""Following quick matches, one round of the loop after the other or with the loop beside."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import TypeAlias, TypeVar

from croupier.lobby.assembly import Lobby
from croupier.lobby.matching import MatchNews
from croupier.lobby.players import Player
from croupier.lobby.tables import Table
from croupier.lobby.tickets import Wish
from tests.lobby.fakes import player
from tests.waiting import PATIENCE_SECONDS, until

ADA, BOB, EVE = player(1), player(2), player(3)
TWO = Wish("pairs", 2)
Item = TypeVar("Item")
Call: TypeAlias = AsyncGenerator[MatchNews, None]


async def following(stream: AsyncGenerator[Item, None]) -> Item:
    return await asyncio.wait_for(anext(stream), PATIENCE_SECONDS)


async def waiting(lobby: Lobby, *players: Player, wish: Wish = TWO, request_id: str = "") -> list[Call]:
    """Calls of players who wait, one after the other; each adds his name to the shuffles."""
    calls = [lobby.matching.quick_match(one, wish, one.name.encode(), request_id) for one in players]
    for call in calls:
        assert (await following(call)).table is None
    return calls


async def seated(stream: Call) -> Table:
    async with asyncio.timeout(PATIENCE_SECONDS), aclosing(stream):
        async for news in stream:
            if news.table:
                last = news.table
    return last


async def until_streams(lobby: Lobby, count: int) -> None:
    """Wait until so many streams wait at a lobby."""
    await until(lambda: lobby.matching.streams == count)


async def match_all(lobby: Lobby) -> None:
    """One round of the loop, and everything that it began."""
    await lobby.matching.tick()
    await lobby.matching.settled()
    await lobby.matching.tick()


@asynccontextmanager
async def running(lobby: Lobby) -> AsyncIterator[None]:
    task = asyncio.create_task(lobby.matching.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
