"""Following quick matches, one round of the loop after the other or with the loop beside."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager

from croupier.lobby.assembly import Lobby
from croupier.lobby.matching import MatchNews
from croupier.lobby.tables import Table
from tests.lobby.fakes import PATIENCE_SECONDS
from tests.waiting import until


async def following(stream: AsyncGenerator[MatchNews, None]) -> MatchNews:
    return await asyncio.wait_for(anext(stream), PATIENCE_SECONDS)


async def seated(stream: AsyncGenerator[MatchNews, None]) -> Table:
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
