"""The cost of a move: the engine on each database compared with a bare fan-out, at full speed and at human pace."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

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
from croupier.cli.services import endpoints_of

FULL_SPEED = Level(tables=50, rounds=3, seconds=2.0)
HUMAN_PACE = Level(tables=20, rounds=3, seconds=2.5, think_seconds=0.04)
"""A load at which the server is idle most of the time, so that no queue is measured."""
BARE = "bare grpc.aio"
Measured = Mapping[str, Sequence[Measurement]]


async def compare_full_speed() -> list[Row]:
    """Measure engines and the bare server with one connection for all players, and one for each of them."""
    rows = []
    kinds = {"one connection": 1, f"{FULL_SPEED.tables * SEATS} connections": FULL_SPEED.tables * SEATS}
    async with _loads(FULL_SPEED, kinds) as loads:
        measured = await in_turn({f"{name}, {kind}": load for (name, kind), load in loads.items()})
    for name, kind in loads:
        rows += full_speed_rows(f"{name}, {kind}", f"{BARE}, {kind}", measured)
    return rows


def full_speed_rows(variant: str, baseline: str, measured: Measured) -> list[Row]:
    """Return the rows of a variant: speed, latencies, and CPU."""
    total, of_speed, of_cpu = merged(measured[variant]), list[float](), list[float]()
    if variant != baseline:
        of_speed = ratios(lambda one: one.moves_per_second, measured[variant], measured[baseline])
        of_cpu = ratios(Measurement.cpu_microseconds, measured[variant], measured[baseline])
    cpu = f"{total.cpu_microseconds():5.0f} µs CPU a move, {total.core_percent():.0f} % of its core"
    return [
        Row(
            "engine", variant, f"{total.moves_per_second:5.0f} moves/s, {latencies(total)}", of_speed, "moves/s to bare"
        ),
        Row("engine", variant, cpu, of_cpu, "CPU to bare"),
    ]


async def compare_human_pace() -> list[Row]:
    """Measure engines and the bare server with players who think."""
    async with _loads(HUMAN_PACE, {"": 1}) as loads:
        measured = await in_turn({name: load for (name, _), load in loads.items()})
    return [row for name in measured for row in human_pace_rows(name, measured)]


def human_pace_rows(variant: str, measured: Measured) -> list[Row]:
    """Return the rows of a variant: latencies, CPU, CPU of its threads, and context switches."""
    total = merged(measured[variant])
    threads = (
        f"{kind} {total.thread_microseconds(SERVER, kind):.0f}" for kind in (EVENT_LOOP, OTHER_THREADS, TRANSPORT)
    )

    def row(figures: str, of: Callable[[Measurement], float], name: str) -> Row:
        found = [] if variant == BARE else ratios(of, measured[variant], measured[BARE])
        return Row("pace", variant, figures, found, f"{name} to bare")

    return [
        row(latencies(total), lambda one: one.p50_milliseconds, "p50"),
        row(f"{total.cpu_microseconds():5.0f} µs CPU a move", Measurement.cpu_microseconds, "CPU"),
        Row("pace", variant, f"of it {', '.join(threads)} µs"),
        row(f"{total.switches():5.1f} voluntary context switches a move", Measurement.switches, "switches"),
    ]


@asynccontextmanager
async def _loads(level: Level, connections: Mapping[str, int]) -> AsyncIterator[dict[tuple[str, str], Load]]:
    """Open the tables of engines and of the bare server, with each number of connections."""
    async with AsyncExitStack() as stack:
        sqlite = stack.enter_context(services())
        postgres = await stack.enter_async_context(services_on_postgres())
        engines = {
            name: ({SERVER: started.pids["engine"]}, endpoints_of(started.addresses))
            for name, started in {"SQLite": sqlite, "PostgreSQL": postgres}.items()
        }
        bare = await stack.enter_async_context(bare_server(await sample_messages(*engines["SQLite"])))
        loads = {}
        for kind, number in connections.items():
            for name, engine in engines.items():
                opening = engine_load(*engine, level, connections=number)
                loads[name, kind] = await stack.enter_async_context(opening)
            loads[BARE, kind] = await stack.enter_async_context(bare_load(bare, level, connections=number))
        yield loads
