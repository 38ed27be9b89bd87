"""Running a service: gRPC servers with health and reflection, a ready file, and an orderly end."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from croupier.runtime.interceptor import CallInterceptor
from croupier.runtime.logs import Logger
from croupier.runtime.program import SettingsError
from croupier.runtime.reflection import add_reflection
from croupier.runtime.tls import Tls

MAX_REQUEST_BYTES = 64 * 1024
MAX_METADATA_BYTES = 48 * 1024
"""More than the gateway lets through, with what it adds: by itself gRPC refuses some calls of more than 8 KiB."""
READINESS_SECONDS = 5.0
LAST_SECONDS = 2.0
"""The part of the time to stop that is for closing what is held, such as connections to a database."""
KEEPALIVE_MILLISECONDS = 30_000
LIVE = "live"
"""The name under which health probes ask whether the process is alive, which depends on nothing else."""
MAX_PROBE_BYTES = 1024
MAX_PROBES = 100
AddServices = Callable[[grpc.aio.Server], None]


class Health(health.aio.HealthServicer):  # type: ignore[misc]  # The library has no types.
    """Tells probes whether calls are welcome, and by LIVE that this process is alive, also while it drains."""

    async def Check(self, request: health_pb2.HealthCheckRequest, context: Any) -> health_pb2.HealthCheckResponse:  # noqa: N802
        if request.service == LIVE:
            return health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.SERVING)
        return await super().Check(request, context)


@dataclass(frozen=True, slots=True)
class Listener:
    """A gRPC server that runs, its real address, and what it says of its health.

    One that `stays` is for probes alone, which hear from it until the end.
    """

    server: grpc.aio.Server
    address: str
    health: Health
    service_names: tuple[str, ...]
    stays: bool = False

    async def set_serving(self, serving: bool) -> None:
        """Tell health probes whether calls are welcome."""
        status = health_pb2.HealthCheckResponse.SERVING if serving else health_pb2.HealthCheckResponse.NOT_SERVING
        for name in ("", *self.service_names):
            await self.health.set(name, status)


async def listen(
    address: str,
    service_names: Sequence[str],
    add_services: AddServices,
    interceptor: CallInterceptor,
    tls: Tls | None = None,
) -> Listener:
    """Start a gRPC server at host:port (port 0 chooses one); with TLS only for those who have a certificate too.

    Raises SettingsError if the address cannot be had.
    """
    server = grpc.aio.server(
        interceptors=[interceptor],
        options=[
            ("grpc.max_receive_message_length", MAX_REQUEST_BYTES),
            ("grpc.max_metadata_size", MAX_METADATA_BYTES),
            ("grpc.absolute_max_metadata_size", MAX_METADATA_BYTES),
            ("grpc.so_reuseport", 0),
            ("grpc.http2.max_ping_strikes", 0),
            ("grpc.keepalive_permit_without_calls", 1),
            # A phone that is gone without a word is noticed, and its streams end.
            ("grpc.keepalive_time_ms", KEEPALIVE_MILLISECONDS),
            ("grpc.keepalive_timeout_ms", KEEPALIVE_MILLISECONDS),
            # Without this the library waits a minute for the answer, whatever the line above says.
            ("grpc.http2.ping_timeout_ms", KEEPALIVE_MILLISECONDS),
        ],
    )
    add_services(server)
    servicer = Health()
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    add_reflection([*service_names, health.SERVICE_NAME], server)
    return Listener(server, await _started(server, address, tls), servicer, tuple(service_names))


@asynccontextmanager
async def probe_port(address: str) -> AsyncIterator[list[Listener]]:
    """A port at host:port that tells health and nothing else, without TLS, which kubelet does not speak; none for "".

    Probes hear at first that calls are not welcome. Raises SettingsError if the address cannot be had.
    """
    if not address:
        yield []
        return
    server = grpc.aio.server(
        options=[("grpc.max_receive_message_length", MAX_PROBE_BYTES), ("grpc.so_reuseport", 0)],
        maximum_concurrent_rpcs=MAX_PROBES,
    )
    servicer = Health()
    await servicer.set("", health_pb2.HealthCheckResponse.NOT_SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    listener = Listener(server, await _started(server, address, None), servicer, (), stays=True)
    try:
        yield [listener]
    finally:
        await server.stop(None)


async def _started(server: grpc.aio.Server, address: str, tls: Tls | None) -> str:
    """Start a server; gives its real address."""
    try:
        port = server.add_secure_port(address, tls.server_credentials()) if tls else server.add_insecure_port(address)
    except RuntimeError:
        port = 0
    # gRPC takes the port modulo 65536, so that 99999 would silently become another.
    if port == 0 or not address.endswith((f":{port}", ":0")):
        # One that is left to the garbage collector speaks up when its event loop has gone.
        await server.stop(None)
        raise SettingsError(f"{address} cannot be listened on: is it in use, or not an address of this machine?")
    await server.start()
    return f"{address.rpartition(':')[0]}:{port}"


def announce(ready_file: Path | None, addresses: dict[str, str]) -> None:
    """Write where the service listens, as JSON, once it is ready; raises SettingsError if that cannot be."""
    if ready_file is None:
        return
    partial = ready_file.with_suffix(".partial")
    try:
        partial.write_text(json.dumps(addresses))
        partial.replace(ready_file)
    except OSError as fault:
        raise SettingsError(f"--ready-file {ready_file} cannot be written: {fault.strerror}") from None


async def until_stopped(stopped: asyncio.Event | None = None) -> None:
    """Wait for SIGINT or SIGTERM, or until the event is set."""
    stopped = stopped or asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stopped.set)
    await stopped.wait()


async def watch_readiness(listeners: Sequence[Listener], is_ready: Callable[[], Awaitable[bool]]) -> None:
    """Keep what health probes hear true to what the service depends on; runs until cancelled."""
    while True:
        await show_readiness(listeners, is_ready)
        await asyncio.sleep(READINESS_SECONDS)


async def show_readiness(listeners: Sequence[Listener], is_ready: Callable[[], Awaitable[bool]]) -> None:
    """Look once, and tell health probes; to be done before anybody is told that the service is ready."""
    ready = await is_ready()
    for listener in listeners:
        await listener.set_serving(ready)


def end_within(seconds: float, logger: Logger) -> None:
    """End the process at once when this time, LAST_SECONDS at least, is over.

    A connection that its server neither serves nor closes would keep it for minutes. Nothing is lost by it: what was
    acknowledged is stored, and whatever was not is sent again.
    """

    def give_up() -> None:
        logger.warning("ended without waiting any longer")
        os._exit(1)

    asyncio.get_running_loop().call_later(max(seconds, LAST_SECONDS), give_up)


async def drain(listeners: Sequence[Listener], grace_seconds: float) -> None:
    """Say that no more calls are welcome, take no more, and give those under way their time."""
    for listener in listeners:
        await listener.health.enter_graceful_shutdown()
    await asyncio.gather(*(listener.server.stop(grace_seconds) for listener in listeners if not listener.stays))


def run(main: Coroutine[Any, Any, int]) -> int:
    """Run a program's main coroutine on uvloop where it exists."""
    try:
        from uvloop import new_event_loop
    except ImportError:
        return asyncio.run(main)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(main)
