"""The port of a service for WebSockets, and its orderly end."""

import asyncio
import socket
from dataclasses import dataclass
from typing import Protocol

from croupier.runtime.server.addresses import host_and_port, listening_host, with_port
from croupier.runtime.server.program import SettingsError
from croupier.runtime.tls.tls import Tls

TLS_HANDSHAKE_SECONDS = 10.0
BACKLOG = 1024
"""All streams of an engine that was lost may come at once, each with a connection of its own."""


class WebSockets(Protocol):
    """The port to the connections."""

    def connect(self) -> asyncio.Protocol:
        """Return the protocol of a new connection."""

    async def drain(self, grace_seconds: float) -> None:
        """Let connections end within the grace period, and abort the others."""


@dataclass(frozen=True, slots=True)
class WebSocketListener:
    """An open port and its real address."""

    address: str
    _server: asyncio.Server
    _websockets: WebSockets

    async def drain(self, grace_seconds: float) -> None:
        """Refuse new connections, and let open ones end within the grace period."""
        self._server.close()
        await self._websockets.drain(grace_seconds)


async def listen_for_websockets(address: str, websockets: WebSockets, tls: Tls | None = None) -> WebSocketListener:
    """Listen at host:port (port 0 chooses one); with TLS callers need a certificate too.

    Raises SettingsError if the address cannot be listened on.
    """
    host, port = host_and_port(address)
    try:
        listening = _listening_socket(listening_host(host), port)
    except (OSError, OverflowError):
        raise SettingsError(
            f"{address} cannot be listened on: is it in use, or not an address of this machine?"
        ) from None
    server = await asyncio.get_running_loop().create_server(
        websockets.connect,
        sock=listening,
        backlog=BACKLOG,
        ssl=tls.server_context() if tls else None,
        ssl_handshake_timeout=TLS_HANDSHAKE_SECONDS if tls else None,
    )
    return WebSocketListener(with_port(host, listening.getsockname()[1]), server, websockets)


def _listening_socket(host: str, port: int) -> socket.socket:
    """Return a socket at a host; "::" has all addresses of IPv6 and IPv4."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, dualstack_ipv6=host == "::", backlog=BACKLOG)
