"""Attackers who hold calls open: by requests that do not come, and by answers that they do not read."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from croupier_api.v1 import engine_pb2, lobby_pb2, scoring_pb2
from loadtest.players.attackers.attacker import PAGE_SIZE, Attacker
from loadtest.players.attackers.client import Answer

HELD_CALLS = 100
"""More at once would only delay the attacker."""
GUESTS = 4


async def held_requests(attacker: Attacker) -> None:
    """Send the headers of calls and no request; signing in needs not even a token."""
    requests = (lobby_pb2.WatchTablesRequest(), lobby_pb2.FindMatchRequest(), lobby_pb2.SignInRequest())
    async with held_calls(attacker) as hold:
        async for client in attacker.turns(await attacker.sign_in(1)):
            for request in requests:
                await hold(client.hold(request))


async def unread_answers(attacker: Attacker) -> None:
    """Ask for long answers, and read none of them."""
    async with held_calls(attacker) as hold:
        async for client in attacker.turns(await attacker.sign_in(GUESTS)):
            await attacker.find_tables(client)
            await hold(client.leave_unread(lobby_pb2.ListTablesRequest(page_size=PAGE_SIZE)))
            await hold(client.leave_unread(scoring_pb2.ListResultsRequest(page_size=PAGE_SIZE)))
            for table_id in attacker.finished[:1]:
                await hold(client.leave_unread(engine_pb2.GetReplayRequest(table_id=table_id)))


@asynccontextmanager
async def held_calls(attacker: Attacker) -> AsyncIterator[Callable[[Awaitable[Answer]], Awaitable[None]]]:
    """Yield a function that starts a call, once fewer than HELD_CALLS are held, and lets its answer be counted."""
    places = asyncio.Semaphore(HELD_CALLS)

    async def counted(call: Awaitable[Answer]) -> None:
        try:
            attacker.counted(await call)
        finally:
            places.release()

    async with asyncio.TaskGroup() as calls:

        async def hold(call: Awaitable[Answer]) -> None:
            await places.acquire()
            calls.create_task(counted(call))

        yield hold
