"""The open WebSockets of an engine."""

import asyncio
from collections.abc import Mapping
from typing import cast

from croupier.engine.api.servicer import EngineServicer
from croupier.engine.api.websocket.connection import WebSocketConnection
from croupier.engine.api.websocket.session import WebSocketSession
from croupier.runtime.server.calls import Calls
from croupier.runtime.server.grpc_server import MAX_UNARY_CALLS


class _RefusedConnection(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        cast("asyncio.Transport", transport).abort()


class WebSocketServer:
    """Makes the connections of a port, and ends those that are open when it drains."""

    def __init__(self, servicer: EngineServicer, calls: Calls) -> None:
        self._servicer = servicer
        self._calls = calls
        self._connections: set[WebSocketConnection] = set()
        self._none_open = asyncio.Event()
        self._none_open.set()

    def connect(self) -> asyncio.Protocol:
        """Return the protocol of a new connection; beyond a maximum of open ones it is aborted."""
        limits = self._calls.limits
        if limits is not None and len(self._connections) >= limits.streams.capacity.total + MAX_UNARY_CALLS:
            return _RefusedConnection()
        return WebSocketConnection(self._new_session, self._began, self._ended)

    def __len__(self) -> int:
        return len(self._connections)

    async def drain(self, grace_seconds: float) -> None:
        """Let connections end within the grace period, as their streams do, and abort the others."""
        try:
            async with asyncio.timeout(grace_seconds):
                await self._none_open.wait()
        except TimeoutError:
            for connection in tuple(self._connections):
                connection.abort()

    def _new_session(
        self, connection: WebSocketConnection, table_id: str, headers: Mapping[str, str]
    ) -> WebSocketSession:
        return WebSocketSession(connection, self._servicer, self._calls, table_id, headers)

    def _began(self, connection: WebSocketConnection) -> None:
        # Not before: the event loop forgets a connection whose TLS handshake fails, without a word to its protocol.
        self._connections.add(connection)
        self._none_open.clear()

    def _ended(self, connection: WebSocketConnection) -> None:
        self._connections.discard(connection)
        if not self._connections:
            self._none_open.set()
