"""The memory of idle services, and the number of idle tables that they hold: `make capacity`.

The memory of each process is its part of the RAM (RSS) and its proportional share (PSS), because services share
libraries. The parts: `idle`, tables in memory with seated players and open streams, opened in waves until the engine's
memory is full, of which the first is not counted; `idle-websocket`, the same with streams over WebSocket, each with a
connection of its own; `evicted`, tables in the log alone, some of which are loaded again.
Exit code 0, 1 if a table had changed, 2 if nothing could be tested.
"""

import argparse
import asyncio
import json
import secrets
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

import grpc

from benchmarks.capacity_harness import TABLES_PER_HOST, CapacityHarness, OpenTable, memory_of_services
from benchmarks.clients import POLL_SECONDS, TIMEOUT_SECONDS, BenchmarkClient, Stream
from croupier_api.v1 import engine_pb2
from croupier_client import CroupierError, FollowedTable, choose_random_action
from croupier_client.sockets import GRPC, WEBSOCKET
from croupier_client.table import new_request_id
from croupier_loadtest.backend import Backend, BackendUnavailable, started_backend
from croupier_loadtest.histograms import histogram_of, latency_of
from croupier_loadtest.measures import Measures
from croupier_loadtest.monitor.monitor import Scrape
from croupier_loadtest.players.client import Connections

EXIT_PASSED, EXIT_FAILED, EXIT_NOT_RUN = 0, 1, 2
MEBIBYTE = 2**20
CONNECTIONS = 16
MAX_CONCURRENT_STREAM_OPENINGS, MAX_CONCURRENT_RELOADS = 64, 4
SEATS = 4
MAX_WEBSOCKET_TABLES = 4_000
"""Their streams are 16,000 connections; a process has twice as many ports for those to one address."""
ACTION_INTERVAL = 3
"""Every third evicted table is loaded by an action, the others by a view."""
EVICTED_VIEW, EVICTED_ACTION, CACHED_VIEW = (
    "GetView of an evicted table",
    "SubmitAction at an evicted table",
    "GetView of the same table in memory",
)
LOBBY_FLAGS = (f"--max-player-tables={TABLES_PER_HOST}",)
IDLE_FLAGS = ("--max-open-tables=1000000", "--max-streams=4000000", "--idle-seconds=86400")


async def idle(harness: CapacityHarness) -> dict[str, Any]:
    """Open tables and streams until memory is full, time is over or there are enough; raises errors of `_streams`."""
    options, began, streams = harness.options, time.monotonic(), list[Stream]()
    limit, memory = options.memory_mebibytes * MEBIBYTE, await harness.memory()
    most = min(options.max_tables, MAX_WEBSOCKET_TABLES) if harness.is_websocket else options.max_tables
    tables = counted = bytes_of_tables = bytes_of_streams = 0
    try:
        while memory < limit and tables < most and time.monotonic() < began + options.limit_seconds:
            size = min(options.wave, most - tables)
            opened = await harness.open(size, SEATS, 0)
            with_tables = await harness.memory()
            streams += await _streams(opened)
            with_streams = await harness.memory()
            if tables:  # The first wave also fills caches, whose size does not depend on the number of tables.
                counted += size
                bytes_of_tables += with_tables - memory
                bytes_of_streams += with_streams - with_tables
            tables += size
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
        "bytes_per_table": bytes_of_tables / max(1, counted),
        "bytes_per_stream": bytes_of_streams / max(1, counted * SEATS),
        "bytes_per_table_with_streams": (bytes_of_tables + bytes_of_streams) / max(1, counted),
    }


async def _streams(tables: Sequence[OpenTable]) -> list[Stream]:
    """Open a stream for each seat and await its first message; raises BackendUnavailable, RpcError, TimeoutError."""
    semaphore = asyncio.Semaphore(MAX_CONCURRENT_STREAM_OPENINGS)

    async def open_one(table_id: str, client: BenchmarkClient) -> Stream:
        async with semaphore, asyncio.timeout(TIMEOUT_SECONDS):
            stream = await client.stream(table_id)
            if await stream.read() is grpc.aio.EOF:
                raise BackendUnavailable("a stream ended without a message")
            return stream

    return list(
        await asyncio.gather(*(open_one(table_id, client) for table_id, clients in tables for client in clients))
    )


async def evicted(harness: CapacityHarness) -> dict[str, Any]:
    """Open tables, wait until they are evicted, and load some again; raises BackendUnavailable, TimeoutError."""
    options, began, before = harness.options, time.monotonic(), await harness.memory()
    share, random_source = options.reloaded / options.evicted, Random(f"{options.seed} reloads")
    snapshots: list[tuple[BenchmarkClient, engine_pb2.Snapshot]] = []

    async def visit(opened: OpenTable) -> None:
        if not harness.opened % 1000:
            await harness.memory()
        if random_source.random() < share or not snapshots:
            snapshots.append((opened[1][0], await _settled(*opened)))

    async with asyncio.timeout(options.limit_seconds):
        await harness.open(options.evicted, 1, 1, visit)
        opening_seconds, opened_at = time.monotonic() - began, time.monotonic()
        while not are_evicted(await harness.read(), options.evicted):
            await asyncio.sleep(POLL_SECONDS)
    eviction_seconds, evicted_bytes = time.monotonic() - opened_at, await harness.memory()
    folder = harness.backend.folder
    database = sum(file.stat().st_size for file in folder.glob("engine.db*")) if folder else 0
    measures, different = await _reload(snapshots, random_source)
    return {
        "tables": options.evicted,
        "opening_seconds": round(opening_seconds, 1),
        "eviction_seconds": round(eviction_seconds, 1),
        "memory_before_bytes": before,
        "memory_max_bytes": harness.max_bytes,
        "memory_evicted_bytes": evicted_bytes,
        "database_bytes": database,
        "reloaded": len(snapshots),
        "concurrent_reloads": MAX_CONCURRENT_RELOADS,
        "milliseconds": [asdict(latency_of(name, histogram_of(times))) for name, times in measures.times.items()],
        "different": different,
    }


def are_evicted(read: Scrape, tables: int) -> bool:
    """Return whether the engine has all tables open and none in memory; it counts both at the same time."""
    return read.total("croupier_open_tables") == tables and not read.total("croupier_tables_in_memory")


async def _settled(table_id: str, clients: Sequence[BenchmarkClient]) -> engine_pb2.Snapshot:
    """Return the only person's snapshot once the table waits for them alone."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while True:
            snapshot = (await clients[0].get_view(table_id=table_id)).snapshot
            if list(snapshot.view.seats_to_act) == [snapshot.viewer_seat]:
                return snapshot
            await asyncio.sleep(POLL_SECONDS)


async def _reload(
    snapshots: list[tuple[BenchmarkClient, engine_pb2.Snapshot]], random: Random
) -> tuple[Measures, list[str]]:
    """Load tables again, and return the times and the differences."""
    measures, semaphore = Measures(), asyncio.Semaphore(MAX_CONCURRENT_RELOADS)
    random.shuffle(snapshots)

    async def reload_table(number: int, client: BenchmarkClient, before: engine_pb2.Snapshot) -> str:
        async with semaphore:
            if number % ACTION_INTERVAL:
                return await compare_view(client, before, measures)
            return await compare_action(client, before, random, measures)

    return measures, [
        found for found in await asyncio.gather(*(reload_table(at, *one) for at, one in enumerate(snapshots))) if found
    ]


async def compare_view(client: BenchmarkClient, before: engine_pb2.Snapshot, measures: Measures) -> str:
    """Compare an evicted table with its snapshot, from the log and again in memory; returns the difference, or ""."""
    for name in (EVICTED_VIEW, CACHED_VIEW):
        since = time.perf_counter()
        snapshot = (await client.get_view(table_id=before.table.table_id)).snapshot
        measures.record_time(name, time.perf_counter() - since)
        # The only field that differs by the time of the call.
        if snapshot.HasField("clock"):
            snapshot.clock.server_unix_ms = before.clock.server_unix_ms
        if snapshot != before:
            return f"table {before.table.table_id}: evicted at {before.sequence}, now {snapshot.sequence}"
    return ""


async def compare_action(
    client: BenchmarkClient, before: engine_pb2.Snapshot, random: Random, measures: Measures
) -> str:
    """Act at an evicted table, where the action must be the next entry of the log; returns the difference, or ""."""
    table = FollowedTable(before.table.table_id)
    table.receive_snapshot(before)
    since = time.perf_counter()
    answer = await client.submit_action(
        table_id=table.table_id,
        request_id=new_request_id(),
        action=choose_random_action(table, random),
        expected_sequence=before.sequence,
    )
    measures.record_time(EVICTED_ACTION, time.perf_counter() - since)
    if answer.sequence == before.sequence + 1:
        return ""
    return f"table {table.table_id}: evicted at {before.sequence}, the action has sequence {answer.sequence}"


IDLE, IDLE_WEBSOCKET, EVICTED = "idle", "idle-websocket", "evicted"
PARTS: Mapping[str, Callable[[CapacityHarness], Awaitable[dict[str, Any]]]] = {
    IDLE: idle,
    IDLE_WEBSOCKET: idle,
    EVICTED: evicted,
}


def main(arguments: Sequence[str]) -> int:
    """Measure the chosen parts, print and write the result as JSON, and return the exit code."""
    options = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    evicting = (f"--idle-seconds={options.idle_seconds}", *IDLE_FLAGS[:1])
    engine_flags = {IDLE: IDLE_FLAGS, IDLE_WEBSOCKET: IDLE_FLAGS, EVICTED: evicting}
    result: dict[str, Any] = {"seed": options.seed}
    try:
        for part in options.parts:
            with started_backend(extra_flags={"engine": engine_flags[part], "lobby": LOBBY_FLAGS}) as backend:
                result["services"] = memory_of_services()
                result[part] = asyncio.run(_measured(backend, options, part))
    except (BackendUnavailable, CroupierError, grpc.RpcError, OSError) as fault:
        print(f"capacity: {str(fault) or 'not within --limit-seconds'}", file=sys.stderr)
        return EXIT_NOT_RUN
    text = json.dumps(result, indent=1)
    print(text, flush=True)
    file = Path(options.results) / "capacity.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text + "\n")
    return EXIT_FAILED if result.get(EVICTED, {}).get("different") else EXIT_PASSED


async def _measured(backend: Backend, options: argparse.Namespace, part: str) -> dict[str, Any]:
    connections = Connections(backend.endpoints, CONNECTIONS, WEBSOCKET if part == IDLE_WEBSOCKET else GRPC)
    try:
        return await PARTS[part](CapacityHarness(backend, connections, options))
    finally:
        await connections.close()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.capacity", description=__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="all")
    parser.add_argument("--memory-mebibytes", type=int, default=2048, help="maximum memory of the engine (2048)")
    parser.add_argument(
        "--wave", type=int, default=500, metavar="TABLES", help="tables that are opened before their streams (500)"
    )
    parser.add_argument(
        "--max-tables", type=int, default=1_000_000, metavar="TABLES", help="maximum number of idle tables"
    )
    parser.add_argument(
        "--evicted", type=int, default=100_000, metavar="TABLES", help="number of evicted tables (100000)"
    )
    parser.add_argument("--idle-seconds", type=int, default=5, help="idle time before the eviction (5)")
    parser.add_argument(
        "--reloaded", type=int, default=2_000, metavar="TABLES", help="approximate number of reloads (2000)"
    )
    parser.add_argument("--limit-seconds", type=float, default=7_200, help="time-out of each part (7200)")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(2**31), help="fixes games and decisions")
    parser.add_argument("--results", default=f"results/{time.strftime('%Y%m%d-%H%M%S')}-capacity", metavar="FOLDER")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
