"""The reference client as load tests use it: timed, counted, and over connections that many players share."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from itertools import count
from typing import Any, TypeAlias

import grpc

from croupier_api.v1 import engine_pb2, lobby_pb2
from croupier_client import Client, CroupierError, Endpoints, RetryPolicy, TimedOut, Tls
from croupier_client.callers import Call, R, Service
from croupier_client.endpoints import CALL_SECONDS, CHANNEL_OPTIONS, channel_target
from croupier_client.table import new_request_id
from loadtest.measures import Measures
from loadtest.players.counting import counted_call, said
from loadtest.players.recorder import Recorder
from loadtest.players.table import Seat, Sleep, WatchedTable, counted
from loadtest.record import SeatRecord
from loadtest.watch.counted import rpc_key

PATIENCE = RetryPolicy(total_seconds=60)
MATCHING_SECONDS = 30.0
"""How long somebody waits for others who wish for the same game."""
OPTIONS = (*CHANNEL_OPTIONS, ("grpc.use_local_subchannel_pool", 1))
"""gRPC shares one connection between channels with equal options; this option turns that off."""


class Connections:
    """The channels to each service that the players of a process share in turn."""

    def __init__(self, endpoints: Endpoints, per_service: int) -> None:
        self.endpoints = endpoints
        self._shares: list[Mapping[Service, grpc.aio.Channel]] = [
            {service: _channel(address, endpoints.tls) for service, address in endpoints.by_service().items()}
            for _ in range(per_service)
        ]
        self._numbers = count()

    def share(self) -> Mapping[Service, grpc.aio.Channel]:
        """A channel to each service for one more player."""
        return self._shares[next(self._numbers) % len(self._shares)]

    async def close(self) -> None:
        """Close every channel."""
        await asyncio.gather(*(channel.close() for share in self._shares for channel in share.values()))


def _channel(address: str, tls: Tls | None) -> grpc.aio.Channel:
    if tls is None:
        return grpc.aio.insecure_channel(channel_target(address), options=OPTIONS)
    return grpc.aio.secure_channel(channel_target(address), tls.credentials(), options=OPTIONS)


class PlayerClient(Client):
    """A player's client; every attempt at a call is timed, and every refusal and failure counted."""

    def __init__(
        self, connections: Connections, device_secret: str, name: str, measures: Measures, sleep: Sleep
    ) -> None:
        super().__init__(connections.endpoints, device_secret, name, policy=PATIENCE)
        self._channels_shared = connections.share()
        self._measures = measures
        self._sleep = sleep

    def _channel(self, service: Service) -> grpc.aio.Channel:
        return self._channels_shared[service]

    async def _send(self, call: Call[R], access_token: str) -> R:
        with counted_call(self._measures, call.path):
            return await super()._send(call, access_token)

    async def open(self, call: Call[R]) -> AsyncGenerator[R, None]:
        """The answers of one stream, once; raises CroupierError."""
        resumed = isinstance(call.request, engine_pb2.WatchTableRequest) and call.request.HasField("after_sequence")
        return counted(await super().open(call), self._measures, call.path, resumed=resumed)

    def seat(self, table_id: str, record: SeatRecord) -> Seat:
        """The stream of a player at a table; the record says how the player behaves."""
        return Seat(self, table_id, Recorder(record, self._measures), self._sleep)

    def gallery(self, table_id: str, record: SeatRecord) -> WatchedTable:
        """The stream of a spectator."""
        return WatchedTable(self, table_id, Recorder(record, self._measures))

    async def matched(self, *, game: str, seats: int, client_seed: bytes) -> lobby_pb2.Table:
        """Be matched with others; raises CroupierError, TimedOut if nobody else comes or time is up."""
        started = time.perf_counter()
        wishing = asyncio.ensure_future(
            self.quick_match_until_seated(game=game, seats=seats, client_seed=client_seed, request_id=new_request_id())
        )
        waiting = asyncio.ensure_future(self._sleep(MATCHING_SECONDS))
        try:
            await asyncio.wait({wishing, waiting}, return_when=asyncio.FIRST_COMPLETED)
            if not wishing.done():
                raise TimedOut(grpc.StatusCode.DEADLINE_EXCEEDED, "nobody else wished for this game")
            table = wishing.result()
        finally:
            await _given_up(wishing, waiting)
        self._measures.took("rpc QuickMatch", time.perf_counter() - started)
        return table

    async def send_bytes(self, path: str, body: bytes) -> CroupierError | None:
        """Call an rpc of the engine with these bytes; returns the refusal."""
        token = await self._access_token()
        call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = self._channel(Service.ENGINE).unary_unary(path)
        try:
            await call(body, timeout=CALL_SECONDS, metadata=self._metadata(token))
        except grpc.RpcError as error:
            refusal = self.failure(error, token)
            self._measures.count(rpc_key(path, said(refusal)))
            return refusal
        self._measures.count(rpc_key(path, "OK"))
        return None


NewClient: TypeAlias = Callable[[str, Measures, Sleep], PlayerClient]
"""Makes the client of the player with this name, which counts there and waits no longer than `sleep` lets it."""


def new_clients(connections: Connections, seed: int) -> NewClient:
    """Clients over shared connections; the same seed and name are the same player again."""

    def new_client(name: str, measures: Measures, sleep: Sleep) -> PlayerClient:
        return PlayerClient(connections, f"load test {seed} {name}", name, measures, sleep)

    return new_client


async def _given_up(*tasks: asyncio.Future[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
