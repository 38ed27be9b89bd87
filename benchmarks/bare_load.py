"""The players of the bare servers: the same streams and messages as those of the engine."""

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
from benchmarks.websocket import open_websocket
from croupier_api.v1 import cards_pb2, engine_pb2
from croupier_client.sockets import GRPC
from croupier_loadtest.players.client import open_channel


@asynccontextmanager
async def bare_server(messages: Sequence[bytes], transport: str = GRPC) -> AsyncIterator[tuple[int, str]]:
    """Run the bare server with messages of an engine; yields its process id and its address."""
    with tempfile.NamedTemporaryFile("w") as file:
        file.write("\n".join(message.hex() for message in messages))
        file.flush()
        command = [sys.executable, "-m", "benchmarks.bare_server", file.name, transport]
        process: Any = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        try:
            yield process.pid, (await process.stdout.readline()).decode().strip()
        finally:
            process.terminate()
            await process.wait()


@asynccontextmanager
async def bare_load(server: tuple[int, str], level: Level, *, connections: int = 0) -> AsyncIterator[Load]:
    """Open tables of four streams, which share this many connections of gRPC; 0 for WebSocket."""
    pid, address = server
    load = Load({SERVER: pid}, level)
    async with bare_streams(address, level.tables * SEATS, connections) as streams:
        for place, stream in enumerate(streams):
            await stream.write(b"%d %d" % (id(load), place // SEATS))
            await stream.read()
            load.driving.append(_take_turns(stream, place % SEATS, load))
        yield load


@asynccontextmanager
async def bare_streams(address: str, number: int, connections: int) -> AsyncIterator[Sequence[Stream]]:
    """Open this many streams; see `bare_load`."""
    async with AsyncExitStack() as stack:
        if connections:
            channels = [await stack.enter_async_context(open_channel(address, None)) for _ in range(connections)]
            yield [channels[place % connections].stream_stream(METHOD)() for place in range(number)]
            return
        streams = [await open_websocket(address, "/") for _ in range(number)]
        for stream in streams:
            stack.callback(stream.cancel)
        yield streams


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
