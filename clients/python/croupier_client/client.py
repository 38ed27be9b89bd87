"""The common part of the asyncio and the blocking client: methods, session and settings."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random, SystemRandom
from typing import Any

from google.protobuf.message import Message

from croupier_api.v1 import lobby_pb2
from croupier_client.endpoints import Endpoints
from croupier_client.errors import CroupierError, Unauthenticated, Unavailable
from croupier_client.methods import ServiceMethods
from croupier_client.proxy import proxy_of
from croupier_client.retry import Attempts, Clock, Retries, RetryPolicy, monotonic_clock
from croupier_client.rpc import Rpc
from croupier_client.session import Session
from croupier_client.sockets import GRPC, WEBSOCKET, SocketSettings, check_transport
from croupier_client.table import new_request_id

_SEAT_CHANGES = (lobby_pb2.JoinTableRequest, lobby_pb2.SetReadyRequest, lobby_pb2.LeaveTableRequest)


class SeatChanges:
    """The newest change of the player's seat at each forming table: the retry of one must not undo a later one."""

    def __init__(self) -> None:
        self._newest: dict[str, Rpc[Any]] = {}

    @contextmanager
    def making(self, rpc: Rpc[Any]) -> Iterator[None]:
        """Make a call; if it changes the seat, older calls that do are retried no more."""
        if isinstance(rpc.request, _SEAT_CHANGES):
            self._newest[rpc.table_id] = rpc
        try:
            yield
        finally:
            if self._newest.get(rpc.table_id) is rpc:
                del self._newest[rpc.table_id]

    def is_overtaken(self, rpc: Rpc[Any]) -> bool:
        """Return whether the player has changed their seat at the table since this call."""
        return isinstance(rpc.request, _SEAT_CHANGES) and self._newest.get(rpc.table_id) is not rpc


class ClientCore(ServiceMethods):
    """A player's client without a channel.

    `device_secret` (16 to 256 characters) is the player: the same secret is the same player again. `name` is shown to
    others; the first sign-in sets it, empty keeps it as it was. `clock` measures durations. `keepalive_seconds` is the
    time between pings while calls are open, and that for their answers; by default 4 seconds, which suits mobile
    networks. `transport` is that of tables' streams, "grpc" or "websocket"; all else is the same by both. Raises
    ValueError for another transport, and for endpoints without an address for it.
    """

    def __init__(
        self,
        endpoints: Endpoints,
        device_secret: str,
        name: str = "",
        *,
        policy: RetryPolicy | None = None,
        clock: Clock = monotonic_clock,
        random: Random | None = None,
        keepalive_seconds: float | None = None,
        transport: str = GRPC,
    ) -> None:
        check_transport(transport)
        self._addresses = endpoints.by_service()
        self._credentials = endpoints.tls.credentials() if endpoints.tls else None
        self._keepalive_seconds = keepalive_seconds
        proxies = (proxy_of(address, os.environ) for address in (*self._addresses.values(), endpoints.websocket))
        self._proxy = next(filter(None, proxies), None)
        self._policy = policy or RetryPolicy()
        self._clock = clock
        self._random = random or SystemRandom()
        self._socket_settings = None
        if transport == WEBSOCKET:
            self._socket_settings = SocketSettings(endpoints, os.environ, keepalive_seconds, self._random)
        self._session = Session(device_secret, name)
        self._seat_changes = SeatChanges()
        self._set_up()

    def _set_up(self) -> None:
        """Initialize the channel without opening a connection."""

    @property
    def player(self) -> lobby_pb2.Player | None:
        """Return the signed-in player; None before the sign-in."""
        return self._session.player

    @property
    def session(self) -> Session:
        """Return the current player and tokens."""
        return self._session

    def retries(self, attempts: Attempts) -> Retries:
        return Retries(self._policy, attempts, self._clock, self._random)

    def _metadata(self, access_token: str, table_id: str = "") -> tuple[tuple[str, str], ...]:
        """Return the metadata of a call: token, table id (for routing), and a request id for the logs."""
        pairs = (
            ("authorization", f"Bearer {access_token}" if access_token else ""),
            ("x-table-id", table_id),
            ("x-request-id", new_request_id()),
        )
        return tuple((key, value) for key, value in pairs if value)

    def failure(self, failure: CroupierError, access_token: str) -> CroupierError:
        """Return the error of a failed call, with the proxy if that may be at fault, and drop a token refused by it."""
        if isinstance(failure, Unauthenticated):
            self._reject(access_token)
        if isinstance(failure, Unavailable) and self._proxy and not failure.reason_name:
            return type(failure)(failure.code, f"{failure.message}; the environment names the proxy {self._proxy}")
        return failure

    def _answered(self, answer: Message) -> None:
        self._session = self._session.answered(answer)

    def _reject(self, access_token: str) -> None:
        self._session = self._session.rejected(access_token)
