"""Tables of players that play in turn: while one load is measured the others pause, with open streams."""

import asyncio
import random
import time
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar

import grpc
from google.protobuf.duration_pb2 import Duration

from benchmarks.clients import BenchmarkClient, open_table
from benchmarks.measurement import SERVER, Measurement, usage
from benchmarks.services import DRIVER_CORES, SERVER_CORES, free_server_cores, pin
from croupier_api.v1 import engine_pb2, tables_pb2
from croupier_client import Endpoints
from croupier_client.sockets import GRPC
from croupier_loadtest.players.client import Connections

SEATS = 4
TIME_CONTROL = tables_pb2.TimeControl(action_time=Duration(seconds=3600))
SHORT_GAME: Mapping[str, Any] = {"game": "thulla", "time_control": TIME_CONTROL}
LONG_MATCH: Mapping[str, Any] = {
    **SHORT_GAME,
    "options": {"best_of": 5, "scoring": "cards", "pickup": "cutter", "stall_limit": 1000},
}
"""Long matches measure moves and not the opening of tables, which short games need once in 80 moves."""
Name = TypeVar("Name")
MAX_CONCURRENT_OPENINGS = 20
MAX_MESSAGES = 500


@dataclass(frozen=True, slots=True)
class Level:
    """How much is played: tables, rounds of so many seconds, and think time.

    Each round begins with a warm-up. Before the first round each load plays for `settling_seconds`.
    """

    tables: int
    rounds: int
    seconds: float
    think_seconds: float = 0.0
    settling_seconds: float = 0.5
    warm_up_seconds: float = 0.5


class Load:
    """Tables whose players act while it is measured, and pause otherwise."""

    def __init__(self, pids: Mapping[str, int], level: Level) -> None:
        self.level = level
        self.driving: list[Coroutine[Any, Any, None]] = []
        """The players; they need `in_turn` to run."""
        self._pids = pids
        self._is_playing = asyncio.Event()
        self._latencies: list[float] = []

    async def think(self, *, hurries: bool = False) -> None:
        """Wait until a player acts: for about the think time, and to the end of a pause."""
        if self.level.think_seconds and not hurries:
            await asyncio.sleep(self.level.think_seconds * random.uniform(0.5, 1.5))
        await self._is_playing.wait()

    def count_move(self, sent: float) -> None:
        """Count a move that was sent at `sent` and is answered now."""
        self._latencies.append(time.perf_counter() - sent)

    async def play(self, seconds: float) -> None:
        """Play with the server alone on its core, on which idle servers would also take time from it."""
        pin(self._pids[SERVER], SERVER_CORES)
        self._is_playing.set()
        await asyncio.sleep(seconds)

    def pause(self) -> None:
        """Let players wait before their next moves."""
        self._is_playing.clear()
        pin(self._pids[SERVER], DRIVER_CORES)

    async def measure(self) -> Measurement:
        """Play one round, and pause."""
        await self.play(self.level.warm_up_seconds)
        self._latencies, began = [], time.perf_counter()
        before = {name: usage(pid) for name, pid in self._pids.items()}
        await asyncio.sleep(self.level.seconds)
        used = {name: usage(pid).since(before[name]) for name, pid in self._pids.items()}
        # Moves on the way now are answered after the round.
        latencies, self._latencies = self._latencies, []
        measured = Measurement(latencies, time.perf_counter() - began, used)
        self.pause()
        return measured


async def in_turn(loads: Mapping[Name, Load]) -> dict[Name, list[Measurement]]:
    """Measure loads of the same level in turn, in alternating order; raises errors of players."""
    found: dict[Name, list[Measurement]] = {name: [] for name in loads}
    print("  tables are open", flush=True)
    with free_server_cores():
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for load in loads.values() for one in load.driving]
            for load in loads.values():
                await load.play(load.level.settling_seconds)
                load.pause()
            for number in range(max(load.level.rounds for load in loads.values())):
                print(f"  round {number + 1}", flush=True)
                for name in list(loads)[:: -1 if number % 2 else 1]:
                    found[name].append(await loads[name].measure())
            for task in tasks:
                task.cancel()
    return found


@asynccontextmanager
async def engine_load(
    pids: Mapping[str, int],
    endpoints: Endpoints,
    level: Level,
    *,
    connections: int = 1,
    transport: str = GRPC,
    game: Mapping[str, Any] = LONG_MATCH,
    max_head_start: int = 0,
    messages: list[bytes] | None = None,
) -> AsyncIterator[Load]:
    """Open tables of four players, who share this many connections; appends updates of the engine to `messages`.

    Over WebSocket each player has a connection of their own for the stream.
    Each player makes up to `max_head_start` moves without thinking, so that tables do not end at once.
    """
    load, opened_connections = Load(pids, level), Connections(endpoints, connections, transport)
    semaphore = asyncio.Semaphore(MAX_CONCURRENT_OPENINGS)

    async def open_one(number: int) -> tuple[list[BenchmarkClient], str]:
        clients = [BenchmarkClient(opened_connections, f"table {number} seat {seat}") for seat in range(SEATS)]
        async with semaphore:
            return clients, await open_table(clients, **game)

    async def drive(clients: Sequence[BenchmarkClient], table_id: str) -> None:
        hurried = random.randint(0, max_head_start)
        while True:
            await asyncio.gather(*(_play(client, table_id, load, hurried, messages) for client in clients))
            table_id, hurried = await open_table(clients, **game), 0

    try:
        opened = await asyncio.gather(*(open_one(number) for number in range(level.tables)))
        load.driving += [drive(*one) for one in opened]
        yield load
    finally:
        await opened_connections.close()


async def _play(client: BenchmarkClient, table_id: str, load: Load, hurried: int, messages: list[bytes] | None) -> None:
    """Play random legal cards to the end of a game."""
    stream, sent, moves = await client.stream(table_id), 0.0, count()
    raw: Any
    while (raw := await stream.read()) is not grpc.aio.EOF:
        message = engine_pb2.PlayTableResponse.FromString(raw)
        event = message.table_event
        if message.HasField("answer"):
            if message.answer.HasField("refusal"):
                raise RuntimeError(f"refused: {message.answer.refusal.message}")
            load.count_move(sent)
        elif messages is not None and len(messages) < MAX_MESSAGES and event.HasField("update"):
            messages.append(raw)
        if legal := (event.update if event.HasField("update") else event.snapshot).legal_actions.actions:
            number = next(moves)
            await load.think(hurries=number < hurried)
            action = engine_pb2.SubmitActionRequest(request_id=str(number), action=random.choice(legal))
            sent = time.perf_counter()
            await stream.write(engine_pb2.PlayTableRequest(action=action).SerializeToString())


async def sample_messages(pids: Mapping[str, int], endpoints: Endpoints) -> list[bytes]:
    """Return updates that an engine sends, for the bare server."""
    messages: list[bytes] = []
    async with engine_load(pids, endpoints, Level(4, 1, 0.5), messages=messages) as load:
        await in_turn({"sample": load})
    return messages
