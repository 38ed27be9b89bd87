"""The cost of a move: the engine on each database compared with a bare fan-out, at full speed and at human pace."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import NamedTuple

from benchmarks.bare_load import bare_load, bare_server
from benchmarks.loads import SEATS, Level, Load, engine_load, in_turn, sample_messages
from benchmarks.measurement import (
    EVENT_LOOP,
    OTHER_THREADS,
    SERVER,
    TRANSPORT,
    Measurement,
    Row,
    latencies,
    merged,
    ratios,
)
from benchmarks.services import services, services_on_postgres
from croupier.cli.launcher.background import BackgroundServices
from croupier.cli.services import endpoints_of
from croupier_client import Endpoints
from croupier_client.sockets import WEBSOCKET

FULL_SPEED = Level(tables=50, rounds=3, seconds=2.0)
HUMAN_PACE = Level(tables=20, rounds=3, seconds=2.5, think_seconds=0.04)
"""A load at which the server is idle most of the time, so that no queue is measured."""
BARE = "bare"
WEB = "WebSocket"
"""Each player has a connection of their own."""
ONE_CONNECTION = {"grpc.aio, one connection": 1}
EACH_CONNECTIONS = ONE_CONNECTION | {f"grpc.aio, {FULL_SPEED.tables * SEATS} connections": FULL_SPEED.tables * SEATS}


class Variant(NamedTuple):
    """A server, and the transport with the connections of its players."""

    server: str
    transport: str

    def __str__(self) -> str:
        return f"{self.server} {self.transport}" if self.server == BARE else ", ".join(self)


Measured = Mapping[Variant, Sequence[Measurement]]


async def compare_full_speed() -> list[Row]:
    """Measure engines and bare servers: with one connection for all players, with one for each, and over WebSocket."""
    async with _loads(FULL_SPEED, EACH_CONNECTIONS) as loads:
        measured = await in_turn(loads)
    return [row for variant in measured for row in full_speed_rows(variant, measured)]


def baselines_of(variant: Variant, measured: Measured) -> list[Variant]:
    """Return the bare servers that a variant is compared with: of its transport, and with WebSocket all others too."""
    bare = [one for one in measured if one.server == BARE and one != variant]
    return [one for one in bare if WEB in variant or one.transport == variant.transport]


def compared(
    part: str, variant: Variant, figures: str, name: str, of: Callable[[Measurement], float], measured: Measured
) -> list[Row]:
    """Return a row with figures of a variant, and their ratios to its first baseline; others have rows of ratios."""
    found = [
        Row(part, str(variant), "", ratios(of, measured[variant], measured[bare]), f"{name} to {bare}")
        for bare in baselines_of(variant, measured)
    ]
    first = found[0] if found else Row(part, str(variant), "")
    return [replace(first, figures=figures), *found[1:]]


def full_speed_rows(variant: Variant, measured: Measured) -> list[Row]:
    """Return the rows of a variant: speed, latencies, and CPU."""
    total = merged(measured[variant])
    speed = f"{total.moves_per_second:5.0f} moves/s, {latencies(total)}"
    cpu = f"{total.cpu_microseconds():5.0f} µs CPU a move, {total.core_percent():.0f} % of its core"
    return [
        *compared("engine", variant, speed, "moves/s", lambda one: one.moves_per_second, measured),
        *compared("engine", variant, cpu, "CPU", Measurement.cpu_microseconds, measured),
    ]


async def compare_human_pace() -> list[Row]:
    """Measure engines and bare servers with players who think."""
    async with _loads(HUMAN_PACE, ONE_CONNECTION) as loads:
        measured = await in_turn(loads)
    return [row for variant in measured for row in human_pace_rows(variant, measured)]


def human_pace_rows(variant: Variant, measured: Measured) -> list[Row]:
    """Return the rows of a variant: latencies, CPU, CPU of its threads, and context switches."""
    total = merged(measured[variant])
    threads = (
        f"{kind} {total.thread_microseconds(SERVER, kind):.0f}" for kind in (EVENT_LOOP, OTHER_THREADS, TRANSPORT)
    )
    cpu = f"{total.cpu_microseconds():5.0f} µs CPU a move"
    switches = f"{total.switches():5.1f} voluntary context switches a move"
    return [
        *compared("pace", variant, latencies(total), "p50", lambda one: one.p50_milliseconds, measured),
        *compared("pace", variant, cpu, "CPU", Measurement.cpu_microseconds, measured),
        Row("pace", str(variant), f"of it {', '.join(threads)} µs"),
        *compared("pace", variant, switches, "switches", Measurement.switches, measured),
    ]


@asynccontextmanager
async def _loads(level: Level, connections: Mapping[str, int]) -> AsyncIterator[dict[Variant, Load]]:
    """Open the tables of engines and of bare servers, with each number of connections of gRPC and over WebSocket."""
    async with AsyncExitStack() as stack:
        sqlite = stack.enter_context(services())
        postgres = await stack.enter_async_context(services_on_postgres())
        engines = {"SQLite": sqlite, "PostgreSQL": postgres}
        messages = await sample_messages(*_engine(sqlite))
        bare = await stack.enter_async_context(bare_server(messages))
        bare_web = await stack.enter_async_context(bare_server(messages, WEBSOCKET))
        loads = dict[Variant, Load]()
        for transport, number in connections.items():
            for name, started in engines.items():
                opening = engine_load(*_engine(started), level, connections=number)
                loads[Variant(name, transport)] = await stack.enter_async_context(opening)
            opening = bare_load(bare, level, connections=number)
            loads[Variant(BARE, transport)] = await stack.enter_async_context(opening)
        for name, started in engines.items():
            opening = engine_load(*_engine(started), level, transport=WEBSOCKET)
            loads[Variant(name, WEB)] = await stack.enter_async_context(opening)
        loads[Variant(BARE, WEB)] = await stack.enter_async_context(bare_load(bare_web, level))
        yield loads


def _engine(started: BackgroundServices) -> tuple[Mapping[str, int], Endpoints]:
    return {SERVER: started.pids["engine"]}, endpoints_of(started.addresses)
