"""Actions per second of the engine on SQLite and on PostgreSQL, both durable, beside a bare fan-out."""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import uvloop

from benchmarks.bare_server import METHOD
from benchmarks.driver import SEATS, Measured, drive_bare_table, drive_engine_table, measure
from croupier.runtime.identity import (
    ENGINE_CONTROL_AUDIENCE,
    PLAYER_AUDIENCE,
    SERVICE_TOKEN_SECONDS,
    TokenIssuer,
    load_private_key,
    write_new_key_pair,
)
from croupier.runtime.schema_versions import migrate_database
from croupier_api.v1 import engine_pb2, engine_pb2_grpc, table_pb2
from tests.postgres import postgres_server

ENGINE_METHOD = "/croupier_api.v1.EngineService/Play"
# Long matches, so that actions are measured and not the opening of tables, of which a short game needs one in 80.
OPTIONS = table_pb2.GameOptions(values={"best_of": "5", "scoring": "cards", "pickup": "cutter", "stall_limit": "1000"})
TABLES = 50
WARM_UP_SECONDS = 2.0
MEASURED_SECONDS = 8.0
ROUNDS = 1
START_SECONDS = 30.0
CORES = sorted(os.sched_getaffinity(0))
SERVER_CORES, DRIVER_CORES = CORES[:1], CORES[1:] or CORES


def now_milliseconds() -> int:
    return time.time_ns() // 1_000_000


@asynccontextmanager
async def started(command: list[str], ready_file: Path) -> AsyncIterator[tuple[int, str]]:
    """A server process on the first core and what its ready file says; the driver keeps to the others."""
    ready_file.unlink(missing_ok=True)
    with subprocess.Popen([sys.executable, *command]) as process:
        os.sched_setaffinity(process.pid, SERVER_CORES)
        try:
            for _ in range(int(START_SECONDS / 0.05)):
                if ready_file.exists() and (text := ready_file.read_text()):
                    break
                await asyncio.sleep(0.05)
            else:
                raise RuntimeError("the server did not get ready")
            yield process.pid, text
        finally:
            process.terminate()


async def run_engine(folder: Path, database: str, seen: list[bytes]) -> Measured:
    """One run against the engine on a new database."""
    await migrate_database(database, ["croupier.engine"])
    command = [
        *("-m", "croupier.engine", "--database", database),
        *("--lobby-public-key", f"{folder}/lobby.pub", "--signing-key", f"{folder}/engine.pem"),
        *("--scoring-control", "127.0.0.1:9", "--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0"),
        *("--metrics-listen", "127.0.0.1:0", "--ready-file", f"{folder}/engine.ready", "--log-level", "error"),
        *("--drain-seconds", "4", "--player-calls-per-second", "0"),
    ]
    key = load_private_key(folder / "lobby.pem")
    players = TokenIssuer(key, PLAYER_AUDIENCE, 3600, now_milliseconds)
    lobby = TokenIssuer(key, ENGINE_CONTROL_AUDIENCE, SERVICE_TOKEN_SECONDS * 10, now_milliseconds)
    tokens = [players.issue(f"player-{seat}", f"Player {seat}")[0] for seat in range(SEATS)]
    measured = Measured()
    async with started(command, folder / "engine.ready") as (pid, text):
        addresses = json.loads(text)
        async with (
            grpc.aio.insecure_channel(addresses["control"]) as control,
            grpc.aio.insecure_channel(addresses["listen"]) as channel,
        ):
            open_table = table_opener(control, lobby.issue("lobby")[0])
            driving = [
                asyncio.create_task(drive_engine_table(channel, ENGINE_METHOD, open_table, tokens, measured, seen))
                for _ in range(TABLES)
            ]
            await measured_while(driving, pid, measured)
    return measured


def table_opener(control: grpc.aio.Channel, token: str):  # type: ignore[no-untyped-def]
    """A function that opens a table of Thulla and gives its id."""
    stub: engine_pb2_grpc.EngineControlServiceAsyncStub = engine_pb2_grpc.EngineControlServiceStub(control)
    metadata = (("authorization", f"Bearer {token}"),)
    seats = [table_pb2.SeatInfo(player_id=f"player-{seat}", name=f"Player {seat}") for seat in range(SEATS)]

    async def open_table() -> str:
        table_id = uuid.uuid4().hex
        clock = table_pb2.Clock(action_seconds=60)
        prepare = engine_pb2.PrepareTableRequest(
            table_id=table_id, game="thulla", seats=SEATS, options=OPTIONS, clock=clock
        )
        await stub.PrepareTable(prepare, metadata=metadata)
        request = engine_pb2.OpenTableRequest(table_id=table_id, seats=seats, client_seeds=[b""] * SEATS)
        await stub.OpenTable(request, metadata=metadata)
        return table_id

    return open_table


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
        await measured_while(driving, pid, measured)
    return measured


async def measured_while(driving: list[asyncio.Task[None]], pid: int, measured: Measured) -> None:
    """Measure while tables are driven; what a driver raises is raised here."""
    measuring = asyncio.create_task(measure(pid, measured, WARM_UP_SECONDS, MEASURED_SECONDS))
    done, _ = await asyncio.wait([measuring, *driving], return_when=asyncio.FIRST_COMPLETED)
    for task in driving:
        task.cancel()
    await asyncio.gather(*driving, return_exceptions=True)
    for task in done:
        task.result()


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
        for service in ("lobby", "engine"):
            write_new_key_pair(folder / f"{service}.pem", folder / f"{service}.pub")
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
