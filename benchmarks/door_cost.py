"""What the front door costs for each action: players through Envoy, with and without TLS, beside players without it."""

import asyncio
import json
import os
import statistics
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import grpc
import uvloop

from benchmarks.driver import SEATS, Measured, drive_engine_table, measure, measured_while, summed
from benchmarks.processes import DRIVER_CORES, RunningEngine, started, started_engine, write_keys
from croupier.door.development import DevelopmentCertificate
from croupier.door.envoy import find_envoy

TABLES = 20
THINKING_SECONDS = 0.04
"""So that the engine and the door have time to spare: what is measured is the way and not a queue."""
WARM_UP_SECONDS = 1.0
MEASURED_SECONDS = 2.5
ROUNDS = 6
"""Many short ones: what else the machine does changes from one second to the next.

Each way begins as many rounds as any other: what comes later finds more tables in the engine.
"""
DIRECT, DOOR, DOOR_WITH_TLS = "direct", "door", "door, TLS"


@dataclass(frozen=True, slots=True)
class Way:
    """How players reach the engine; the process of the door, if there is one."""

    open_channel: Callable[[], grpc.aio.Channel]
    door_pid: int | None = None


@asynccontextmanager
async def started_door(folder: Path, engine: RunningEngine, *flags: str) -> AsyncIterator[tuple[int, str]]:
    """A door in front of an engine, on the driver's cores; gives the process id of Envoy and the port."""
    ready = folder / "door.ready"
    command = [
        *("-m", "croupier.door", "--lobby-public-key", f"{folder}/lobby.pub", "--engine", engine.address),
        *("--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--ready-file", str(ready)),
        *("--address-requests-per-second", "0", "--streams-per-connection-limit", "1000", "--drain-seconds", "0"),
    ]
    async with started([*command, *flags], ready, DRIVER_CORES) as (pid, text):
        [envoy] = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        yield int(envoy), json.loads(text)["listen"].rpartition(":")[2]


@asynccontextmanager
async def opened_ways(folder: Path, engine: RunningEngine) -> AsyncIterator[Mapping[str, Way]]:
    """All ways to an engine."""
    made = DevelopmentCertificate(folder)
    made.ensure(datetime.now(UTC))
    credentials = grpc.ssl_channel_credentials(made.authority.read_bytes())
    tls = (f"--certificate={made.certificate}", f"--key={made.key}")
    async with (
        started_door(folder, engine) as (plain_pid, plain_port),
        started_door(folder, engine, *tls) as (tls_pid, tls_port),
    ):
        yield {
            DIRECT: Way(lambda: grpc.aio.insecure_channel(engine.address)),
            DOOR: Way(lambda: grpc.aio.insecure_channel(f"127.0.0.1:{plain_port}"), plain_pid),
            DOOR_WITH_TLS: Way(lambda: grpc.aio.secure_channel(f"localhost:{tls_port}", credentials), tls_pid),
        }


async def run_way(engine: RunningEngine, way: Way) -> Measured:
    """One run on new tables."""
    measured = Measured()
    async with way.open_channel() as channel:
        driving = [
            asyncio.create_task(
                drive_engine_table(channel, engine.open_table, engine.tokens, measured, [], THINKING_SECONDS)
            )
            for _ in range(TABLES)
        ]
        measuring = measure(engine.pid, measured, WARM_UP_SECONDS, MEASURED_SECONDS, way.door_pid)
        await measured_while(driving, measuring)
    return measured


def report(name: str, runs: list[Measured]) -> None:
    """Print a line for all runs of a way together."""
    run = summed(runs)
    print(
        f"  {name:<11}{run.moves_per_second:5.0f} actions/s   p50 {run.percentile_milliseconds(50):5.2f}  "
        f"p99 {run.percentile_milliseconds(99):6.2f} ms of {run.moves:,} actions   "
        f"CPU each: engine {run.cpu_microseconds:4.0f} µs"
        + (f", Envoy {run.door_cpu_microseconds:4.0f} µs" if name != DIRECT else ""),
        flush=True,
    )


def report_ratios(name: str, pairs: list[tuple[Measured, Measured]]) -> None:
    """Print what a way through the door costs beside the direct one, by rounds and as median.

    Not for p99: in one round it rests on a dozen actions, and says more of the machine than of the door.
    """
    ratios = {
        f"{name} to {DIRECT}, p50": [a.percentile_milliseconds(50) / b.percentile_milliseconds(50) for a, b in pairs],
        f"{name}, CPU of Envoy to CPU of the engine that is reached directly": [
            a.door_cpu_microseconds / b.cpu_microseconds for a, b in pairs
        ],
    }
    for title, values in ratios.items():
        listed = ", ".join(f"{value:.2f}" for value in values)
        print(f"  {title}: median {statistics.median(values):.2f} of {listed}")


def turned(titles: Sequence[str], number: int) -> Sequence[str]:
    """The order of a round: the one before, begun one later."""
    first = number % len(titles)
    return [*titles[first:], *titles[:first]]


async def compare() -> None:
    """All ways in turn, round by round, and the ratios of each round."""
    os.sched_setaffinity(0, DRIVER_CORES)
    print(f"{TABLES} tables of Thulla, {SEATS} seats watching each over Play, who think for {THINKING_SECONDS} s;")
    print("the engine on SQLite on one core, Envoy on that of the driver")
    runs: dict[str, list[Measured]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_keys(folder)
        async with (
            started_engine(folder, f"sqlite:///{folder}/door.db") as engine,
            opened_ways(folder, engine) as ways,
        ):
            for number in range(ROUNDS):
                for title in turned(tuple(ways), number):
                    runs.setdefault(title, []).append(await run_way(engine, ways[title]))
    for title, measured in runs.items():
        report(title, measured)
    for title in (DOOR, DOOR_WITH_TLS):
        report_ratios(title, list(zip(runs[title], runs[DIRECT], strict=True)))


def main() -> None:
    """Print the comparison, or why there is none."""
    try:
        find_envoy()
    except ValueError as missing:
        print(f"  left out: {missing}")
        return
    # As in the engine's comparison, the driver gets none of what the services do for throughput.
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(compare())


if __name__ == "__main__":
    main()
