"""Tables asleep in the log, which nobody follows: opened through the lobby, left alone, and some of them woken."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from hdrh.histogram import HdrHistogram

from croupier_api.v1 import engine_pb2
from croupier_client import Table, random_legal
from croupier_client.table import new_request_id
from loadtest.backend import Backend
from loadtest.capacity.crowd import LOBBY_FLAGS, Crowd, Guest, Opened, Say
from loadtest.capacity.memory import EngineMemory
from loadtest.capacity.options import CapacityOptions
from loadtest.measures import latency_of, new_histogram
from loadtest.report.capacity import AsleepCapacity
from loadtest.swarm.client import Connections
from loadtest.watch.scrape import Scrape

PEOPLE, BOTS = 1, 1
"""At a table: whoever opens it has to call the lobby three times, and twice more for each further person."""
LOOK_SECONDS = 30.0
POLL_SECONDS = 0.1
WAKING_AT_A_TIME = 4
ACTED_ON = 3
"""One of so many tables is woken by an action, and the others by a look."""
TOLD_SECONDS = 5.0
LOOK, ACT, AGAIN = "GetView of a table asleep", "SubmitAction at a table asleep", "GetView of the same, awake"


def flags(options: CapacityOptions) -> dict[str, Sequence[str]]:
    """What the services are started with."""
    engine = (f"--idle-seconds={options.idle_seconds}", "--most-open-tables=1000000")
    return {"engine": engine, "lobby": LOBBY_FLAGS}


@dataclass(frozen=True, slots=True)
class Left:
    """A table as it was left: what the guest sees for whom all wait."""

    table_id: str
    guest: Guest
    snapshot: engine_pb2.Snapshot


@dataclass(slots=True)
class Waking:
    """What it took to wake tables, and what was different."""

    histograms: dict[str, HdrHistogram] = field(default_factory=dict)
    different: list[str] = field(default_factory=list)

    def took(self, name: str, since: float) -> None:
        """Something took until now."""
        microseconds = round((time.perf_counter() - since) * 1e6)
        self.histograms.setdefault(name, new_histogram()).record_value(max(1, microseconds))

    def differs(self, left: Left, how: str) -> None:
        """A table is not as it was left."""
        self.different.append(f"table {left.table_id}, left at sequence {left.snapshot.sequence}: {how}")


async def asleep_capacity(
    options: CapacityOptions, backend: Backend, connections: Connections, failures: list[str], say: Say
) -> AsleepCapacity:
    """Open tables, let them fall asleep, and wake some; raises BackendMissing, TimeoutError."""
    memory, random = EngineMemory(backend), Random(f"{options.seed} woken")
    before = await memory.resident_bytes()
    started = time.monotonic()
    left = await _opened(options, connections, memory, failures, say)
    opening_seconds = time.monotonic() - started
    say(f"{opening_seconds:7.0f} s  all are open; they fall asleep")
    slept = time.monotonic()
    await memory.until(lambda read: all_asleep(read, options.sleeping), "all tables asleep", options.limit_seconds)
    asleep_bytes, falling_seconds = await memory.resident_bytes(), time.monotonic() - slept
    database_bytes = _database_bytes(backend)
    say(f"{time.monotonic() - started:7.0f} s  all are asleep; {len(left)} of them are woken")
    random.shuffle(left)
    waking = await _woken(left, random)
    return AsleepCapacity(
        tables=options.sleeping,
        opening_seconds=opening_seconds,
        falling_asleep_seconds=falling_seconds,
        memory_before_bytes=before,
        memory_most_bytes=memory.most_bytes,
        memory_asleep_bytes=asleep_bytes,
        database_bytes=database_bytes,
        woken=len(left),
        waking_at_a_time=WAKING_AT_A_TIME,
        latencies=tuple(latency_of(name, one) for name, one in sorted(waking.histograms.items())),
        different=tuple(waking.different),
    )


def all_asleep(read: Scrape, tables: int) -> bool:
    """Whether the engine knows of all tables and has none in memory: it counts both at the same time."""
    return read.total("croupier_open_tables") == tables and not read.total("croupier_tables_in_memory")


async def _opened(
    options: CapacityOptions, connections: Connections, memory: EngineMemory, failures: list[str], say: Say
) -> list[Left]:
    """Open all tables; gives those that are to be woken, chosen by chance, as they were left."""
    crowd = Crowd(connections, PEOPLE, BOTS, options.seed, "asleep")
    chosen = set(Random(f"{options.seed} chosen").sample(range(options.sleeping), options.woken))
    looks: list[asyncio.Task[Left]] = []

    def on_open(number: int, opened: Opened) -> None:
        if number in chosen:
            looks.append(asyncio.create_task(look(opened)))

    telling = asyncio.create_task(_tell(crowd, memory, say))
    try:
        async with asyncio.timeout(options.limit_seconds):
            await crowd.open(options.sleeping, on_open)
            return list(await asyncio.gather(*looks))
    finally:
        telling.cancel()
        failures += crowd.failures


async def _tell(crowd: Crowd, memory: EngineMemory, say: Say) -> None:
    started = time.monotonic()
    while True:
        await asyncio.sleep(TOLD_SECONDS)
        seconds, used = time.monotonic() - started, await memory.resident_bytes() / 2**20
        say(f"{seconds:7.0f} s  {crowd.opened:>8,} tables  {crowd.opened / seconds:5.0f} a second  {used:,.0f} MiB")


async def look(opened: Opened) -> Left:
    """What the host sees once all wait for him alone; raises TimeoutError."""
    host = opened.guests[0]
    async with asyncio.timeout(LOOK_SECONDS):
        while True:
            snapshot = (await host.get_view(table_id=opened.table_id)).snapshot
            if list(snapshot.view.seats_to_act) == [snapshot.viewer_seat]:
                return Left(opened.table_id, host, snapshot)
            await asyncio.sleep(POLL_SECONDS)


async def _woken(left: Sequence[Left], random: Random) -> Waking:
    waking, places = Waking(), asyncio.Semaphore(WAKING_AT_A_TIME)

    async def wake(number: int, one: Left) -> None:
        async with places:
            await (look_again(one, waking) if number % ACTED_ON else act(one, random, waking))

    await asyncio.gather(*(wake(number, one) for number, one in enumerate(left)))
    return waking


async def look_again(one: Left, waking: Waking) -> None:
    """The table must be as it was, whether it is read from the log or is in memory by then."""
    for name in (LOOK, AGAIN):
        since = time.perf_counter()
        snapshot = (await one.guest.get_view(table_id=one.table_id)).snapshot
        waking.took(name, since)
        if snapshot != one.snapshot:
            waking.differs(one, _parts(one, snapshot))
            return


def _parts(one: Left, snapshot: engine_pb2.Snapshot) -> str:
    names = (each.name for each in engine_pb2.Snapshot.DESCRIPTOR.fields)
    other = ", ".join(name for name in names if getattr(snapshot, name) != getattr(one.snapshot, name))
    return f"{other} differ, and the sequence is {snapshot.sequence}"


async def act(one: Left, random: Random, waking: Waking) -> None:
    """What was legal must be so still, and come next in the log."""
    table = Table(one.table_id)
    table.receive_snapshot(one.snapshot)
    action = random_legal(table, random)
    since = time.perf_counter()
    answer = await one.guest.submit_action(
        table_id=one.table_id, request_id=new_request_id(), action=action, expected_sequence=one.snapshot.sequence
    )
    waking.took(ACT, since)
    view = (await one.guest.get_view(table_id=one.table_id)).snapshot
    if answer.sequence != one.snapshot.sequence + 1 or view.sequence < answer.sequence:
        told = f"the action became {answer.sequence}, and the view is at {view.sequence}"
        waking.differs(one, told)


def _database_bytes(backend: Backend) -> int:
    """The engine's database with its write-ahead log."""
    if backend.folder is None:
        return 0
    return sum(file.stat().st_size for file in backend.folder.glob("engine.db*"))
