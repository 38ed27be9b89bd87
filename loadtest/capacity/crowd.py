"""People who open tables through the lobby and sit at them: parties, each of which opens table after table."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from random import Random

import grpc

from croupier_api.v1 import engine_pb2, lobby_pb2, table_pb2
from croupier_api.v1.engine_pb2_grpc import EngineServiceStub
from croupier_client import Client, CroupierError
from croupier_client.callers import Service
from loadtest.backend import BackendMissing
from loadtest.mix import KINDS
from loadtest.swarm.client import Connections

CONNECTIONS = 16
TABLES_OF_A_PARTY = 100
"""After so many tables a party goes and another one comes."""
LOBBY_FLAGS = (f"--hosted-tables-limit={TABLES_OF_A_PARTY}",)
"""What a lobby needs for such parties."""
PARTIES_AT_A_TIME = 32
MOST_FAILURES = 50
DAY = table_pb2.Clock(action_seconds=86_400, reserve_seconds=0)
OPENING_SECONDS = 30.0
POLL_SECONDS = 0.2

Say = Callable[[str], None]


class Guest(Client):
    """A player's client, over connections that many share."""

    def __init__(self, connections: Connections, name: str) -> None:
        super().__init__(connections.endpoints, f"load test {name}", name)
        self._shared = connections.share()

    def _channel(self, service: Service) -> grpc.aio.Channel:
        return self._shared[service]

    async def follow_table(self, table_id: str) -> AsyncGenerator[engine_pb2.PlayResponse, None]:
        """The messages of a Play stream that stays open for as long as it is read; raises CroupierError."""
        token = await self._access_token()
        play = EngineServiceStub(self._channel(Service.ENGINE)).Play
        return self._read(play(_only_watching(table_id), metadata=self._metadata(token, table_id)), token)


async def _only_watching(table_id: str) -> AsyncIterator[engine_pb2.PlayRequest]:
    yield engine_pb2.PlayRequest(watch=engine_pb2.WatchTableRequest(table_id=table_id))
    await asyncio.Event().wait()


@dataclass(frozen=True, slots=True)
class Opened:
    """A table in play, and those who sit there."""

    table_id: str
    guests: Sequence[Guest]


class Crowd:
    """Opens tables of so many people and computer players, all games by chance; none of the people acts in a day."""

    def __init__(self, connections: Connections, people: int, bots: int, seed: int, name: str) -> None:
        self._connections = connections
        self._people = people
        self._bots = bots
        self._random = Random(f"{seed} {name}")
        self._name = f"{seed} {name}"
        self._parties = 0
        self.opened = 0
        self.failures: list[str] = []

    async def open(self, tables: int, on_open: Callable[[int, Opened], None] = lambda *_: None) -> list[Opened]:
        """Open so many tables; `on_open` hears of each, with its number. Raises BackendMissing if too much fails."""
        opened: list[Opened] = []
        # What is left to do by numbers: each party takes the next ones until there are no more.
        left = deque(range(tables))
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(PARTIES_AT_A_TIME, tables)):
                    group.create_task(self._parties_in_turn(left, opened, on_open))
        except BaseExceptionGroup as faults:
            raise faults.exceptions[0] from None
        return opened

    async def _parties_in_turn(
        self, left: deque[int], opened: list[Opened], on_open: Callable[[int, Opened], None]
    ) -> None:
        while left:
            guests = self._party()
            for number in [left.popleft() for _ in range(min(TABLES_OF_A_PARTY, len(left), _share(left)))]:
                try:
                    opened.append(Opened(await self._open_one(guests), guests))
                except CroupierError as error:
                    self._failed(error)
                    left.append(number)
                    continue
                self.opened += 1
                on_open(number, opened[-1])

    def _party(self) -> Sequence[Guest]:
        self._parties += 1
        return [Guest(self._connections, f"{self._name} {self._parties}.{seat}") for seat in range(self._people)]

    async def _open_one(self, guests: Sequence[Guest]) -> str:
        host, seats = guests[0], self._people + self._bots
        kind = self._random.choice([kind for kind in KINDS.values() if seats in kind.seats])
        table_id = (await host.create_table(game=kind.game, seats=seats, clock=DAY)).table.table_id
        await asyncio.gather(*(_sit_down(guest, table_id) for guest in guests[1:]))
        for _ in range(self._bots):
            await host.add_bot(table_id=table_id, bot="random")
        table = (await host.set_ready(table_id=table_id)).table
        deadline = asyncio.get_running_loop().time() + OPENING_SECONDS
        while table.state != lobby_pb2.TABLE_STATE_PLAYING:
            if asyncio.get_running_loop().time() > deadline:
                raise BackendMissing(f"a table was not opened within {OPENING_SECONDS:g} s: the engine takes no more")
            await asyncio.sleep(POLL_SECONDS)
            table = (await host.get_table(table_id=table_id)).table
        return table_id

    def _failed(self, error: CroupierError) -> None:
        self.failures.append(str(error))
        if len(self.failures) > MOST_FAILURES:
            raise BackendMissing(f"tables cannot be opened: {error}")


def _share(left: deque[int]) -> int:
    """What one of several parties takes of what is left, so that they are done at about the same time."""
    return max(1, len(left) // PARTIES_AT_A_TIME)


async def _sit_down(guest: Guest, table_id: str) -> None:
    await guest.join_table(table_id=table_id)
    await guest.set_ready(table_id=table_id)
