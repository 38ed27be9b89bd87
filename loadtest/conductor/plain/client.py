"""The blocking client as greenlets use it: timed, counted, and over connections that all of a process share."""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from typing import TypeVar

import gevent
import grpc
from gevent.event import Event
from grpc.experimental.gevent import init_gevent

from croupier_api.v1 import engine_pb2, lobby_pb2
from croupier_client import BlockingClient, CroupierError, Endpoints, RetryPolicy, TimedOut, Tls
from croupier_client.callers import Call, Messages, R, Service
from croupier_client.endpoints import CALL_SECONDS, channel_target
from croupier_client.table import new_request_id
from loadtest.conductor.plain.greenlets import played
from loadtest.conductor.plain.table import CountedMessages, PlainGallery, PlainSeat, RecordedGallery, RecordedTable
from loadtest.measures import Measures
from loadtest.players.connections import CONNECTIONS_OF_A_SERVICE, OPTIONS, Channels
from loadtest.players.counting import counted_call, said
from loadtest.players.recorder import Recorder
from loadtest.players.world import Followed, PlayerClient, Seat
from loadtest.record import SeatRecord
from loadtest.watch.counted import rpc_key

T = TypeVar("T")
PATIENCE = RetryPolicy(total_seconds=60)
MOST_THREADS = 512


def prepare_grpc() -> None:
    """Let grpc wait in greenlets: once in a process, after Locust was imported and before any channel is made."""
    # Every unary call under way waits in a thread of this pool, whose usual size of 10 would let most wait in turn.
    gevent.get_hub().threadpool.maxsize = MOST_THREADS
    init_gevent()


class PlainConnections(Channels[grpc.Channel]):
    """The channels that the greenlets of this process share in turn."""

    def __init__(self, endpoints: Endpoints) -> None:
        super().__init__(endpoints, _channel, CONNECTIONS_OF_A_SERVICE)

    def close(self) -> None:
        """Close every channel."""
        for channel in self.channels:
            channel.close()


def _channel(address: str, tls: Tls | None) -> grpc.Channel:
    if tls is None:
        return grpc.insecure_channel(channel_target(address), options=OPTIONS)
    return grpc.secure_channel(channel_target(address), tls.credentials(), options=OPTIONS)


class CountedClient(BlockingClient):
    """A player's blocking client; every attempt at a call is timed, and every refusal and failure counted.

    Tables that are played at are timed as well, by game and kind of action.
    """

    def __init__(
        self, connections: PlainConnections, device_secret: str, name: str, measures: Measures, time_up: Event
    ) -> None:
        super().__init__(connections.endpoints, device_secret, name, policy=PATIENCE)
        self._channels_shared = connections.share()
        self.measures = measures
        self._time_up = time_up

    def quick_match_until_seated(
        self, *, game: str, seats: int, client_seed: bytes = b"", request_id: str = ""
    ) -> lobby_pb2.Table:
        """Be matched with others; gives the table, and takes the time until then."""
        started = time.perf_counter()
        table = super().quick_match_until_seated(game=game, seats=seats, client_seed=client_seed, request_id=request_id)
        self.measures.took("rpc QuickMatch", time.perf_counter() - started)
        return table

    def play(self, table_id: str) -> RecordedTable:
        """Play at a table: `with client.play(table_id) as table`."""
        player = self.player or self.sign_in()
        return self.recorded(table_id, SeatRecord(player.player_id))

    def recorded(self, table_id: str, record: SeatRecord) -> RecordedTable:
        """Play at a table, and keep everything in a record."""
        return RecordedTable(self, table_id, Recorder(record, self.measures), self._time_up.wait)

    def open(self, call: Call[R]) -> Messages[R]:  # type: ignore[override]  # What any BlockingCaller gives.
        """The answers of one stream, once; raises CroupierError."""
        resumed = isinstance(call.request, engine_pb2.WatchTableRequest) and call.request.HasField("after_sequence")
        return CountedMessages(super().open(call), self.measures, call.path, resumed=resumed)

    def send_bytes(self, path: str, body: bytes) -> CroupierError | None:
        """Call an rpc of the engine with these bytes; gives the refusal."""
        token = self._access_token()
        call: grpc.UnaryUnaryMultiCallable[bytes, bytes] = self._channel(Service.ENGINE).unary_unary(path)
        try:
            call(body, timeout=CALL_SECONDS, metadata=self._metadata(token))
        except grpc.RpcError as error:
            refusal = self.failure(error, token)
            self.measures.count(rpc_key(path, said(refusal)))
            return refusal
        self.measures.count(rpc_key(path, "OK"))
        return None

    def _channel(self, service: Service) -> grpc.Channel:
        return self._channels_shared[service]

    def _send(self, call: Call[R], access_token: str) -> R:
        with counted_call(self.measures, call.path):
            return super()._send(call, access_token)


class PlainClient(PlayerClient):
    """A player's client as behaviour wants it: what behaviour awaits holds up its greenlet, and nobody else."""

    def __init__(self, client: CountedClient, endpoints: Endpoints, matching_seconds: float, time_up: Event) -> None:
        super().__init__(endpoints, "", policy=PATIENCE)
        self._client = client
        self._matching_seconds = matching_seconds
        self._time_up = time_up

    @property
    def player(self) -> lobby_pb2.Player | None:
        """Who the client is; None before it has signed in."""
        return self._client.player

    async def sign_in(self) -> lobby_pb2.Player:
        """Sign in now."""
        return self._client.sign_in()

    async def invoke(self, call: Call[R]) -> R:
        """The answer to a unary call, tried as often as its kind allows; raises CroupierError."""
        return self._client.invoke(call)

    def follow(self, call: Call[R]) -> AsyncIterator[R]:
        """The answers of a stream, which is opened again if the connection is lost; raises CroupierError."""
        return _one_by_one(self._client.follow(call))

    async def open(self, call: Call[R]) -> AsyncGenerator[R, None]:
        """The answers of one stream, once; raises CroupierError."""
        return _one_by_one(self._client.open(call))

    async def open_play(
        self, table_id: str, requests: AsyncIterator[engine_pb2.PlayRequest]
    ) -> AsyncGenerator[engine_pb2.PlayResponse, None]:
        """The answers of one Play stream, once; raises CroupierError."""
        return _one_by_one(self._client.open_play(table_id, _stepped(requests)))

    def seat(self, table_id: str, record: SeatRecord) -> AbstractAsyncContextManager[Seat]:
        """The stream of a player at a table."""
        return PlainSeat(self._client.recorded(table_id, record), self)

    def gallery(self, table_id: str, record: SeatRecord) -> AbstractAsyncContextManager[Followed]:
        """The stream of a spectator."""
        return PlainGallery(RecordedGallery(self._client, table_id, Recorder(record, self._client.measures)))

    async def matched(self, *, game: str, seats: int, client_seed: bytes) -> lobby_pb2.Table:
        """Be matched with others; raises CroupierError, TimedOut if nobody else comes or time is up."""
        wish = partial(
            self._client.quick_match_until_seated,
            game=game,
            seats=seats,
            client_seed=client_seed,
            request_id=new_request_id(),
        )
        wishing = gevent.spawn(_tried, wish)
        try:
            gevent.wait([wishing, self._time_up], timeout=self._matching_seconds, count=1)
            if not wishing.ready():
                raise TimedOut(grpc.StatusCode.DEADLINE_EXCEEDED, "nobody else wished for this game")
            outcome: lobby_pb2.Table | CroupierError = wishing.get()
        finally:
            wishing.kill()
        if isinstance(outcome, CroupierError):
            raise outcome
        return outcome

    async def send_bytes(self, path: str, body: bytes) -> CroupierError | None:
        """Call an rpc of the engine with these bytes; gives the refusal."""
        return self._client.send_bytes(path, body)


def _tried(act: Callable[[], T]) -> T | CroupierError:
    """What came of it; what a greenlet raises would be printed, too."""
    try:
        return act()
    except CroupierError as error:
        return error


def _stepped(requests: AsyncIterator[T]) -> Iterator[T]:
    with suppress(StopAsyncIteration):
        while True:
            yield played(anext(requests))


async def _one_by_one(answers: Iterable[T]) -> AsyncGenerator[T, None]:
    for answer in answers:
        yield answer
