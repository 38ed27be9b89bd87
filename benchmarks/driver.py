"""Drives tables of four streams as fast as they go and measures what comes back."""

import asyncio
import random
import statistics
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import grpc

from croupier_api.v1 import engine_pb2

SEATS = 4
METHOD = "/croupier_api.v1.EngineService/Play"
Call = grpc.aio.StreamStreamCall[Any, Any]


@dataclass
class Measured:
    """What one run counted: moves, seconds from sending an action to seeing it, seconds of wall and of server CPU.

    Where there is a door, it counts its seconds of CPU too.
    """

    moves: int = 0
    latencies: list[float] = field(default_factory=list)
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    door_cpu_seconds: float = 0.0
    counting: bool = False

    @property
    def moves_per_second(self) -> float:
        return self.moves / self.seconds

    @property
    def cpu_microseconds(self) -> float:
        """Server CPU for each move."""
        return self.cpu_seconds / self.moves * 1e6

    @property
    def door_cpu_microseconds(self) -> float:
        """The door's CPU for each move."""
        return self.door_cpu_seconds / self.moves * 1e6

    def percentile_milliseconds(self, percent: int) -> float:
        """A latency percentile."""
        return statistics.quantiles(self.latencies, n=100)[percent - 1] * 1000

    def move(self, latency: float) -> None:
        """Count a move."""
        if self.counting:
            self.moves += 1
            self.latencies.append(latency)


def summed(runs: Sequence[Measured]) -> Measured:
    """Several runs as one."""
    return Measured(
        moves=sum(run.moves for run in runs),
        latencies=[latency for run in runs for latency in run.latencies],
        seconds=sum(run.seconds for run in runs),
        cpu_seconds=sum(run.cpu_seconds for run in runs),
        door_cpu_seconds=sum(run.door_cpu_seconds for run in runs),
    )


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


async def measure(
    pid: int, measured: Measured, warm_up_seconds: float, seconds: float, door_pid: int | None = None
) -> None:
    """Let the counting go on for a while, after a warm-up."""
    await asyncio.sleep(warm_up_seconds)
    pids = [pid] if door_pid is None else [pid, door_pid]
    before, started = [cpu_seconds(one) for one in pids], time.perf_counter()
    measured.counting = True
    await asyncio.sleep(seconds)
    measured.counting = False
    measured.seconds = time.perf_counter() - started
    spent = [cpu_seconds(one) - earlier for one, earlier in zip(pids, before, strict=True)]
    measured.cpu_seconds, measured.door_cpu_seconds = spent[0], sum(spent[1:])


async def measured_while(driving: list[asyncio.Task[None]], measuring: Coroutine[Any, Any, None]) -> None:
    """Measure while tables are driven; what a driver raises is raised here."""
    done, _ = await asyncio.wait([asyncio.create_task(measuring), *driving], return_when=asyncio.FIRST_COMPLETED)
    for task in driving:
        task.cancel()
    await asyncio.gather(*driving, return_exceptions=True)
    for task in done:
        task.result()


async def drive_bare_table(channel: grpc.aio.Channel, method: str, name: bytes, measured: Measured) -> None:
    """Four streams that take turns; a message goes out when the one before has come in."""
    action = engine_pb2.SubmitActionRequest(request_id="0-0")
    action.action.play.card = 17  # type: ignore[assignment]
    request = engine_pb2.PlayRequest(action=action).SerializeToString()
    calls: list[Call] = [channel.stream_stream(method)() for _ in range(SEATS)]
    for call in calls:
        await call.write(name)
    await asyncio.sleep(0.2)

    async def seat(index: int) -> None:
        sent = time.perf_counter()
        if index == 0:
            await calls[0].write(request)
        for turn in count():
            raw: Any = await calls[index].read()
            engine_pb2.PlayResponse.FromString(raw)
            if turn % SEATS == index:
                measured.move(time.perf_counter() - sent)
            if (turn + 1) % SEATS == index:
                sent = time.perf_counter()
                await calls[index].write(request)

    await asyncio.gather(*(seat(index) for index in range(SEATS)))


async def drive_engine_table(
    channel: grpc.aio.Channel,
    open_table: Callable[[], Awaitable[str]],
    tokens: Sequence[str],
    measured: Measured,
    seen: list[bytes],
    thinking_seconds: float = 0.0,
) -> None:
    """Four players who play random legal cards, table after table; updates without extras are kept in `seen`."""
    while True:
        table_id = await open_table()
        await asyncio.gather(*(_seat(channel, table_id, token, measured, seen, thinking_seconds) for token in tokens))


async def _seat(
    channel: grpc.aio.Channel,
    table_id: str,
    token: str,
    measured: Measured,
    seen: list[bytes],
    thinking_seconds: float,
) -> None:
    metadata = (("authorization", f"Bearer {token}"), ("x-table-id", table_id))
    call: Call = channel.stream_stream(METHOD)(metadata=metadata)
    watch = engine_pb2.PlayRequest(watch=engine_pb2.WatchTableRequest(table_id=table_id))
    await call.write(watch.SerializeToString())
    sent = 0.0
    for number in count():
        raw: Any = await call.read()
        if raw is grpc.aio.EOF:
            return
        message = engine_pb2.PlayResponse.FromString(raw)
        if message.HasField("answer"):
            if message.answer.HasField("refusal"):
                raise RuntimeError(f"refused: {message.answer.refusal.message}")
            measured.move(time.perf_counter() - sent)
        elif len(seen) < 500 and message.HasField("update"):
            seen.append(raw)
        legal = (message if message.HasField("update") else message.snapshot).legal_actions.actions
        if legal:
            if thinking_seconds:
                await asyncio.sleep(thinking_seconds * random.uniform(0.5, 1.5))
            action = engine_pb2.SubmitActionRequest(request_id=str(number), action=random.choice(legal))
            sent = time.perf_counter()
            await call.write(engine_pb2.PlayRequest(action=action).SerializeToString())
