"""Players of benchmarks: they sit down through the lobby, and read streams as bytes, since others are measured."""

import asyncio
from collections.abc import Sequence
from typing import Any, TypeAlias

import grpc

from croupier_api.v1 import engine_pb2, lobby_pb2
from croupier_client import Client
from croupier_client.callers import Service
from loadtest.players.client import Connections

PLAY = "/croupier_api.v1.EngineService/Play"
PATIENCE_SECONDS = 60.0
POLL_SECONDS = 0.2

Stream: TypeAlias = grpc.aio.StreamStreamCall[Any, Any]


class Guest(Client):
    """A player's client, over connections that many share."""

    def __init__(self, connections: Connections, name: str) -> None:
        super().__init__(connections.endpoints, f"load test {name}", name)
        self._shared = connections.share()

    def _channel(self, service: Service) -> grpc.aio.Channel:
        return self._shared[service]

    async def stream(self, table_id: str) -> Stream:
        """A Play stream of encoded messages that begins with what the player sees of a table."""
        metadata = self._metadata(await self._access_token(), table_id)
        stream: Stream = self._channel(Service.ENGINE).stream_stream(PLAY)(metadata=metadata)
        watch = engine_pb2.PlayRequest(watch=engine_pb2.WatchTableRequest(table_id=table_id))
        await stream.write(watch.SerializeToString())
        return stream


async def open_table(guests: Sequence[Guest], bots: int = 0, **wishes: Any) -> str:
    """Open a table, where the first guest is the host; gives its id, raises CroupierError, TimeoutError."""
    host = guests[0]
    table_id = (await host.create_table(seats=len(guests) + bots, **wishes)).table.table_id
    for guest in guests[1:]:
        await guest.join_table(table_id=table_id)
        await guest.set_ready(table_id=table_id)
    for _ in range(bots):
        await host.add_bot(table_id=table_id, bot="random")
    table = (await host.set_ready(table_id=table_id)).table
    async with asyncio.timeout(PATIENCE_SECONDS):
        while table.state != lobby_pb2.TABLE_STATE_PLAYING:
            await asyncio.sleep(POLL_SECONDS)
            table = (await host.get_table(table_id=table_id)).table
    return table_id
