"""How many tables services of our own hold while nobody acts: `make capacity`.

Two parts: `idle`, tables in memory with seated players and open streams, wave after wave until the engine's memory is
full; `asleep`, tables in the log alone, some of which are woken. Exit code 0, 1 if a table was not as it had been left,
2 if nothing could be tested.
"""

import argparse
import asyncio
import json
import secrets
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import grpc

from benchmarks.guests import PATIENCE_SECONDS, POLL_SECONDS, Guest, Stream, open_table
from croupier_api.v1 import engine_pb2, table_pb2
from croupier_client import CroupierError, Table, random_legal
from croupier_client.table import new_request_id
from loadtest.backend import Backend, BackendMissing, own_backend
from loadtest.measures import Measures, histogram_of, latency_of
from loadtest.mix import KINDS
from loadtest.players.client import Connections
from loadtest.watch.scrape import Scrape, scrape

FINE, BROKEN, NOT_RUN = 0, 1, 2
MEBIBYTE = 2**20
CONNECTIONS = 16
TABLES_OF_A_HOST = 100
"""After so many tables other players sit down."""
TABLES_AT_A_TIME, STREAMS_AT_A_TIME, WAKING_AT_A_TIME = 32, 64, 4
SEATS = 4
ACTED_ON = 3
"""One of so many tables is woken by an action, and the others by a look."""
DAY = table_pb2.Clock(action_seconds=86_400, reserve_seconds=0)
SETTLING_SECONDS = 1.0
LOOK, ACT, AGAIN = "GetView of a table asleep", "SubmitAction at a table asleep", "GetView of the same, awake"
LOBBY_FLAGS = (f"--hosted-tables-limit={TABLES_OF_A_HOST}",)
IDLE_FLAGS = ("--most-open-tables=1000000", "--most-streams=4000000", "--idle-seconds=86400")


Opened: TypeAlias = tuple[str, Sequence[Guest]]
"""A table in play, and who sits there."""


class Bench:
    """Services that are measured: opens tables there, and reads the engine's figures."""

    def __init__(self, backend: Backend, connections: Connections, given: argparse.Namespace) -> None:
        self.backend = backend
        self.given = given
        self.max_bytes = 0
        self.opened = 0
        self._connections = connections
        self._random = Random(given.seed)

    async def open(
        self, tables: int, people: int, bots: int, then: Callable[[Opened], Awaitable[None]] | None = None
    ) -> list[Opened]:
        """Open so many tables, at which nobody has to act within a day; raises CroupierError, TimeoutError."""
        opened: list[Opened] = []
        games = [kind.game for kind in KINDS.values() if people + bots in kind.seats]

        async def open_some(number: int) -> None:
            for at in range(number, tables, TABLES_AT_A_TIME):
                if not (at // TABLES_AT_A_TIME) % TABLES_OF_A_HOST:
                    names = [f"{self.given.seed} {self.opened} {number} {seat}" for seat in range(people)]
                    guests = [Guest(self._connections, name) for name in names]
                table_id = await open_table(guests, bots, game=self._random.choice(games), clock=DAY)
                opened.append((table_id, guests))
                self.opened += 1
                if then is not None:
                    await then(opened[-1])

        await asyncio.gather(*(open_some(number) for number in range(min(TABLES_AT_A_TIME, tables))))
        return opened

    async def read(self) -> Scrape:
        """The engine's figures now; raises BackendMissing."""
        read = await asyncio.to_thread(scrape, self.backend.metrics["engine"], time.monotonic())
        if not isinstance(read, Scrape):
            raise BackendMissing(f"the engine is gone: {read.reason}")
        self.max_bytes = max(self.max_bytes, int(read.total("process_resident_memory_bytes")))
        return read

    async def memory(self) -> int:
        """The bytes that the engine's process has once it has settled; prints them."""
        await asyncio.sleep(SETTLING_SECONDS)
        size = int((await self.read()).total("process_resident_memory_bytes"))
        print(f"{self.opened:>9,} tables  {size >> 20:,} MiB", flush=True)
        return size


# Idle


async def idle(bench: Bench) -> dict[str, Any]:
    """Open tables and streams until memory is full, time is over or there are enough; raises what `_streams` does."""
    given, began, streams = bench.given, time.monotonic(), list[Stream]()
    limit, memory = given.memory_mebibytes * MEBIBYTE, await bench.memory()
    tables = bytes_of_tables = bytes_of_streams = 0
    try:
        while memory < limit and tables < given.most_tables and time.monotonic() < began + given.limit_seconds:
            size = min(given.wave, given.most_tables - tables)
            opened = await bench.open(size, SEATS, 0)
            with_tables = await bench.memory()
            streams += await _streams(opened)
            with_streams = await bench.memory()
            tables += size
            bytes_of_tables += with_tables - memory
            bytes_of_streams += with_streams - with_tables
            memory = with_streams
    finally:
        for stream in streams:
            stream.cancel()
    return {
        "tables": tables,
        "streams": tables * SEATS,
        "seconds": round(time.monotonic() - began, 1),
        "memory_bytes": memory,
        "limit_reached": memory >= limit,
        "bytes_per_table": bytes_of_tables / max(1, tables),
        "bytes_per_stream": bytes_of_streams / max(1, tables * SEATS),
    }


async def _streams(tables: Sequence[Opened]) -> list[Stream]:
    """A stream for each seat, once each has shown its table; raises BackendMissing, RpcError, TimeoutError."""
    places = asyncio.Semaphore(STREAMS_AT_A_TIME)

    async def open_one(table_id: str, guest: Guest) -> Stream:
        async with places, asyncio.timeout(PATIENCE_SECONDS):
            stream = await guest.stream(table_id)
            if await stream.read() is grpc.aio.EOF:
                raise BackendMissing("a stream did not show its table")
            return stream

    return list(await asyncio.gather(*(open_one(table_id, guest) for table_id, guests in tables for guest in guests)))


# Asleep


async def asleep(bench: Bench) -> dict[str, Any]:
    """Open tables, let them leave memory, and wake some; raises BackendMissing, TimeoutError."""
    given, began, before = bench.given, time.monotonic(), await bench.memory()
    share, chance = given.woken / given.sleeping, Random(f"{given.seed} woken")
    left: list[tuple[Guest, engine_pb2.Snapshot]] = []

    async def look(opened: Opened) -> None:
        if not bench.opened % 1000:
            await bench.memory()
        if chance.random() < share or not left:
            left.append((opened[1][0], await _settled(*opened)))

    async with asyncio.timeout(given.limit_seconds):
        await bench.open(given.sleeping, 1, 1, look)
        opening_seconds, slept = time.monotonic() - began, time.monotonic()
        while not is_asleep(await bench.read(), given.sleeping):
            await asyncio.sleep(POLL_SECONDS)
    falling_seconds, asleep_bytes = time.monotonic() - slept, await bench.memory()
    folder = bench.backend.folder
    database = sum(file.stat().st_size for file in folder.glob("engine.db*")) if folder else 0
    measures, different = await _woken(left, chance)
    return {
        "tables": given.sleeping,
        "opening_seconds": round(opening_seconds, 1),
        "falling_asleep_seconds": round(falling_seconds, 1),
        "memory_before_bytes": before,
        "memory_max_bytes": bench.max_bytes,
        "memory_asleep_bytes": asleep_bytes,
        "database_bytes": database,
        "woken": len(left),
        "waking_at_a_time": WAKING_AT_A_TIME,
        "milliseconds": [asdict(latency_of(name, histogram_of(times))) for name, times in measures.times.items()],
        "different": different,
    }


def is_asleep(read: Scrape, tables: int) -> bool:
    """Whether the engine knows of all tables and has none in memory: it counts both at the same time."""
    return read.total("croupier_open_tables") == tables and not read.total("croupier_tables_in_memory")


async def _settled(table_id: str, guests: Sequence[Guest]) -> engine_pb2.Snapshot:
    """What the only person sees once the table waits for them alone."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            snapshot = (await guests[0].get_view(table_id=table_id)).snapshot
            if list(snapshot.view.seats_to_act) == [snapshot.viewer_seat]:
                return snapshot
            await asyncio.sleep(POLL_SECONDS)


async def _woken(left: list[tuple[Guest, engine_pb2.Snapshot]], random: Random) -> tuple[Measures, list[str]]:
    """How long it took to wake tables, and what was different."""
    measures, places = Measures(), asyncio.Semaphore(WAKING_AT_A_TIME)
    random.shuffle(left)

    async def wake(number: int, guest: Guest, before: engine_pb2.Snapshot) -> str:
        async with places:
            if number % ACTED_ON:
                return await look_again(guest, before, measures)
            return await act(guest, before, random, measures)

    return measures, [
        found for found in await asyncio.gather(*(wake(at, *one) for at, one in enumerate(left))) if found
    ]


async def look_again(guest: Guest, before: engine_pb2.Snapshot, measures: Measures) -> str:
    """The table must be as it was, whether it is read from the log or is in memory by then; gives what is different."""
    for name in (LOOK, AGAIN):
        since = time.perf_counter()
        snapshot = (await guest.get_view(table_id=before.table.table_id)).snapshot
        measures.took(name, time.perf_counter() - since)
        if snapshot != before:
            return f"table {before.table.table_id}: left at {before.sequence}, now {snapshot.sequence}"
    return ""


async def act(guest: Guest, before: engine_pb2.Snapshot, random: Random, measures: Measures) -> str:
    """What was legal must be so still, and come next in the log; gives what is different."""
    table = Table(before.table.table_id)
    table.receive_snapshot(before)
    since = time.perf_counter()
    answer = await guest.submit_action(
        table_id=table.table_id,
        request_id=new_request_id(),
        action=random_legal(table, random),
        expected_sequence=before.sequence,
    )
    measures.took(ACT, time.perf_counter() - since)
    if answer.sequence == before.sequence + 1:
        return ""
    return f"table {table.table_id}: left at {before.sequence}, the action became {answer.sequence}"


# The command


def main(arguments: Sequence[str]) -> int:
    """Measure what is asked for, print it as JSON and keep it; returns the exit code."""
    given = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    flags = {
        "idle": {"engine": IDLE_FLAGS, "lobby": LOBBY_FLAGS},
        "asleep": {"engine": (f"--idle-seconds={given.idle_seconds}", *IDLE_FLAGS[:1]), "lobby": LOBBY_FLAGS},
    }
    measure = {"idle": idle, "asleep": asleep}
    result: dict[str, Any] = {"seed": given.seed}
    try:
        for part in given.parts:
            with own_backend(extra_flags=flags[part]) as backend:
                result[part] = asyncio.run(_with_connections(backend, given, measure[part]))
    except (BackendMissing, CroupierError, grpc.RpcError, TimeoutError) as fault:
        print(f"capacity: {str(fault) or 'not within --limit-seconds'}", file=sys.stderr)
        return NOT_RUN
    text = json.dumps(result, indent=1)
    print(text, flush=True)
    file = Path(given.results) / "capacity.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text + "\n")
    return BROKEN if result.get("asleep", {}).get("different") else FINE


async def _with_connections(
    backend: Backend, given: argparse.Namespace, measure: Callable[[Bench], Awaitable[dict[str, Any]]]
) -> dict[str, Any]:
    connections = Connections(backend.endpoints, CONNECTIONS)
    try:
        return await measure(Bench(backend, connections, given))
    finally:
        await connections.close()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.capacity", description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=("idle", "asleep"), default=["idle", "asleep"], help="both")
    parser.add_argument("--memory-mebibytes", type=int, default=2048, help="when the engine's memory is full (2048)")
    parser.add_argument("--wave", type=int, default=500, metavar="TABLES", help="opened before their streams are (500)")
    parser.add_argument("--most-tables", type=int, default=1_000_000, metavar="TABLES", help="open at most so many")
    parser.add_argument("--sleeping", type=int, default=100_000, metavar="TABLES", help="fall asleep (100000)")
    parser.add_argument("--idle-seconds", type=int, default=5, help="after which a table leaves memory (5)")
    parser.add_argument("--woken", type=int, default=2_000, metavar="TABLES", help="about so many are woken (2000)")
    parser.add_argument("--limit-seconds", type=float, default=7_200, help="each part takes at most so long (7200)")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**31), help="fixes games and chance")
    parser.add_argument("--results", default=f"results/{time.strftime('%Y%m%d-%H%M%S')}-capacity", metavar="FOLDER")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
