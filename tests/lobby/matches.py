"""FindMatch streams, and the matchmaker's loop step by step or in the background."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from functools import partial
from typing import TypeAlias, TypeVar

from croupier.lobby.accounts.players import Player
from croupier.lobby.assembly import Lobby
from croupier.lobby.matchmaking.matchmaker import MatchProgress
from croupier.lobby.matchmaking.tickets import MatchCriteria
from croupier.lobby.tables.forming_table import Table
from croupier.runtime.server.tasks import end_tasks
from tests.lobby.fakes import player
from tests.waiting import TIMEOUT_SECONDS, until

ADA, BOB, EVE = player(1), player(2), player(3)
TWO = MatchCriteria("pairs", 2)
Item = TypeVar("Item")
Call: TypeAlias = AsyncGenerator[MatchProgress, None]


async def next_message(stream: AsyncGenerator[Item, None]) -> Item:
    return await asyncio.wait_for(anext(stream), TIMEOUT_SECONDS)


async def waiting(
    lobby: Lobby,
    *players: Player,
    criteria: MatchCriteria = TWO,
    request_id: str = "",
    network: str = "",
    bots_after: int | None = None,
) -> list[Call]:
    """Open the streams of waiting players in this order; the client seed of each is the player's name."""
    find = partial(
        lobby.matchmaker.find_match,
        criteria=criteria,
        request_id=request_id,
        network=network,
        bots_after_seconds=bots_after,
    )
    calls = [find(player, client_seed=player.name.encode()) for player in players]
    for call in calls:
        assert (await next_message(call)).table is None
    return calls


async def seated(stream: Call) -> Table:
    async with asyncio.timeout(TIMEOUT_SECONDS), aclosing(stream):
        async for progress in stream:
            if progress.table:
                last = progress.table
    return last


async def ready(lobby: Lobby, table: Table, *players: Player) -> Table:
    """Let players get ready in this order; the client seed of each is the player's name."""
    for one in players:
        table = await lobby.tables.set_ready(one.player_id, table.table_id, True, one.name.encode())
    return table


async def until_streams(lobby: Lobby, count: int) -> None:
    await until(lambda: lobby.matchmaker.pending == count)


async def match_all(lobby: Lobby) -> None:
    """Tick, wait until the matched tables are open, and tick again."""
    await lobby.matchmaker.tick()
    await lobby.matchmaker.settled()
    await lobby.matchmaker.tick()


@asynccontextmanager
async def running(lobby: Lobby) -> AsyncIterator[None]:
    task = asyncio.create_task(lobby.matchmaker.run())
    try:
        yield
    finally:
        await end_tasks([task])
