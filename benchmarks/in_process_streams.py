"""Streams of an engine whose players are in its process: their transports cost almost nothing."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from websockets.client import ClientProtocol
from websockets.uri import parse_uri

from benchmarks.websocket import masked_frame
from croupier.engine.api.servicer import EngineServicer
from croupier.engine.api.websocket.server import WebSocketServer
from croupier.runtime.admission.admission import Admission
from croupier.runtime.admission.limits import Limits
from croupier.runtime.admission.network import ADDRESS_HEADER
from croupier.runtime.identity.tokens import PLAYER_AUDIENCE, Caller, TokenIssuer, TokenVerifier
from croupier.runtime.observation.logs import Logger
from croupier.runtime.server.call import Call
from croupier.runtime.server.calls import Calls
from croupier.runtime.server.service import now_milliseconds
from croupier_api.v1 import engine_pb2 as pb
from croupier_client.sockets import GRPC, WEBSOCKET

TOKEN_SECONDS = 3600
ADDRESS, NETWORK = "192.0.2.1", "192.0.2.0/24"


def _nothing() -> None:
    """Do nothing."""


class Serving:
    """The requests that the servicer has not finished."""

    def __init__(self) -> None:
        self.unfinished = 0
        self.then: Callable[[], None] = _nothing
        """Called in the next step of the event loop after the last of them was finished."""
        self._loop = asyncio.get_running_loop()

    def begin(self) -> None:
        """Count a request."""
        self.unfinished += 1

    def finish(self) -> None:
        """Count the end of a request."""
        self.unfinished -= 1
        if not self.unfinished:
            self._loop.call_soon(self.then)


class Player:
    """A player of a stream, who sends a request after the answer to the one before it."""

    def __init__(self, serving: Serving) -> None:
        self.awaited: bytes | None = None
        """The end of the message that finishes the request."""
        self._serving = serving

    def send(self, wired: bytes, awaited: bytes) -> None:
        """Send a request as it is on the wire, which is finished by a message that ends with the awaited bytes."""
        self._serving.begin()
        self.awaited = awaited
        self.deliver(wired)

    def wired(self, request: bytes) -> bytes:
        """Return a request as it is on the wire."""
        return request

    def deliver(self, wired: bytes) -> None:
        """Give a request to the engine."""
        raise NotImplementedError

    def receive(self, message: bytes) -> None:
        """Look for the awaited bytes in a message of the engine."""
        if message.endswith(self.awaited or b""):
            self.awaited = None
            self._serving.finish()


class GrpcPlayer(Player):
    """The context of a call of gRPC."""

    def __init__(self, serving: Serving) -> None:
        super().__init__(serving)
        self._requests = asyncio.Queue[bytes]()

    def deliver(self, wired: bytes) -> None:
        self._requests.put_nowait(wired)

    async def read(self) -> bytes:
        """Return the next request."""
        return await self._requests.get()

    async def send_initial_metadata(self, _metadata: object) -> None:
        """Do nothing: there are no headers."""

    async def write(self, message: bytes) -> None:
        """Give a message to the player."""
        if self.awaited is not None:
            self.receive(message)


class WebSocketPlayer(Player, asyncio.Transport):
    """The transport of a WebSocket."""

    def __init__(self, serving: Serving, connection: asyncio.Protocol, path: str) -> None:
        """Connect, and shake hands."""
        super().__init__(serving)
        self._connection = connection
        connection.connection_made(self)
        client = ClientProtocol(parse_uri(f"ws://engine{path}"))
        handshake = client.connect()
        handshake.headers[ADDRESS_HEADER] = ADDRESS
        client.send_request(handshake)
        connection.data_received(b"".join(client.data_to_send()))

    def wired(self, request: bytes) -> bytes:
        return masked_frame(request)

    def deliver(self, wired: bytes) -> None:
        self._connection.data_received(wired)

    def write(self, data: Any) -> None:
        """Give a frame to the player; there is no reader who is slow."""
        if self.awaited is not None:
            self.receive(data)

    def is_closing(self) -> bool:
        return False

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Do nothing: there is no buffer."""

    def pause_reading(self) -> None:
        """Do nothing: a player awaits answers."""

    def resume_reading(self) -> None:
        """Do nothing, as above."""


class Streams(Protocol):
    """Opens the streams of players."""

    @property
    def playing(self) -> Sequence[asyncio.Task[None]]:
        """The tasks of open streams."""

    def open(self, serving: Serving, name: str, table_id: str) -> Player:
        """Open the stream of a player, by their id, at a table; it is open when it has had a message."""


class GrpcStreams:
    """Opens streams of gRPC."""

    def __init__(self, servicer: EngineServicer, limits: Limits, _logger: Logger) -> None:
        self._servicer = servicer
        self._limits = limits
        self.playing: list[asyncio.Task[None]] = []

    def open(self, serving: Serving, name: str, table_id: str) -> Player:
        player, caller = GrpcPlayer(serving), Caller(name, name, NETWORK)
        watch = pb.PlayTableRequest(watch=pb.WatchTableRequest(table_id=table_id))
        player.send(watch.SerializeToString(), awaited=b"")
        call = Call(caller, Admission(caller, self._limits), player)
        self.playing.append(asyncio.create_task(self._servicer.PlayTable(None, call)))
        return player


class WebSocketStreams:
    """Opens streams of WebSocket, which have no tasks."""

    playing: Sequence[asyncio.Task[None]] = ()

    def __init__(self, servicer: EngineServicer, limits: Limits, logger: Logger) -> None:
        key = Ed25519PrivateKey.generate()
        self._issuer = TokenIssuer(key, PLAYER_AUDIENCE, TOKEN_SECONDS, now_milliseconds)
        verifier = TokenVerifier(key.public_key(), PLAYER_AUDIENCE, now_milliseconds)
        self._server = WebSocketServer(servicer, Calls(verifier, servicer.metrics.rpc, logger, limits))

    def open(self, serving: Serving, name: str, table_id: str) -> Player:
        player = WebSocketPlayer(serving, self._server.connect(), f"/v1/tables/{table_id}/play")
        first = pb.PlayTableRequest(watch=pb.WatchTableRequest(), access_token=self._issuer.issue(name)[0])
        player.send(player.wired(first.SerializeToString()), awaited=b"")
        return player


STREAMS: Mapping[str, Callable[[EngineServicer, Limits, Logger], Streams]] = {
    GRPC: GrpcStreams,
    WEBSOCKET: WebSocketStreams,
}
