"""Actions per second of the engine on SQLite and on PostgreSQL, both durable, beside a bare fan-out."""

import asyncio
import os
import statistics
import tempfile
import uuid
from pathlib import Path

import grpc
import uvloop

from benchmarks.bare_server import METHOD
from benchmarks.driver import (
    SEATS,
    Measured,
    drive_bare_table,
    drive_engine_table,
    measure,
    measured_while,
)
from benchmarks.processes import DRIVER_CORES, started, started_engine, write_keys
from loadtest.postgres import postgres_server

TABLES = 50
WARM_UP_SECONDS = 2.0
MEASURED_SECONDS = 8.0
ROUNDS = 3


async def run_engine(folder: Path, database: str, seen: list[bytes]) -> Measured:
    """One run against the engine on a new database."""
    measured = Measured()
    async with (
        started_engine(folder, database) as engine,
        grpc.aio.insecure_channel(engine.address) as channel,
    ):
        driving = [
            asyncio.create_task(drive_engine_table(channel, engine.open_table, engine.tokens, measured, seen))
            for _ in range(TABLES)
        ]
        await measured_while(driving, measure(engine.pid, measured, WARM_UP_SECONDS, MEASURED_SECONDS))
    return measured


async def run_bare(folder: Path, seen: list[bytes], *manner: str) -> Measured:
    """One run against the baseline, with messages that the engine sent; "tuned" is a manner."""
    messages, ready = folder / "messages", folder / "bare.ready"
    messages.write_text("\n".join(message.hex() for message in seen))
    measured = Measured()
    command = ["-m", "benchmarks.bare_server", str(messages), str(ready), *manner]
    async with started(command, ready) as (pid, address), grpc.aio.insecure_channel(address) as channel:
        driving = [
            asyncio.create_task(drive_bare_table(channel, METHOD, b"%d" % table, measured)) for table in range(TABLES)
        ]
        await measured_while(driving, measure(pid, measured, WARM_UP_SECONDS, MEASURED_SECONDS))
    return measured


def report(name: str, run: Measured) -> None:
    """Print a line for a run."""
    print(
        f"  {name:<11}{run.moves_per_second:7.0f} actions/s   {run.cpu_microseconds:5.0f} µs server CPU each   "
        f"p50 {run.percentile_milliseconds(50):6.1f}  p95 {run.percentile_milliseconds(95):6.1f}  "
        f"p99 {run.percentile_milliseconds(99):6.1f} ms",
        flush=True,
    )


async def compare() -> None:
    """Engine and baselines in turn, and the ratios round by round."""
    os.sched_setaffinity(0, DRIVER_CORES)
    print(f"{TABLES} tables of Thulla, {SEATS} seats watching each over Play, the engine on one core")
    print("SQLite with synchronous FULL; PostgreSQL with fsync, on the core of the driver")
    rounds = []
    with tempfile.TemporaryDirectory() as name, postgres_server(settings={}) as postgres:
        folder = Path(name)
        write_keys(folder)
        for _ in range(ROUNDS):
            seen: list[bytes] = []
            database = uuid.uuid4().hex
            runs = (
                await run_engine(folder, f"sqlite:///{folder}/{database}.db", seen),
                await run_engine(folder, postgres.create_database(database), []),
                await run_bare(folder, seen),
                await run_bare(folder, seen, "tuned"),
            )
            for title, run_of in zip(("SQLite", "PostgreSQL", "bare", "bare tuned"), runs, strict=True):
                report(title, run_of)
            rounds.append(runs)
    report_ratios("SQLite", "bare", [(sqlite, bare) for sqlite, _, bare, _ in rounds])
    report_ratios("SQLite", "bare tuned", [(sqlite, tuned) for sqlite, _, _, tuned in rounds])
    report_ratios("PostgreSQL", "bare", [(postgresql, bare) for _, postgresql, bare, _ in rounds])
    report_ratios("PostgreSQL", "SQLite", [(postgresql, sqlite) for sqlite, postgresql, _, _ in rounds])


def report_ratios(database: str, baseline: str, pairs: list[tuple[Measured, Measured]]) -> None:
    """Print what the engine on a database does for each action of a baseline, by rounds and as median."""
    throughput = [engine.moves_per_second / base.moves_per_second for engine, base in pairs]
    cpu = [base.cpu_microseconds / engine.cpu_microseconds for engine, base in pairs]
    for title, ratios in (("actions/s", throughput), ("actions per second of server CPU", cpu)):
        listed = ", ".join(f"{ratio:.2f}" for ratio in ratios)
        print(f"  engine on {database} to {baseline}, {title}: median {statistics.median(ratios):.2f} of {listed}")


def main() -> None:
    """Print the comparison."""
    # The driver stands for many clients elsewhere, so it gets none of what the services do for throughput.
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(compare())


if __name__ == "__main__":
    main()
