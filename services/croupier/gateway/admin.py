"""A client for Envoy's administration."""

import asyncio
import http.client
import json
import socket
from pathlib import Path
from typing import Any

from croupier.runtime.server.addresses import with_port

TIMEOUT_SECONDS = 5.0
POLL_SECONDS = 0.05
STREAM_POLL_SECONDS = 0.2


class Admin:
    """The administration of one Envoy, at a Unix socket; every failure raises OSError."""

    def __init__(self, path: Path) -> None:
        self.path = path

    async def is_ready(self) -> bool:
        """Return whether Envoy serves."""
        try:
            return (await self._send("GET", "/ready"))[0] == http.HTTPStatus.OK
        except OSError:
            return False

    async def listeners(self) -> dict[str, str]:
        """Return Envoy's real addresses, host:port by the listener's name."""
        _, text = await self._send("GET", "/listeners?format=json")
        return {each["name"]: _format_address(each["local_address"]) for each in json.loads(text)["listener_statuses"]}

    async def drain(self, seconds: float) -> None:
        """Ask clients to reconnect elsewhere, and wait until no call is running, for this time at most."""
        await self._post("/healthcheck/fail")
        await self._post("/drain_listeners?graceful&skip_exit")
        try:
            async with asyncio.timeout(seconds):
                while await self._running_calls():  # noqa: ASYNC110 - another process has no event
                    await asyncio.sleep(STREAM_POLL_SECONDS)
        except TimeoutError:
            return

    async def _post(self, path: str) -> None:
        status, text = await self._send("POST", path)
        if status != http.HTTPStatus.OK:
            raise OSError(f"{path} failed with {status}: {' '.join(text.split())}")

    async def _running_calls(self) -> int:
        _, text = await self._send("GET", r"/stats?filter=^http\.gateway\.downstream_rq_active$")
        return int(text.rpartition(":")[2] or 0)

    async def _send(self, method: str, path: str) -> tuple[int, str]:
        return await asyncio.to_thread(self._request, method, path)

    def _request(self, method: str, path: str) -> tuple[int, str]:
        connection = _SocketConnection(self.path)
        try:
            connection.request(method, path)
            response = connection.getresponse()
            return response.status, response.read().decode()
        except http.client.HTTPException as fault:
            raise OSError(str(fault)) from None
        finally:
            connection.close()


class _SocketConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=TIMEOUT_SECONDS)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def _format_address(address: dict[str, Any]) -> str:
    socket_address = address["socket_address"]
    return with_port(socket_address["address"], socket_address["port_value"])
