"""A lobby with a fake servicer on a real gRPC server, and a channel to it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, NamedTuple

import grpc
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.protobuf.message import Message
from prometheus_client import CollectorRegistry
from structlog.testing import CapturingLogger

from croupier.runtime.admission.limits import Limits
from croupier.runtime.identity.tokens import PLAYER_AUDIENCE, TokenIssuer, TokenVerifier
from croupier.runtime.observation.metrics import RpcMetrics
from croupier.runtime.server.call import Call
from croupier.runtime.server.calls import Calls
from croupier.runtime.server.grpc_server import Listener, listen
from croupier.runtime.server.interceptor import REQUEST_SECONDS, CallInterceptor
from croupier.runtime.tls.tls import Tls
from croupier_api.v1 import lobby_pb2 as pb
from croupier_api.v1 import lobby_pb2_grpc
from croupier_api.v1.tables_pb2 import Table

NOW = 1_700_000_000_000
KEY = Ed25519PrivateKey.generate()
VERIFIER = TokenVerifier(KEY.public_key(), PLAYER_AUDIENCE, lambda: NOW)
LOBBY = "/croupier_api.v1.LobbyService"
REQUESTS: dict[str, Message] = {
    "GetTable": pb.GetTableRequest(table_id="t"),
    "SignIn": pb.SignInRequest(device_secret="0123456789abcdef"),
    "WatchTables": pb.WatchTablesRequest(),
}
Metadata = tuple[tuple[str, str], ...]


class Servicer(lobby_pb2_grpc.LobbyServiceServicer):
    """A fake servicer, whose methods call the function `act` of a test."""

    def __init__(self) -> None:
        self.act: Callable[[], None] = lambda: None
        self.closed = asyncio.Event()
        self.streams: list[Any] = []

    async def GetTable(self, request: pb.GetTableRequest, context: Any) -> pb.GetTableResponse:
        self.act()
        return pb.GetTableResponse(table=Table(table_id=request.table_id, game=context.caller.id))

    async def SignIn(self, request: pb.SignInRequest, context: Any) -> pb.SignInResponse:
        self.act()
        return pb.SignInResponse()

    def WatchTables(self, request: pb.WatchTablesRequest, context: Any) -> AsyncIterator[pb.WatchTablesResponse]:
        # Kept, so that the garbage collector does not close it.
        self.streams.append(self._watch(request, context))
        stream: AsyncIterator[pb.WatchTablesResponse] = self.streams[-1]
        return stream

    async def _watch(self, request: pb.WatchTablesRequest, call: Call) -> AsyncIterator[pb.WatchTablesResponse]:
        try:
            yield pb.WatchTablesResponse(table=Table(table_id=request.table_id, game=call.caller.id))
            self.act()
            while request.table_id == "endless":
                yield pb.WatchTablesResponse(table=Table(game="x" * 1000))
        finally:
            self.closed.set()


class LobbyServer(NamedTuple):
    """A running server with its channel, metrics and log."""

    servicer: Servicer
    listener: Listener
    channel: grpc.aio.Channel
    stub: Any
    registry: CollectorRegistry
    logger: CapturingLogger

    def metric(self, name: str, method: str, **labels: str) -> float | None:
        return self.registry.get_sample_value(f"croupier_rpc_{name}", {"method": f"{LOBBY}/{method}", **labels})

    def call(self, method: str, metadata: Metadata) -> Awaitable[Any]:
        """Return the first message of a call: the answer, or the first of a stream."""
        call = getattr(self.stub, method)(REQUESTS[method], metadata=metadata)
        answer: Awaitable[Any] = call.read() if method == "WatchTables" else call
        return answer


def interceptor(
    registry: CollectorRegistry,
    logger: CapturingLogger,
    limits: Limits | None = None,
    request_seconds: float = REQUEST_SECONDS,
) -> CallInterceptor:
    sign_in = frozenset({f"{LOBBY}/SignIn"})
    return CallInterceptor(Calls(VERIFIER, RpcMetrics(registry), logger, limits), sign_in, request_seconds)


@asynccontextmanager
async def running_lobby(
    servicer: Servicer | None = None,
    tls: Tls | None = None,
    limits: Limits | None = None,
    request_seconds: float = REQUEST_SECONDS,
) -> AsyncIterator[LobbyServer]:
    served, registry, logger = servicer or Servicer(), CollectorRegistry(), CapturingLogger()  # type: ignore[abstract]
    add = partial(lobby_pb2_grpc.add_LobbyServiceServicer_to_server, served)
    calls = interceptor(registry, logger, limits, request_seconds)
    listener = await listen("127.0.0.1:0", [LOBBY[1:]], add, calls, tls)
    async with grpc.aio.insecure_channel(listener.address) as channel:
        yield LobbyServer(served, listener, channel, lobby_pb2_grpc.LobbyServiceStub(channel), registry, logger)
    await listener.server.stop(None)


def bearer(player_id: str = "ada", key: Ed25519PrivateKey = KEY) -> Metadata:
    token, _ = TokenIssuer(key, PLAYER_AUDIENCE, 60, lambda: NOW).issue(player_id, "Ada")
    return (("authorization", f"Bearer {token}"),)
