"""Envoy's own administration, as far as the gateway needs it."""

import asyncio
import http.client
import json
from typing import Any

from croupier.runtime.addresses import host_and_port

ANSWER_SECONDS = 5.0
POLL_SECONDS = 0.05
STREAM_POLL_SECONDS = 0.2


class Admin:
    """Speaks with the administration of one Envoy; whatever fails raises OSError."""

    def __init__(self, address: str) -> None:
        self.address = address

    async def is_ready(self) -> bool:
        """Whether Envoy serves."""
        try:
            return (await self._ask("GET", "/ready"))[0] == http.HTTPStatus.OK
        except OSError:
            return False

    async def listeners(self) -> dict[str, str]:
        """Where Envoy really listens, host:port by the listener's name."""
        _, text = await self._ask("GET", "/listeners?format=json")
        return {one["name"]: _host_and_port(one["local_address"]) for one in json.loads(text)["listener_statuses"]}

    async def drain(self, seconds: float) -> None:
        """Ask clients to go elsewhere, and wait until no call of theirs is under way, at most for so long."""
        await self._tell("/healthcheck/fail")
        await self._tell("/drain_listeners?graceful&skip_exit")
        try:
            async with asyncio.timeout(seconds):
                while await self._calls_under_way():  # noqa: ASYNC110 - another process has no event
                    await asyncio.sleep(STREAM_POLL_SECONDS)
        except TimeoutError:
            return

    async def _tell(self, path: str) -> None:
        status, text = await self._ask("POST", path)
        if status != http.HTTPStatus.OK:
            raise OSError(f"it answered {path} with {status}: {' '.join(text.split())}")

    async def _calls_under_way(self) -> int:
        _, text = await self._ask("GET", r"/stats?filter=^http\.gateway\.downstream_rq_active$")
        return int(text.rpartition(":")[2] or 0)

    async def _ask(self, method: str, path: str) -> tuple[int, str]:
        return await asyncio.to_thread(self._ask_now, method, path)

    def _ask_now(self, method: str, path: str) -> tuple[int, str]:
        connection = http.client.HTTPConnection(*host_and_port(self.address), timeout=ANSWER_SECONDS)
        try:
            connection.request(method, path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except http.client.HTTPException as fault:
            raise OSError(str(fault)) from None
        finally:
            connection.close()


def _host_and_port(address: dict[str, Any]) -> str:
    socket_address = address["socket_address"]
    host = socket_address["address"]
    return f"[{host}]:{socket_address['port_value']}" if ":" in host else f"{host}:{socket_address['port_value']}"
