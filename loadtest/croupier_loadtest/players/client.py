"""The reference client as load tests use it: timed, counted, and over connections that many players share."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from itertools import count
from typing import TypeAlias
from zlib import crc32

import grpc

from croupier_api.v1 import engine_pb2, tables_pb2
from croupier_client import Client, CroupierError, Endpoints, RetryPolicy, TimedOut, Tls, new_request_id
from croupier_client.endpoints import CALL_SECONDS, channel_options, channel_target
from croupier_client.errors import from_rpc_error
from croupier_client.rpc import R, Rpc, Service, StreamMessage
from croupier_client.sockets import GRPC
from croupier_loadtest.measures import Measures
from croupier_loadtest.monitor.counters import rpc_key
from croupier_loadtest.players.counting import broken_on_purpose, count_limit, counted_call, service_code
from croupier_loadtest.players.recorder import Recorder
from croupier_loadtest.players.table import PLAY_TABLE, RecordedTable, Sleep, WatchedTable, counted
from croupier_loadtest.record import SeatRecord

FORWARDED_FOR = "x-forwarded-for"
"""The header by which a gateway that trusts its proxy learns the address of a client."""
RETRY_POLICY = RetryPolicy(total_seconds=60, stream_seconds=60)
WATCH_TABLE = "/croupier_api.v1.EngineService/WatchTable"
MATCHING_SECONDS = 30.0
"""The time for which a player waits to be matched."""


class Connections:
    """The channels to each service, which the players of a process share in turn; each WebSocket has its own."""

    def __init__(self, endpoints: Endpoints, per_service: int, transport: str = GRPC) -> None:
        self.endpoints = endpoints
        self.transport = transport
        self._channel_sets: list[Mapping[Service, grpc.aio.Channel]] = [
            {service: open_channel(address, endpoints.tls) for service, address in endpoints.by_service().items()}
            for _ in range(per_service)
        ]
        self._numbers = count()

    def share(self) -> Mapping[Service, grpc.aio.Channel]:
        """Return the channels of one more player, by service."""
        return self._channel_sets[next(self._numbers) % len(self._channel_sets)]

    async def close(self) -> None:
        """Close every channel."""
        await asyncio.gather(*(channel.close() for channels in self._channel_sets for channel in channels.values()))


def open_channel(address: str, tls: Tls | None, more: tuple[tuple[str, int], ...] = ()) -> grpc.aio.Channel:
    """Open a channel with a connection of its own: by default gRPC shares one between channels with equal options."""
    options = (*channel_options(address), ("grpc.use_local_subchannel_pool", 1), *more)
    if tls is None:
        return grpc.aio.insecure_channel(channel_target(address), options=options)
    return grpc.aio.secure_channel(channel_target(address), tls.credentials(), options=options)


class PlayerClient(Client):
    """A player's client, which times every attempt at a call and counts every refusal and failure."""

    def __init__(
        self,
        connections: Connections,
        device_secret: str,
        name: str,
        measures: Measures,
        sleep: Sleep,
        address: str = "127.0.0.1",
    ) -> None:
        super().__init__(
            connections.endpoints, device_secret, name, policy=RETRY_POLICY, transport=connections.transport
        )
        self._channels_shared = connections.share()
        self._measures = measures
        self._sleep = sleep
        self._forwarded_for = ((FORWARDED_FOR, address),)

    def _metadata(self, access_token: str, table_id: str = "") -> tuple[tuple[str, str], ...]:
        return super()._metadata(access_token, table_id) + self._forwarded_for

    def _channel(self, service: Service) -> grpc.aio.Channel:
        return self._channels_shared[service]

    async def _send(self, rpc: Rpc[R], access_token: str) -> R:
        with counted_call(self._measures, rpc.path):
            return await super()._send(rpc, access_token)

    async def open(self, rpc: Rpc[R]) -> AsyncGenerator[R, None]:
        """Open a stream once, without retries; raises CroupierError."""
        return counted(await super().open(rpc), self._measures, rpc.path)

    async def open_table(
        self, watch: engine_pb2.WatchTableRequest, actions: AsyncIterator[engine_pb2.SubmitActionRequest] | None = None
    ) -> AsyncGenerator[StreamMessage, None]:
        """Open a table's stream once, without retries; raises CroupierError."""
        # A WebSocket always carries the latter.
        path = WATCH_TABLE if actions is None and self._sockets is None else PLAY_TABLE
        messages = await super().open_table(watch, actions)
        return counted(messages, self._measures, path, resumed=watch.HasField("after_sequence"))

    def recorded_table(self, table_id: str, record: SeatRecord) -> RecordedTable:
        """Return a player's stream at a table; the record names the player's behaviour."""
        return RecordedTable(self, table_id, Recorder(record, self._measures), self._sleep)

    def watched_table(self, table_id: str, record: SeatRecord) -> WatchedTable:
        """Return a spectator's stream at a table."""
        return WatchedTable(self, table_id, Recorder(record, self._measures))

    async def be_matched(
        self, *, game: str, seat_count: int, client_seed: bytes, preset: str, bots_after_seconds: int | None
    ) -> tables_pb2.Table:
        """Wait for quick match; raises CroupierError, TimedOut without other players or when the run drains."""
        started = time.perf_counter()
        matching = asyncio.ensure_future(
            self.wait_for_match(
                game=game,
                seat_count=seat_count,
                client_seed=client_seed,
                request_id=new_request_id(),
                preset=preset,
                bots_after_seconds=bots_after_seconds,
            )
        )
        waiting = asyncio.ensure_future(self._sleep(MATCHING_SECONDS))
        try:
            await asyncio.wait({matching, waiting}, return_when=asyncio.FIRST_COMPLETED)
            if not matching.done():
                raise TimedOut(grpc.StatusCode.DEADLINE_EXCEEDED, "no other player searched for this game")
            table = matching.result()
        finally:
            for task in (matching, waiting):
                task.cancel()
            await asyncio.wait({matching, waiting})
        self._measures.record_time("rpc FindMatch", time.perf_counter() - started)
        return table

    async def send_bytes(self, path: str, body: bytes) -> CroupierError | None:
        """Send raw bytes to an RPC of the engine; returns the refusal."""
        token = await self._access_token()
        call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = self._channel(Service.ENGINE).unary_unary(path)
        began = time.perf_counter()
        code = None
        try:
            await call(body, timeout=CALL_SECONDS, metadata=self._metadata(token))
            code = "OK"
        except grpc.RpcError as error:
            refusal = self.failure(from_rpc_error(error), token)
            code = service_code(refusal)
            count_limit(self._measures, refusal)
            return broken_on_purpose(self._measures, path, refusal, began, time.perf_counter()) or refusal
        finally:
            # Also of a player who is stopped meanwhile.
            self._measures.count(rpc_key(path, code))
        return None


NewClient: TypeAlias = Callable[[str, Measures, Sleep], PlayerClient]
"""Makes a client by the player's name, the measures that it counts in, and the function by which it sleeps."""


def new_clients(connections: Connections, seed: int, *, has_one_network: bool = False) -> NewClient:
    """Return a factory of clients over shared connections; the same seed and name are the same player again.

    A gateway that trusts the addresses of clients sees each player in a /24 of their own, or all of them in one.
    """

    def new_client(name: str, measures: Measures, sleep: Sleep) -> PlayerClient:
        number = crc32(name.encode())
        network = (0, 0) if has_one_network else (number % 251, number // 251 % 251)
        address = f"10.{network[0]}.{network[1]}.{number % 250 + 1}"
        return PlayerClient(connections, f"load test {seed} {name}", name, measures, sleep, address)

    return new_client
