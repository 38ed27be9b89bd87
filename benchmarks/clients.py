"""Clients of benchmarks: they are seated through the lobby, and read streams as bytes, to need little CPU."""

import asyncio
from collections.abc import Sequence
from typing import Any, TypeAlias

import grpc

from benchmarks.websocket import WebSocketStream, open_websocket
from croupier_api.v1 import engine_pb2, tables_pb2
from croupier_client import Client
from croupier_client.rpc import Service
from croupier_client.sockets import WEBSOCKET
from croupier_loadtest.players.client import Connections
from croupier_loadtest.players.table import PLAY_TABLE

TIMEOUT_SECONDS = 60.0
POLL_SECONDS = 0.2

Stream: TypeAlias = grpc.aio.StreamStreamCall[Any, Any] | WebSocketStream


class BenchmarkClient(Client):
    """A player's client on shared connections; over WebSocket each of its streams has a connection of its own."""

    def __init__(self, connections: Connections, name: str) -> None:
        super().__init__(connections.endpoints, f"load test {name}", name)
        self._shared = connections.share()
        self._websocket = connections.endpoints.websocket if connections.transport == WEBSOCKET else ""

    def _channel(self, service: Service) -> grpc.aio.Channel:
        return self._shared[service]

    async def stream(self, table_id: str) -> Stream:
        """Open a PlayTable stream of encoded messages that begins with a snapshot of a table."""
        token = await self._access_token()
        first = engine_pb2.PlayTableRequest(watch=engine_pb2.WatchTableRequest(table_id=table_id))
        stream: Stream
        if self._websocket:
            stream, first.access_token = await open_websocket(self._websocket, f"/v1/tables/{table_id}/play"), token
        else:
            play: grpc.aio.StreamStreamMultiCallable[Any, Any] = self._channel(Service.ENGINE).stream_stream(PLAY_TABLE)
            stream = play(metadata=self._metadata(token, table_id))
        await stream.write(first.SerializeToString())
        return stream


async def open_table(clients: Sequence[BenchmarkClient], bots: Sequence[str] = (), **settings: Any) -> str:
    """Open a table with the first client as host, and return its id; raises CroupierError, TimeoutError."""
    host = clients[0]
    table_id = (await host.create_table(seat_count=len(clients) + len(bots), **settings)).table.table_id
    for client in clients[1:]:
        await client.join_table(table_id=table_id)
    for bot in bots:
        await host.add_bot(table_id=table_id, bot=bot)
    for client in clients:
        table = (await client.set_ready(table_id=table_id)).table
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while table.state != tables_pb2.TABLE_STATE_PLAYING:
            await asyncio.sleep(POLL_SECONDS)
            table = (await host.get_table(table_id=table_id)).table
    return table_id
