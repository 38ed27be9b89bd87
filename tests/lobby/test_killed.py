"""Three lobbies as processes, which are killed and started again while a crowd wants to be matched."""

import asyncio
import random
from asyncio.subprocess import Process
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import pytest

from croupier_api.v1 import lobby_pb2, lobby_pb2_grpc
from tests.lobby.fakes import on_postgresql
from tests.lobby.processes import Place, kill
from tests.ports import reserved_port

LOBBIES = 3
KILLS = 4
SEATS = (2, 2, 3, 3, 3, 5, 5, 5, 5, 5) * 6
"""What each player wants."""
PASSING = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED, grpc.StatusCode.DEADLINE_EXCEEDED)
LIMIT_SECONDS = 120.0


@dataclass
class Fleet:
    """The lobbies, each at an address that stays."""

    place: Place
    engine: str
    addresses: Sequence[str]
    processes: dict[int, Process] = field(default_factory=dict)

    async def start(self, number: int) -> None:
        """Start a lobby and wait until it is ready."""
        name = f"ready-{number}"
        self.processes[number] = await self.place.start([self.engine], self.addresses[number], name)
        await self.place.listens(self.processes[number], name)

    async def kill_and_start(self, number: int) -> None:
        """End a lobby as a loss of power would."""
        await kill(self.processes[number])
        await self.start(number)


@asynccontextmanager
async def fleet(place: Place, engine: str) -> AsyncIterator[Fleet]:
    with ExitStack() as ports:
        addresses = [f"127.0.0.1:{ports.enter_context(reserved_port())}" for _ in range(LOBBIES)]
        made = Fleet(place, engine, addresses)
        try:
            await asyncio.gather(*(made.start(number) for number in range(LOBBIES)))
            yield made
        finally:
            for process in made.processes.values():
                await kill(process)


@dataclass(frozen=True, slots=True)
class Guest:
    """A player who asks another lobby whenever one is away, or told him his table and every third answer was lost."""

    number: int
    channels: Sequence[grpc.aio.Channel]
    chance: random.Random

    async def seated(self, seats: int) -> lobby_pb2.Table:
        """The table at which he is seated in the end."""
        while True:
            stub = lobby_pb2_grpc.LobbyServiceStub(self.chance.choice(self.channels))
            try:
                device = lobby_pb2.SignInRequest(device_secret=f"the secret of device {self.number}")
                tokens = (await stub.SignIn(device, timeout=10)).tokens
                metadata = (("authorization", f"Bearer {tokens.access_token}"),)
                request = lobby_pb2.QuickMatchRequest(game="pairs", seats=seats, request_id="the only wish")
                call = stub.QuickMatch(request, metadata=metadata, timeout=LIMIT_SECONDS)
                tables = [news.table async for news in call if news.HasField("table")]
                if self.chance.randrange(3) != 0:
                    return tables[-1]
            except grpc.aio.AioRpcError as error:
                if error.code() not in PASSING:
                    raise
                await asyncio.sleep(0.1)


@pytest.mark.slow
@on_postgresql
async def test_everybody_is_seated_once(tmp_path: Path, database_url: str, seed: int) -> None:
    place, chance = Place.new(tmp_path, database_url), random.Random(seed)
    async with AsyncExitStack() as stack:
        engine, address = await stack.enter_async_context(place.engine("first"))
        lobbies = await stack.enter_async_context(fleet(place, address))
        channels = [await stack.enter_async_context(grpc.aio.insecure_channel(one)) for one in lobbies.addresses]
        calls = []
        for number, seats in enumerate(chance.sample(SEATS, len(SEATS))):
            calls.append(asyncio.create_task(Guest(number, channels, chance).seated(seats)))
            # They come one after the other, for as long as lobbies are killed.
            if number % (len(SEATS) // KILLS) == 0:
                await lobbies.kill_and_start(chance.randrange(LOBBIES))
        tables = await asyncio.wait_for(asyncio.gather(*calls), LIMIT_SECONDS)
    times = Counter(seat.player_id for seats in engine.opened.values() for seat in seats)
    assert len(times) == len(SEATS)
    assert set(times.values()) == {1}
    told = Counter(table.table_id for table in tables)
    assert told == Counter({table_id: len(seats) for table_id, seats in engine.opened.items()})
