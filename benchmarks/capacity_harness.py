"""Opens tables at the measured services, and reads the metrics of the engine."""

import argparse
import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from random import Random
from typing import TypeAlias

import psutil
from google.protobuf.duration_pb2 import Duration

from benchmarks.clients import BenchmarkClient, open_table
from croupier_api.v1 import tables_pb2
from croupier_client.sockets import WEBSOCKET
from croupier_loadtest.backend import Backend, BackendUnavailable
from croupier_loadtest.installed import installed_mix
from croupier_loadtest.monitor.monitor import Scrape, scrape
from croupier_loadtest.players.client import Connections

TABLES_PER_HOST = 100
"""The number of tables of the same players."""
MAX_CONCURRENT_OPENINGS = 32
DAY = tables_pb2.TimeControl(action_time=Duration(seconds=86_400), reserve_time=Duration())
SETTLING_SECONDS = 1.0
CHILD = "croupier.cli.launcher.child"
"""The program of a service that was started with others."""


OpenTable: TypeAlias = tuple[str, Sequence[BenchmarkClient]]
"""The id of a table in play, and its players."""


def memory_of_services() -> dict[str, dict[str, int]]:
    """Return the RSS and PSS in bytes of each service that this process has started, after a pause."""
    time.sleep(SETTLING_SECONDS)
    memory = {}
    for process in psutil.Process().children(recursive=True):
        if CHILD in (command := process.cmdline()):
            measured = process.memory_full_info()
            memory[command[command.index(CHILD) + 1]] = {"rss_bytes": measured.rss, "pss_bytes": measured.pss}
    return memory


class CapacityHarness:
    """Opens tables at the measured services, and reads the engine's metrics."""

    def __init__(self, backend: Backend, connections: Connections, options: argparse.Namespace) -> None:
        self.backend = backend
        self.is_websocket = connections.transport == WEBSOCKET
        self.options = options
        self.max_bytes = 0
        self.opened = 0
        self._connections = connections
        self._random = Random(options.seed)

    async def open(
        self, tables: int, people: int, bots: int, then: Callable[[OpenTable], Awaitable[None]] | None = None
    ) -> list[OpenTable]:
        """Open tables with a day for each action; raises CroupierError, TimeoutError."""
        opened: list[OpenTable] = []
        games = [entry for entry in installed_mix().values() if people + bots in entry.seats]

        async def open_some(number: int) -> None:
            for at in range(number, tables, MAX_CONCURRENT_OPENINGS):
                if not (at // MAX_CONCURRENT_OPENINGS) % TABLES_PER_HOST:
                    names = [f"{self.options.seed} {self.opened} {number} {seat}" for seat in range(people)]
                    clients = [BenchmarkClient(self._connections, name) for name in names]
                entry = self._random.choice(games)
                table_id = await open_table(clients, [entry.bot] * bots, game=entry.game, time_control=DAY)
                opened.append((table_id, clients))
                self.opened += 1
                if then is not None:
                    await then(opened[-1])

        await asyncio.gather(*(open_some(number) for number in range(min(MAX_CONCURRENT_OPENINGS, tables))))
        return opened

    async def read(self) -> Scrape:
        """Return the engine's metrics; raises BackendUnavailable."""
        read = await asyncio.to_thread(scrape, self.backend.metrics["engine"], time.monotonic())
        if not isinstance(read, Scrape):
            raise BackendUnavailable(f"the engine has ended: {read.reason}")
        self.max_bytes = max(self.max_bytes, int(read.total("process_resident_memory_bytes")))
        return read

    async def memory(self) -> int:
        """Return and print the memory of the engine's process in bytes after a pause."""
        await asyncio.sleep(SETTLING_SECONDS)
        size = int((await self.read()).total("process_resident_memory_bytes"))
        print(f"{self.opened:>9,} tables  {size >> 20:,} MiB", flush=True)
        return size
