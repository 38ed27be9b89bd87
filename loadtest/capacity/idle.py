"""Idle capacity: tables with seated players and open streams, wave after wave, until the engine's memory is full."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress

from croupier_client import CroupierError
from loadtest.backend import Backend, BackendMissing
from loadtest.capacity.crowd import LOBBY_FLAGS, Crowd, Guest, Opened, Say
from loadtest.capacity.memory import EngineMemory
from loadtest.capacity.options import CapacityOptions
from loadtest.report.capacity import IdleCapacity, Wave
from loadtest.swarm.client import Connections

SEATS = 4
STREAMS_AT_A_TIME = 64
FIRST_MESSAGE_SECONDS = 60.0
SETTLING_SECONDS = 1.0
MEBIBYTE = 2**20
FLAGS = {
    "engine": ("--most-open-tables=1000000", "--most-streams=4000000", "--idle-seconds=86400"),
    "lobby": LOBBY_FLAGS,
}


async def idle_capacity(
    options: CapacityOptions, backend: Backend, connections: Connections, failures: list[str], say: Say
) -> IdleCapacity:
    """Open tables and streams until the limit; raises BackendMissing, also if streams do not stay open."""
    memory, started = EngineMemory(backend), time.monotonic()
    crowd = Crowd(connections, SEATS, 0, options.seed, "idle")
    waves: list[Wave] = []
    async with Streams() as streams:
        while size := next_wave(options, waves, time.monotonic() - started):
            waves.append(await _wave(crowd, streams, memory, size))
            say(_line(waves, time.monotonic() - started))
        wanted = sum(wave.streams for wave in waves)
        await memory.until(lambda read: read.total("croupier_streams") == wanted, f"{wanted} open streams", 10)
    failures += crowd.failures
    return IdleCapacity(_limit(options), SEATS, tuple(waves), time.monotonic() - started, _is_full(options, waves))


def next_wave(options: CapacityOptions, waves: Sequence[Wave], seconds: float) -> int:
    """How many tables come next after so many seconds; 0 where memory is full, or time over, or there are enough."""
    if _is_full(options, waves) or seconds >= options.limit_seconds:
        return 0
    return min(options.wave, options.most_tables - sum(wave.tables for wave in waves))


def _is_full(options: CapacityOptions, waves: Sequence[Wave]) -> bool:
    return bool(waves) and waves[-1].with_streams_bytes >= _limit(options)


def _limit(options: CapacityOptions) -> int:
    return options.memory_mebibytes * MEBIBYTE


async def _wave(crowd: Crowd, streams: "Streams", memory: EngineMemory, tables: int) -> Wave:
    before = await memory.resident_bytes()
    opened = await crowd.open(tables)
    await asyncio.sleep(SETTLING_SECONDS)
    with_tables = await memory.resident_bytes()
    await streams.open(opened)
    await asyncio.sleep(SETTLING_SECONDS)
    return Wave(len(opened), len(opened) * SEATS, before, with_tables, await memory.resident_bytes())


def _line(waves: Sequence[Wave], seconds: float) -> str:
    tables, streams = sum(wave.tables for wave in waves), sum(wave.streams for wave in waves)
    used = waves[-1].with_streams_bytes / MEBIBYTE
    return f"{seconds:7.0f} s  {tables:>7,} tables  {streams:>8,} streams  the engine has {used:,.0f} MiB"


class Streams:
    """Open Play streams, which are read for as long as the body takes."""

    def __init__(self) -> None:
        self._reading: list[asyncio.Task[None]] = []
        self._places = asyncio.Semaphore(STREAMS_AT_A_TIME)

    async def __aenter__(self) -> "Streams":
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._reading:
            task.cancel()
        await asyncio.gather(*self._reading, return_exceptions=True)

    async def open(self, tables: Sequence[Opened]) -> None:
        """Open a stream for each who sits at these tables, and wait until each has shown the table."""
        await asyncio.gather(*(self._open(table.table_id, guest) for table in tables for guest in table.guests))

    async def _open(self, table_id: str, guest: Guest) -> None:
        async with self._places:
            shown = asyncio.Event()
            reading = asyncio.create_task(_read(table_id, guest, shown))
            self._reading.append(reading)
            with suppress(TimeoutError):
                async with asyncio.timeout(FIRST_MESSAGE_SECONDS):
                    await shown.wait()
            if reading.done() or not shown.is_set():
                raise BackendMissing(f"stream number {len(self._reading)} did not show its table: {_why(reading)}")


def _why(reading: asyncio.Task[None]) -> str:
    error = reading.exception() if reading.done() and not reading.cancelled() else None
    return str(error) if error else "it brought nothing"


async def _read(table_id: str, guest: Guest, shown: asyncio.Event) -> None:
    try:
        async for _ in await guest.follow_table(table_id):
            shown.set()
    except CroupierError:
        shown.set()
        raise
