"""How the kubelet asks containers how they are."""

import asyncio
import http
import subprocess
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from rehearsal.plan import Probe


async def answers(probe: Probe, address: str, command: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether a probe of a container at an address says that all is well, within its time."""
    try:
        async with asyncio.timeout(probe.timeout_seconds):
            return await _answers(probe, address, command, environment)
    except (TimeoutError, OSError, grpc.RpcError):
        return False


async def _answers(probe: Probe, address: str, command: Sequence[str], environment: Mapping[str, str]) -> bool:
    match probe.kind:
        case "grpc":
            return await _serves(f"{address}:{probe.port}", probe.what[0])
        case "httpGet":
            url = f"http://{address}:{probe.port}{probe.what[0]}"
            return await asyncio.to_thread(_is_ok, url, probe.timeout_seconds)
        case "tcpSocket":
            _, writer = await asyncio.open_connection(address, probe.port)
            writer.close()
            return True
        case _:
            process = await asyncio.create_subprocess_exec(*command, env=environment, stdout=subprocess.DEVNULL)
            return await process.wait() == 0


async def _serves(address: str, service: str) -> bool:
    async with grpc.aio.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
        answer = await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(service=service))
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)


def _is_ok(url: str, seconds: float) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=seconds) as answer:  # noqa: S310 - an address of our own
            return bool(http.HTTPStatus.OK <= answer.status < http.HTTPStatus.BAD_REQUEST)
    except urllib.error.HTTPError:
        return False
