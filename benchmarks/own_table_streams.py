"""Very many streams of tables in a process of their own, which notes when changes arrive."""

import asyncio
import re
import time
from collections.abc import Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, Self

import grpc

from croupier_api.v1 import lobby_pb2

STREAMS_OF_A_CONNECTION = 500
OPENING_AT_ONCE = 25
METHOD = "/croupier_api.v1.LobbyService/WatchTables"
CHANGE = re.compile(rb"change (\d{8})")
"""The number of the transaction of a change, as the name of a player."""
Arrival = tuple[int, int]
"""The number of the transaction of a change, and when its message came, in nanoseconds of the monotonic clock."""
Call = tuple[str, str]
"""The access token of a player, and the table that they follow, empty for their own ones."""


class StreamProcess:
    """A process with streams, as a context manager."""

    def __init__(self, address: str, calls: Sequence[Call]) -> None:
        context = get_context("spawn")
        self._pipe, own = context.Pipe()
        self._process = context.Process(target=_run, args=(address, calls, own))

    def __enter__(self) -> Self:
        self._process.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._process.kill()
        self._process.join()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid or 0

    async def opened(self) -> None:
        """Wait until all streams have had the tables with which they begin; raises EOFError if one failed."""
        await asyncio.to_thread(self._pipe.recv)

    async def arrivals(self) -> Sequence[Arrival]:
        """Return the messages of changes so far."""
        self._pipe.send("report")
        found: Sequence[Arrival] = await asyncio.to_thread(self._pipe.recv)
        return found


def _run(address: str, calls: Sequence[Call], pipe: Connection) -> None:
    asyncio.run(_follow(address, calls, pipe))


async def _follow(address: str, calls: Sequence[Call], pipe: Connection) -> None:
    arrivals: list[Arrival] = []
    limit = asyncio.Semaphore(OPENING_AT_ONCE)
    options = [("grpc.use_local_subchannel_pool", 1)]
    channels = [
        grpc.aio.insecure_channel(address, options=options) for _ in range(-(-len(calls) // STREAMS_OF_A_CONNECTION))
    ]
    methods: list[Any] = [channel.unary_stream(METHOD) for channel in channels]
    async with asyncio.TaskGroup() as tasks:
        began = [
            tasks.create_task(_begin(methods[number % len(methods)], call, limit, arrivals, tasks))
            for number, call in enumerate(calls)
        ]
        await asyncio.gather(*began)
        pipe.send("opened")
        while True:
            await asyncio.to_thread(pipe.recv)
            pipe.send(arrivals)


async def _begin(
    method: Any, call: Call, limit: asyncio.Semaphore, arrivals: list[Arrival], tasks: asyncio.TaskGroup
) -> None:
    token, table_id = call
    request = lobby_pb2.WatchTablesRequest(table_id=table_id, mine=not table_id)
    stream = None
    async with limit:
        while stream is None:
            stream = await _opened(method(request.SerializeToString(), metadata=[("authorization", f"Bearer {token}")]))
    tasks.create_task(_note(stream, arrivals))


async def _opened(stream: Any) -> Any:
    """Return a stream after its first tables; None if it has to be opened again, as clients do under load."""
    try:
        while not lobby_pb2.WatchTablesResponse.FromString(await stream.read()).is_list_complete:
            pass
    except grpc.aio.AioRpcError as error:
        if error.code() is not grpc.StatusCode.DEADLINE_EXCEEDED:
            raise
        return None
    return stream


async def _note(stream: Any, arrivals: list[Arrival]) -> None:
    while (message := await stream.read()) is not grpc.aio.EOF:
        if found := CHANGE.search(message):
            arrivals.append((int(found[1]), time.monotonic_ns()))
    raise EOFError("a stream has ended")
