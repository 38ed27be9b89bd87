"""gRPC servers with health and reflection, a ready file, and an orderly end."""

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
from grpc_reflection.v1alpha import reflection, reflection_pb2

from croupier.runtime.identity.permissions import replace_private
from croupier.runtime.observation.logs import Logger
from croupier.runtime.server.interceptor import CallInterceptor
from croupier.runtime.server.program import SettingsError
from croupier.runtime.tls.tls import Tls

MAX_REQUEST_BYTES = 64 * 1024
MAX_METADATA_BYTES = 48 * 1024
"""More than the gateway accepts, with the headers that it adds; by default gRPC refuses more than 8 KiB."""
MAX_UNARY_CALLS = 5_000
"""The unary calls at a port at a time."""
READINESS_POLL_SECONDS = 5.0
CLOSE_SECONDS = 2.0
"""The part of the drain for closing resources, such as connections to a database."""
KEEPALIVE_MILLISECONDS = 30_000
LIVE = "live"
"""The service name of liveness probes, which do not depend on the database."""
MAX_HEALTH_REQUEST_BYTES = 1024
MAX_HEALTH_REQUESTS = 100
REFLECTION_V1 = "grpc.reflection.v1.ServerReflection"
"""Its messages are those of v1alpha, the only version of the library."""
AddServices = Callable[[grpc.aio.Server], None]


class Health(health.aio.HealthServicer):  # type: ignore[misc]  # The library has no types.
    """Reports readiness, and under the name LIVE that this process is alive, also while it drains."""

    async def Check(self, request: health_pb2.HealthCheckRequest, context: Any) -> health_pb2.HealthCheckResponse:  # noqa: N802
        if request.service == LIVE:
            return health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.SERVING)
        return await super().Check(request, context)


@dataclass(frozen=True, slots=True)
class Listener:
    """A running gRPC server, its real address and its health service.

    One that `outlasts_drain` is for health probes only.
    """

    server: grpc.aio.Server
    address: str
    health: Health
    service_names: tuple[str, ...]
    outlasts_drain: bool = False

    async def set_serving(self, serving: bool) -> None:
        """Report to health probes whether the services are ready."""
        status = health_pb2.HealthCheckResponse.SERVING if serving else health_pb2.HealthCheckResponse.NOT_SERVING
        for name in ("", *self.service_names):
            await self.health.set(name, status)


async def listen(
    address: str,
    service_names: Sequence[str],
    add_services: AddServices,
    interceptor: CallInterceptor,
    tls: Tls | None = None,
    max_streams: int = 0,
) -> Listener:
    """Start a gRPC server at host:port (port 0 chooses one); with TLS callers need a certificate too.

    It refuses calls beyond MAX_UNARY_CALLS and so many streams at a time before anything else is done for them.

    Raises SettingsError if the address cannot be listened on.
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
            # The streams of a phone that lost its network end.
            ("grpc.keepalive_time_ms", KEEPALIVE_MILLISECONDS),
            ("grpc.keepalive_timeout_ms", KEEPALIVE_MILLISECONDS),
            # Without this the library waits a minute for the answer, despite the line above.
            ("grpc.http2.ping_timeout_ms", KEEPALIVE_MILLISECONDS),
        ],
        maximum_concurrent_rpcs=MAX_UNARY_CALLS + max_streams,
    )
    add_services(server)
    servicer = Health()
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    _add_reflection([*service_names, health.SERVICE_NAME], server)
    return Listener(server, await _started(server, address, tls), servicer, tuple(service_names))


def _add_reflection(service_names: Sequence[str], server: grpc.aio.Server) -> None:
    """Let tools read the contract, by v1 and v1alpha. Only v1alpha is listed: the library cannot describe v1."""
    servicer = reflection.aio.ReflectionServicer([*service_names, reflection.SERVICE_NAME])
    handler = grpc.stream_stream_rpc_method_handler(
        servicer.ServerReflectionInfo,
        reflection_pb2.ServerReflectionRequest.FromString,
        reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    for name in (REFLECTION_V1, reflection.SERVICE_NAME):
        handlers = {"ServerReflectionInfo": handler}
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(name, handlers),))


@asynccontextmanager
async def health_listener(address: str) -> AsyncIterator[list[Listener]]:
    """Serve health only at host:port, without TLS, which kubelet does not support; yields no listener for "".

    It is not ready at first. Raises SettingsError if the address cannot be listened on.
    """
    if not address:
        yield []
        return
    server = grpc.aio.server(
        options=[("grpc.max_receive_message_length", MAX_HEALTH_REQUEST_BYTES), ("grpc.so_reuseport", 0)],
        maximum_concurrent_rpcs=MAX_HEALTH_REQUESTS,
    )
    servicer = Health()
    await servicer.set("", health_pb2.HealthCheckResponse.NOT_SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    listener = Listener(server, await _started(server, address, None), servicer, (), outlasts_drain=True)
    try:
        yield [listener]
    finally:
        await server.stop(None)


async def _started(server: grpc.aio.Server, address: str, tls: Tls | None) -> str:
    """Start a server and return its real address."""
    try:
        port = server.add_secure_port(address, tls.server_credentials()) if tls else server.add_insecure_port(address)
    except RuntimeError:
        port = 0
    # gRPC takes the port modulo 65536, so 99999 would become another.
    if port == 0 or not address.endswith((f":{port}", ":0")):
        # Otherwise its destructor would log an error after the end of the event loop.
        await server.stop(None)
        raise SettingsError(f"{address} cannot be listened on: is it in use, or not an address of this machine?")
    await server.start()
    return f"{address.rpartition(':')[0]}:{port}"


def write_ready_file(ready_file: Path | None, addresses: dict[str, str]) -> None:
    """Write the addresses of a service that is ready, as JSON; raises SettingsError if that fails."""
    if ready_file is None:
        return
    try:
        replace_private(ready_file, json.dumps(addresses))
    except OSError as fault:
        raise SettingsError(f"--ready-file {ready_file} cannot be written: {fault.strerror}") from None


async def wait_for_stop(stopped: asyncio.Event | None = None) -> None:
    """Wait for SIGINT or SIGTERM, or until the event is set."""
    stopped = stopped or asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stopped.set)
    await stopped.wait()


async def watch_readiness(listeners: Sequence[Listener], is_ready: Callable[[], Awaitable[bool]]) -> None:
    """Update the readiness again and again, until cancelled."""
    while True:
        await update_readiness(listeners, is_ready)
        await asyncio.sleep(READINESS_POLL_SECONDS)


async def update_readiness(listeners: Sequence[Listener], is_ready: Callable[[], Awaitable[bool]]) -> None:
    """Check the readiness once and report it to health probes."""
    ready = await is_ready()
    for listener in listeners:
        await listener.set_serving(ready)


def exit_after(seconds: float, logger: Logger) -> None:
    """Exit without cleaning up after this time, CLOSE_SECONDS at least.

    A connection that a hanging server does not close would keep the process for minutes. Nothing is lost: acknowledged
    actions are stored, and clients retry all others.
    """

    def exit_now() -> None:
        logger.warning("exited without cleaning up: the drain timed out")
        os._exit(1)

    asyncio.get_running_loop().call_later(max(seconds, CLOSE_SECONDS), exit_now)


async def drain(listeners: Sequence[Listener], grace_seconds: float) -> None:
    """Report that the services are not ready, refuse new calls, and let running ones end within the grace period."""
    for listener in listeners:
        await listener.health.enter_graceful_shutdown()
    await asyncio.gather(
        *(listener.server.stop(grace_seconds) for listener in listeners if not listener.outlasts_drain)
    )


def run(main: Coroutine[Any, Any, int]) -> int:
    """Run a program's main coroutine on uvloop where it exists."""
    try:
        from uvloop import new_event_loop
    except ImportError:
        return asyncio.run(main)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(main)
