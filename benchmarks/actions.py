"""The cost of an action: the engine on each database compared with a bare fan-out, and with and without a gateway."""

import asyncio
import os
import random
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import grpc
import psutil  # type: ignore[import-untyped]
from google.protobuf.duration_pb2 import Duration

from benchmarks.bare_server import METHOD
from benchmarks.clients import BenchmarkClient, Stream, open_table
from benchmarks.measurement import Measurement, measure_tables, report, report_ratios
from croupier.cli.launcher.background import BackgroundServices, started_services
from croupier.cli.services import endpoints_of
from croupier.gateway.envoy import find_envoy
from croupier.runtime.schema_versions import migrate_database
from croupier_api.v1 import cards_pb2, engine_pb2, tables_pb2
from croupier_client import Endpoints, Tls
from loadtest.players.client import Connections
from loadtest.postgres import postgres_server

SEATS = 4
# Long matches measure actions and not the opening of tables, which short games need once in 80 actions.
TABLE_SETTINGS: dict[str, Any] = {
    "game": "thulla",
    "options": {"best_of": 5, "scoring": "cards", "pickup": "cutter", "stall_limit": 1000},
    "time_control": tables_pb2.TimeControl(action_time=Duration(seconds=60)),
}
NO_LIMITS = ("--player-calls-per-second=0", "--network-units-per-second=0", "--log-level=error")
FLAGS = {
    "lobby": (
        *NO_LIMITS,
        "--max-hosted-tables=10000",
        "--sign-ins-per-second=0",
        "--tables-created-per-second=0",
        "--max-network-tables=10000",
    ),
    "engine": NO_LIMITS,
    "gateway": (
        "--address-requests-per-second=0",
        "--network-requests-per-second=0",
        "--max-streams-per-connection=1000",
    ),
}
PACKAGES = ("croupier.lobby", "croupier.engine", "croupier.scoring")
CORES = sorted(os.sched_getaffinity(0))
SERVER_CORES, DRIVER_CORES = CORES[:1], CORES[1:] or CORES
MAX_MESSAGES = 500


@dataclass(frozen=True, slots=True)
class LoadLevel:
    """The number of tables, the duration in seconds, and the think time of players in seconds."""

    tables: int
    seconds: float
    think_seconds: float = 0.0


FULL_LOAD, FULL_LOAD_ROUNDS = LoadLevel(50, 8.0), 3
LIGHT_LOAD, LIGHT_LOAD_ROUNDS = LoadLevel(20, 2.5, 0.04), 6
"""A load at which engine and gateway are idle most of the time, so that no queue is measured.

Many short rounds, because other load of the machine changes from second to second.
"""


# The engine


@contextmanager
def started(folder: Path, database: str = "", gateway: Sequence[str] | None = None) -> Iterator[BackgroundServices]:
    """Start services with the engine alone on the first core, and the others on those of the driver."""
    with started_services(folder, database=database, extra_flags=FLAGS, gateway=gateway) as services:
        for thread in Path(f"/proc/{services.pids['engine']}/task").iterdir():
            os.sched_setaffinity(int(thread.name), SERVER_CORES)
        yield services


async def drive_services(
    pids: Mapping[str, int], endpoints: Endpoints, level: LoadLevel, messages: list[bytes]
) -> Measurement:
    """Make one run against services on new tables, and append some of the engine's updates to `messages`."""
    run, connections = Measurement(), Connections(endpoints, 1)
    clients = [BenchmarkClient(connections, f"seat {seat}") for seat in range(SEATS)]

    async def drive(table_id: str) -> None:
        while True:
            await asyncio.gather(*(_play(client, table_id, run, messages, level.think_seconds) for client in clients))
            table_id = await open_table(clients, **TABLE_SETTINGS)

    try:
        tables = await asyncio.gather(*(open_table(clients, **TABLE_SETTINGS) for _ in range(level.tables)))
        return await measure_tables(run, map(drive, tables), pids, level.seconds)
    finally:
        await connections.close()


async def _play(
    client: BenchmarkClient, table_id: str, run: Measurement, messages: list[bytes], think_seconds: float
) -> None:
    """Play random legal cards to the end of a game."""
    stream, sent = await client.stream(table_id), 0.0
    for number in count():
        raw: Any = await stream.read()
        if raw is grpc.aio.EOF:
            return
        message = engine_pb2.PlayTableResponse.FromString(raw)
        event = message.table_event
        if message.HasField("answer"):
            if message.answer.HasField("refusal"):
                raise RuntimeError(f"refused: {message.answer.refusal.message}")
            run.count_action(sent)
        elif len(messages) < MAX_MESSAGES and event.HasField("update"):
            messages.append(raw)
        legal = (event.update if event.HasField("update") else event.snapshot).legal_actions.actions
        if legal:
            if think_seconds:
                await asyncio.sleep(think_seconds * random.uniform(0.5, 1.5))
            action = engine_pb2.SubmitActionRequest(request_id=str(number), action=random.choice(legal))
            sent = time.perf_counter()
            await stream.write(engine_pb2.PlayTableRequest(action=action).SerializeToString())


# The baseline


async def drive_bare_server(folder: Path, messages: list[bytes], *flags: str) -> Measurement:
    """Make one run against the bare server, with messages of the engine; "tuned" is a flag."""
    file = folder / "messages"
    file.write_text("\n".join(message.hex() for message in messages))
    run, command = Measurement(), ["-m", "benchmarks.bare_server", str(file), *flags]
    process: Any = await asyncio.create_subprocess_exec(sys.executable, *command, stdout=asyncio.subprocess.PIPE)
    os.sched_setaffinity(process.pid, SERVER_CORES)
    try:
        address = (await process.stdout.readline()).decode().strip()
        async with grpc.aio.insecure_channel(address) as channel:
            driving = (_play_on_bare_server(channel, b"%d" % table, run) for table in range(FULL_LOAD.tables))
            return await measure_tables(run, driving, {"engine": process.pid}, FULL_LOAD.seconds)
    finally:
        process.terminate()
        await process.wait()


async def _play_on_bare_server(channel: grpc.aio.Channel, table: bytes, run: Measurement) -> None:
    """Let four streams take turns; each sends a message when it has received the one before."""
    action = engine_pb2.SubmitActionRequest(request_id="0-0")
    action.action.play.card = cards_pb2.CARD_FIVE_OF_DIAMONDS
    request = engine_pb2.PlayTableRequest(action=action).SerializeToString()
    streams: list[Stream] = [channel.stream_stream(METHOD)() for _ in range(SEATS)]
    for stream in streams:
        await stream.write(table)
    await asyncio.sleep(0.2)

    async def seat(index: int) -> None:
        sent = time.perf_counter()
        if index == 0:
            await streams[0].write(request)
        for turn in count():
            raw: Any = await streams[index].read()
            engine_pb2.PlayTableResponse.FromString(raw)
            if turn % SEATS == index:
                run.count_action(sent)
            if (turn + 1) % SEATS == index:
                sent = time.perf_counter()
                await streams[index].write(request)

    await asyncio.gather(*(seat(index) for index in range(SEATS)))


# The comparisons


async def compare_engine() -> None:
    """Measure engine and baselines in turn, and print the ratios round by round."""
    os.sched_setaffinity(0, DRIVER_CORES)
    print("\nEngine: random play over real streams, compared with grpc.aio that only fans the same bytes out")
    print(f"{FULL_LOAD.tables} tables of Thulla, {SEATS} seats watching each over PlayTable, the engine on one core")
    print("SQLite with synchronous FULL; PostgreSQL with fsync, on the core of the driver")
    runs: dict[str, list[Measurement]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as name, postgres_server(settings={}) as postgres:
        for number in range(FULL_LOAD_ROUNDS):
            messages: list[bytes] = []
            postgresql = postgres.create_database(f"round_{number}")
            await migrate_database(postgresql, PACKAGES)
            for title, database in {"SQLite": "", "PostgreSQL": postgresql}.items():
                with started(Path(name) / f"{title} {number}", database) as services:
                    pids = {"engine": services.pids["engine"]}
                    runs[title].append(
                        await drive_services(pids, endpoints_of(services.addresses), FULL_LOAD, messages)
                    )
            runs["bare"].append(await drive_bare_server(Path(name), messages))
            runs["bare tuned"].append(await drive_bare_server(Path(name), messages, "tuned"))
    for title, several in runs.items():
        report(title, several)
    for one, other in [
        ("SQLite", "bare"),
        ("SQLite", "bare tuned"),
        ("PostgreSQL", "bare"),
        ("PostgreSQL", "SQLite"),
    ]:
        pairs = list(zip(runs[one], runs[other], strict=True))
        report_ratios(f"{one} to {other}, actions/s", [a.per_second / b.per_second for a, b in pairs])
        cpu = [b.cpu_microseconds("engine") / a.cpu_microseconds("engine") for a, b in pairs]
        report_ratios(f"{one} to {other}, actions per second of server CPU", cpu)


async def compare_gateway() -> None:
    """Measure players through Envoy, with and without TLS, in turn with players connected to the engine."""
    os.sched_setaffinity(0, DRIVER_CORES)
    print("\nGateway: cost of an action, compared with players connected to the engine")
    try:
        find_envoy()
    except ValueError as missing:
        print(f"  skipped: {missing}")
        return
    print(f"{LIGHT_LOAD.tables} tables of Thulla, think time {LIGHT_LOAD.think_seconds} s;")
    print("the engine on SQLite on one core, Envoy on that of the driver")
    for title, flags in {"gateway": [], "gateway, TLS": ["--tls"]}.items():
        direct, behind = list[Measurement](), list[Measurement]()
        with tempfile.TemporaryDirectory() as name, started(Path(name), gateway=flags) as services:
            [envoy] = psutil.Process(services.pids["gateway"]).children()
            pids = {"engine": services.pids["engine"], "Envoy": envoy.pid}
            address = services.addresses["gateway"]["listen"].replace("127.0.0.1", "localhost")
            tls = Tls((Path(name) / "keys" / "gateway.authority.pem").read_bytes()) if flags else None
            gateway, engine = Endpoints.single(address, tls), endpoints_of(services.addresses)
            for number in range(LIGHT_LOAD_ROUNDS):
                # Later runs have more tables in the engine, so the order alternates.
                connections = [(direct, engine), (behind, gateway)]
                for runs, endpoints in connections if number % 2 else reversed(connections):
                    runs.append(await drive_services(pids, endpoints, LIGHT_LOAD, []))
        report("direct", direct)
        report(title, behind)
        # No ratio of p99: in one round it depends on a dozen actions, and more on the machine than the gateway.
        pairs = list(zip(behind, direct, strict=True))
        p50 = [a.percentile_milliseconds(50) / b.percentile_milliseconds(50) for a, b in pairs]
        report_ratios(f"{title} to direct, p50", p50)
        cpu = [a.cpu_microseconds("Envoy") / b.cpu_microseconds("engine") for a, b in pairs]
        report_ratios(f"{title}, CPU of Envoy to CPU of the engine without a gateway", cpu)
