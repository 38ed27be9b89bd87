"""What an action costs: the engine on each database beside a bare fan-out, and the front door beside no door."""

import asyncio
import os
import random
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import grpc
import psutil  # type: ignore[import-untyped]

from benchmarks.bare_server import METHOD
from benchmarks.guests import Guest, Stream, open_table
from croupier.cli.background import BackgroundServices, started_services
from croupier.cli.reach import endpoints_of
from croupier.door.envoy import find_envoy
from croupier.runtime.schema_versions import migrate_database
from croupier_api.v1 import engine_pb2, table_pb2
from croupier_client import Endpoints, Tls
from loadtest.players.client import Connections
from loadtest.postgres import postgres_server

SEATS = 4
# Long matches, so that actions are measured and not the opening of tables, of which a short game needs one in 80.
WISHES: dict[str, Any] = {
    "game": "thulla",
    "options": {"best_of": 5, "scoring": "cards", "pickup": "cutter", "stall_limit": 1000},
    "clock": table_pb2.Clock(action_seconds=60),
}
LIMITLESS = ("--player-calls-per-second=0", "--log-level=error")
FLAGS = {
    "lobby": (*LIMITLESS, "--hosted-tables-limit=10000"),
    "engine": LIMITLESS,
    "door": ("--address-requests-per-second=0", "--streams-per-connection-limit=1000"),
}
PACKAGES = ("croupier.lobby", "croupier.engine", "croupier.scoring")
CORES = sorted(os.sched_getaffinity(0))
SERVER_CORES, DRIVER_CORES = CORES[:1], CORES[1:] or CORES
WARM_UP_SECONDS = 2.0
KEPT_MESSAGES = 500


@dataclass(frozen=True, slots=True)
class Pace:
    """How many tables are driven for how long, and how long their players think."""

    tables: int
    seconds: float
    thinking_seconds: float = 0.0


FULL_SPEED, FULL_SPEED_ROUNDS = Pace(50, 8.0), 3
THOUGHTFUL, THOUGHTFUL_ROUNDS = Pace(20, 2.5, 0.04), 6
"""So that engine and door have time to spare: the way is measured, and not a queue. Many short rounds, since what else
the machine does changes from one second to the next."""


@dataclass
class Measured:
    """What one run counted: seconds from sending each action to its answer, of wall, and of CPU by process."""

    latencies: list[float] = field(default_factory=list)
    seconds: float = 0.0
    cpu_seconds: Counter[str] = field(default_factory=Counter)
    is_counting: bool = False

    def acted(self, sent: float) -> None:
        """An action that was sent then is answered now."""
        if self.is_counting:
            self.latencies.append(time.perf_counter() - sent)

    @property
    def per_second(self) -> float:
        return len(self.latencies) / self.seconds

    def percentile_milliseconds(self, percent: int) -> float:
        return statistics.quantiles(self.latencies, n=100)[percent - 1] * 1000

    def cpu_microseconds(self, process: str) -> float:
        """The CPU of a process for each action."""
        return self.cpu_seconds[process] / len(self.latencies) * 1e6


async def measured(
    run: Measured, driving: Iterable[Coroutine[Any, Any, None]], pids: Mapping[str, int], seconds: float
) -> Measured:
    """Let the tables be driven, and count for so long after a warm-up; raises what a driver raises."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one) for one in driving]
        await asyncio.sleep(WARM_UP_SECONDS)
        began, before = time.perf_counter(), _cpu_seconds(pids)
        run.is_counting = True
        await asyncio.sleep(seconds)
        run.is_counting = False
        run.seconds, run.cpu_seconds = time.perf_counter() - began, _cpu_seconds(pids) - before
        for task in tasks:
            task.cancel()
    return run


def _cpu_seconds(pids: Mapping[str, int]) -> Counter[str]:
    return Counter({name: sum(psutil.Process(pid).cpu_times()[:2]) for name, pid in pids.items()})


# The engine


@contextmanager
def started(folder: Path, database: str = "", door: Sequence[str] | None = None) -> Iterator[BackgroundServices]:
    """Services of which the engine is alone on the first core; the others keep to those of the driver."""
    with started_services(folder, database=database, extra_flags=FLAGS, door=door) as services:
        for thread in Path(f"/proc/{services.pids['engine']}/task").iterdir():
            os.sched_setaffinity(int(thread.name), SERVER_CORES)
        yield services


async def played(pids: Mapping[str, int], endpoints: Endpoints, pace: Pace, seen: list[bytes]) -> Measured:
    """One run against services on new tables; updates without extras are kept in `seen`."""
    run, connections = Measured(), Connections(endpoints, 1)
    guests = [Guest(connections, f"seat {seat}") for seat in range(SEATS)]

    async def drive(table_id: str) -> None:
        while True:
            await asyncio.gather(*(_play(guest, table_id, run, seen, pace.thinking_seconds) for guest in guests))
            table_id = await open_table(guests, **WISHES)

    try:
        tables = await asyncio.gather(*(open_table(guests, **WISHES) for _ in range(pace.tables)))
        return await measured(run, map(drive, tables), pids, pace.seconds)
    finally:
        await connections.close()


async def _play(guest: Guest, table_id: str, run: Measured, seen: list[bytes], thinking_seconds: float) -> None:
    """Play random legal cards to the end of a game."""
    stream, sent = await guest.stream(table_id), 0.0
    for number in count():
        raw: Any = await stream.read()
        if raw is grpc.aio.EOF:
            return
        message = engine_pb2.PlayResponse.FromString(raw)
        if message.HasField("answer"):
            if message.answer.HasField("refusal"):
                raise RuntimeError(f"refused: {message.answer.refusal.message}")
            run.acted(sent)
        elif len(seen) < KEPT_MESSAGES and message.HasField("update"):
            seen.append(raw)
        legal = (message if message.HasField("update") else message.snapshot).legal_actions.actions
        if legal:
            if thinking_seconds:
                await asyncio.sleep(thinking_seconds * random.uniform(0.5, 1.5))
            action = engine_pb2.SubmitActionRequest(request_id=str(number), action=random.choice(legal))
            sent = time.perf_counter()
            await stream.write(engine_pb2.PlayRequest(action=action).SerializeToString())


# The baseline


async def fanned_out(folder: Path, messages: list[bytes], *manner: str) -> Measured:
    """One run against the bare server, with messages that the engine sent; "tuned" is a manner."""
    file = folder / "messages"
    file.write_text("\n".join(message.hex() for message in messages))
    run, command = Measured(), ["-m", "benchmarks.bare_server", str(file), *manner]
    process: Any = await asyncio.create_subprocess_exec(sys.executable, *command, stdout=asyncio.subprocess.PIPE)
    os.sched_setaffinity(process.pid, SERVER_CORES)
    try:
        address = (await process.stdout.readline()).decode().strip()
        async with grpc.aio.insecure_channel(address) as channel:
            driving = (_take_turns(channel, b"%d" % table, run) for table in range(FULL_SPEED.tables))
            return await measured(run, driving, {"engine": process.pid}, FULL_SPEED.seconds)
    finally:
        process.terminate()
        await process.wait()


async def _take_turns(channel: grpc.aio.Channel, table: bytes, run: Measured) -> None:
    """Four streams that take turns; a message goes out when the one before has come in."""
    action = engine_pb2.SubmitActionRequest(request_id="0-0")
    action.action.play.card = 17  # type: ignore[assignment]
    request = engine_pb2.PlayRequest(action=action).SerializeToString()
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
            engine_pb2.PlayResponse.FromString(raw)
            if turn % SEATS == index:
                run.acted(sent)
            if (turn + 1) % SEATS == index:
                sent = time.perf_counter()
                await streams[index].write(request)

    await asyncio.gather(*(seat(index) for index in range(SEATS)))


# The comparisons


def report(name: str, runs: Sequence[Measured]) -> None:
    """Print a line for all runs of a kind together."""
    run = Measured([one for run in runs for one in run.latencies], sum(run.seconds for run in runs))
    for one in runs:
        run.cpu_seconds += one.cpu_seconds
    latencies = "  ".join(f"p{percent} {run.percentile_milliseconds(percent):6.2f}" for percent in (50, 95, 99))
    cpu = ", ".join(f"{process} {run.cpu_microseconds(process):4.0f} µs" for process in run.cpu_seconds)
    print(f"  {name:<11}{run.per_second:7.0f} actions/s   {latencies} ms   CPU each: {cpu}", flush=True)


def report_ratios(title: str, ratios: Sequence[float]) -> None:
    """Print ratios round by round, and their median."""
    listed = ", ".join(f"{ratio:.2f}" for ratio in ratios)
    print(f"  {title}: median {statistics.median(ratios):.2f} of {listed}")


async def beside_bare() -> None:
    """Engine and baselines in turn, and the ratios round by round."""
    print(f"{FULL_SPEED.tables} tables of Thulla, {SEATS} seats watching each over Play, the engine on one core")
    print("SQLite with synchronous FULL; PostgreSQL with fsync, on the core of the driver")
    runs: dict[str, list[Measured]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as name, postgres_server(settings={}) as postgres:
        for number in range(FULL_SPEED_ROUNDS):
            seen: list[bytes] = []
            postgresql = postgres.create_database(f"round_{number}")
            await migrate_database(postgresql, PACKAGES)
            for title, database in {"SQLite": "", "PostgreSQL": postgresql}.items():
                with started(Path(name) / f"{title} {number}", database) as services:
                    pids = {"engine": services.pids["engine"]}
                    runs[title].append(await played(pids, endpoints_of(services.addresses), FULL_SPEED, seen))
            runs["bare"].append(await fanned_out(Path(name), seen))
            runs["bare tuned"].append(await fanned_out(Path(name), seen, "tuned"))
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


async def behind_the_door() -> None:
    """Players through Envoy, with and without TLS, in turn with players who reach the engine directly."""
    print(f"{THOUGHTFUL.tables} tables of Thulla, players think for {THOUGHTFUL.thinking_seconds} s;")
    print("the engine on SQLite on one core, Envoy on that of the driver")
    for title, flags in {"door": [], "door, TLS": ["--tls"]}.items():
        direct, behind = list[Measured](), list[Measured]()
        with tempfile.TemporaryDirectory() as name, started(Path(name), door=flags) as services:
            [envoy] = psutil.Process(services.pids["door"]).children()
            pids = {"engine": services.pids["engine"], "Envoy": envoy.pid}
            address = services.addresses["door"]["listen"].replace("127.0.0.1", "localhost")
            tls = Tls((Path(name) / "keys" / "door.authority.pem").read_bytes()) if flags else None
            door, engine = Endpoints.single(address, tls), endpoints_of(services.addresses)
            for number in range(THOUGHTFUL_ROUNDS):
                # What comes later finds more tables in the engine.
                ways = [(direct, engine), (behind, door)]
                for runs, endpoints in ways if number % 2 else reversed(ways):
                    runs.append(await played(pids, endpoints, THOUGHTFUL, []))
        report("direct", direct)
        report(title, behind)
        # Not for p99: in one round it rests on a dozen actions, and says more of the machine than of the door.
        pairs = list(zip(behind, direct, strict=True))
        p50 = [a.percentile_milliseconds(50) / b.percentile_milliseconds(50) for a, b in pairs]
        report_ratios(f"{title} to direct, p50", p50)
        cpu = [a.cpu_microseconds("Envoy") / b.cpu_microseconds("engine") for a, b in pairs]
        report_ratios(f"{title}, CPU of Envoy to CPU of the engine that is reached directly", cpu)


async def compare() -> None:
    """Print what the engine does beside a bare fan-out, and what the door costs, or why that is not known."""
    os.sched_setaffinity(0, DRIVER_CORES)
    print("\nEngine: random play over real streams, beside grpc.aio that fans the same bytes out and does nothing else")
    await beside_bare()
    print("\nDoor: what it costs for each action, beside players who reach the engine directly")
    try:
        find_envoy()
    except ValueError as missing:
        print(f"  left out: {missing}")
        return
    await behind_the_door()
