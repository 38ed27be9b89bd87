"""The players of the bare server: the same streams and messages as those of the engine."""

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from typing import Any

from benchmarks.bare_server import METHOD
from benchmarks.clients import Stream
from benchmarks.loads import SEATS, Level, Load
from benchmarks.measurement import SERVER
from croupier_api.v1 import cards_pb2, engine_pb2
from loadtest.players.client import open_channel


@asynccontextmanager
async def bare_server(messages: Sequence[bytes]) -> AsyncIterator[tuple[int, str]]:
    """Run the bare server with messages of an engine; yields its process id and its address."""
    with tempfile.NamedTemporaryFile("w") as file:
        file.write("\n".join(message.hex() for message in messages))
        file.flush()
        command = [sys.executable, "-m", "benchmarks.bare_server", file.name]
        process: Any = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        try:
            yield process.pid, (await process.stdout.readline()).decode().strip()
        finally:
            process.terminate()
            await process.wait()


@asynccontextmanager
async def bare_load(server: tuple[int, str], level: Level, *, connections: int = 1) -> AsyncIterator[Load]:
    """Open tables of four streams, which share this many connections."""
    pid, address = server
    load = Load({SERVER: pid}, level)
    async with AsyncExitStack() as stack:
        channels = [await stack.enter_async_context(open_channel(address, None)) for _ in range(connections)]
        for table in range(level.tables):
            places = range(table * SEATS, (table + 1) * SEATS)
            streams: list[Stream] = [channels[place % connections].stream_stream(METHOD)() for place in places]
            for stream in streams:
                await stream.write(b"%d %d" % (id(load), table))
                await stream.read()
            load.driving += [_take_turns(stream, seat, load) for seat, stream in enumerate(streams)]
        yield load


async def _take_turns(stream: Stream, seat: int, load: Load) -> None:
    """Send a message in every fourth turn, and receive those of all turns."""
    action = engine_pb2.SubmitActionRequest(request_id="0-0")
    action.action.play.card = cards_pb2.CARD_FIVE_OF_DIAMONDS
    request = engine_pb2.PlayTableRequest(action=action).SerializeToString()
    for turn in count():
        acts, sent = turn % SEATS == seat, 0.0
        if acts:
            await load.think()
            sent = time.perf_counter()
            await stream.write(request)
        raw: Any = await stream.read()
        engine_pb2.PlayTableResponse.FromString(raw)
        if acts:
            load.count_move(sent)
