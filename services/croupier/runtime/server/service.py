"""The lifecycle of every service: it is opened, supervised while it runs, drained, and closed."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias, TypeVar

import grpc
from prometheus_client import CollectorRegistry

from croupier.runtime.admission.limits import Limits
from croupier.runtime.database.database import Database, check_permissions, open_database, sole_use
from croupier.runtime.database.schema_versions import check_durability, check_schema
from croupier.runtime.errors import Unavailable
from croupier.runtime.identity.tokens import TokenVerifier
from croupier.runtime.observation.logs import Logger, configure_logs
from croupier.runtime.observation.loop_monitor import LoopMonitor
from croupier.runtime.observation.metrics import RpcMetrics, export_expiry, serve_metrics
from croupier.runtime.observation.outage_log import OutageLog
from croupier.runtime.observation.traced_calls import tracing_interceptors
from croupier.runtime.observation.tracing import exported_spans
from croupier.runtime.server import grpc_server
from croupier.runtime.server.addresses import is_loopback
from croupier.runtime.server.calls import Calls
from croupier.runtime.server.channels import open_channel
from croupier.runtime.server.interceptor import CallInterceptor
from croupier.runtime.server.program import FAILED, DatabaseUnreachable, SettingsError, run_program
from croupier.runtime.server.tasks import SupervisedTasks, TaskFactory, end_tasks, supervised_tasks
from croupier.runtime.server.tuning import tune_process
from croupier.runtime.server.websocket_listener import WebSocketListener, WebSockets, listen_for_websockets
from croupier.runtime.settings import ServiceSettings, read_settings
from croupier.runtime.tls.tls import Tls

ACCESS_CHECK_SECONDS = 1.0
"""How long a start waits for the access check, which then continues while the service runs."""

AnySettings = TypeVar("AnySettings", bound=ServiceSettings)


@dataclass(frozen=True, slots=True)
class Port:
    """A port with its address, its service, the verifier of its tokens, and the limits of players.

    The ready file has the address under `name`. `open_methods` need no token.
    """

    name: str
    address: str
    service_name: str
    add: grpc_server.AddServices
    verifier: TokenVerifier
    open_methods: frozenset[str] = frozenset()
    limits: Limits | None = None


@dataclass(frozen=True, slots=True)
class WebSocketPort:
    """A port for WebSockets, with the verifier of their tokens and the limits of players.

    `serve` returns what serves its calls. The ready file has the address under "websocket".
    """

    address: str
    serve: Callable[[Calls], WebSockets]
    verifier: TokenVerifier
    limits: Limits | None = None


async def _no_op(_grace_seconds: float = 0.0) -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """The ports, background tasks and lifecycle hooks of one service; nothing runs yet.

    `start` is called before the ports open, and `join` once they are open. When the service stops, `leave` ends the
    streams while running calls go on, and then `tasks` are cancelled; `finish` flushes, and then `drain_tasks` are
    cancelled. Both hooks get their part of the drain in seconds.
    """

    ports: Sequence[Port]
    registry: CollectorRegistry
    rpc_metrics: RpcMetrics
    websocket: WebSocketPort | None = None
    tasks: Mapping[str, TaskFactory] = field(default_factory=dict)
    drain_tasks: Mapping[str, TaskFactory] = field(default_factory=dict)
    check_access: TaskFactory | None = None
    """Checks that called services accept this service's key; raises SettingsError if one does not."""
    start: Callable[[], Awaitable[None]] = _no_op
    join: Callable[[], Awaitable[None]] = _no_op
    leave: Callable[[float], Awaitable[None]] = _no_op
    finish: Callable[[float], Awaitable[None]] | None = None


@dataclass(frozen=True, slots=True)
class Resources:
    """Resources that are open until the end of a service."""

    logger: Logger
    tls: Tls | None
    traces_endpoint: str
    database: Database
    _stack: AsyncExitStack

    def outages_of(self, program: str) -> OutageLog:
        """Return the log of the outages of another service, by its name in sentences."""
        return OutageLog(program, self.logger, time.monotonic_ns)

    def channel(self, addresses: str, service: str) -> grpc.aio.Channel:
        """Open a channel to all replicas of another service."""
        channel = open_channel(addresses, self.tls, service, tracing_interceptors(self.traces_endpoint))
        self._stack.push_async_exit(channel)
        return channel

    def use_database_alone(self) -> None:
        """Keep other processes that call this from a database of SQLite; raises SettingsError if one has it."""
        self._stack.enter_context(sole_use(self.database))


Build: TypeAlias = Callable[[AnySettings, Resources], Service]
"""Builds a service; raises SettingsError for unusable settings."""


def now_milliseconds() -> int:
    """Return milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000


def run_service(name: str, kind: type[AnySettings], build: Build[AnySettings], arguments: Sequence[str] | None) -> int:
    """Run `croupier serve NAME` until it is stopped and return its exit code."""
    program = f"croupier serve {name}"

    def start() -> int:
        settings = read_settings(kind, program, sys.argv[1:] if arguments is None else arguments)
        # Processes that the service starts have no use for its secrets.
        os.environ.pop("CROUPIER_DATABASE", None)
        tune_process(settings.gc_thresholds, settings.scheduling)
        return grpc_server.run(serve(name, settings, build))

    return run_program(program, start)


async def serve(name: str, settings: AnySettings, build: Build[AnySettings]) -> int:
    """Run a service until SIGINT or SIGTERM, or until a background task fails or ends; returns its exit code.

    Raises SettingsError and DatabaseUnreachable; logs anything else.
    """
    logger = configure_logs(name, settings.log_level)
    try:
        async with AsyncExitStack() as stack:
            resources, service = await _open(name, settings, build, stack, logger)
            check_permissions(resources.database)
            await check_schema(resources.database, f"croupier.{name}")
            await check_durability(resources.database, logger)
            fault = await _run(settings, service, resources)
    except (SettingsError, DatabaseUnreachable):
        raise
    except Unavailable as outage:
        raise DatabaseUnreachable(outage.message) from None
    except Exception as error:
        logger.error("the service failed", exc_info=error)
        return FAILED
    if isinstance(fault, SettingsError):
        raise fault
    return FAILED if fault else 0


async def _open(
    name: str, settings: AnySettings, build: Build[AnySettings], stack: AsyncExitStack, logger: Logger
) -> tuple[Resources, Service]:
    """Return resources, which are open until the stack ends, and a service that uses them; nothing is connected yet."""
    tls = Tls(files, now_milliseconds, logger) if (files := settings.tls) else None
    stack.enter_context(exported_spans(settings.traces_endpoint, settings.traces_ratio, name))
    database = open_database(settings.database, outages=OutageLog("the database", logger, time.monotonic_ns))
    stack.push_async_callback(database.close)
    resources = Resources(logger, tls, settings.traces_endpoint, database, stack)
    service = build(settings, resources)
    listens = [port.address for port in (*service.ports, service.websocket) if port]
    if tls is None and (open_to_all := [address for address in listens if not is_loopback(address)]):
        logger.warning("other machines can connect without TLS: see --tls-certificate", at=open_to_all)
    export_expiry(service.registry, tls)
    return resources, service


async def _run(settings: ServiceSettings, service: Service, resources: Resources) -> BaseException | None:
    """Start a service, serve, and drain it; returns the exception of a background task if one failed."""
    async with supervised_tasks(resources.logger) as tasks:
        await service.start()
        access_check = await _check_access(service, tasks)
        drain_tasks = tasks.start(service.drain_tasks)
        async with _listening(settings, service, resources) as (listeners, websockets, addresses):
            await service.join()
            is_ready = resources.database.is_reachable
            await grpc_server.update_readiness(listeners, is_ready)
            watchers: dict[str, TaskFactory] = {
                "readiness": partial(grpc_server.watch_readiness, listeners, is_ready),
                "loop monitor": LoopMonitor(service.registry, time.monotonic, time.thread_time).run,
            }
            if resources.tls:
                watchers["certificates"] = resources.tls.watch
            running = tasks.start({**service.tasks, **watchers})
            grpc_server.write_ready_file(settings.ready_file, addresses)
            resources.logger.info("ready", **addresses)
            await grpc_server.wait_for_stop(tasks.stopping)
            resources.logger.info("stopping")
            grpc_server.exit_after(settings.drain_seconds, resources.logger)
            await _drain(settings, service, listeners, websockets, [*access_check, *running])
            await end_tasks(drain_tasks)
    return tasks.fault


async def _check_access(service: Service, tasks: SupervisedTasks) -> list[asyncio.Task[None]]:
    """Start the access check; raises its error if it fails at once."""
    if service.check_access is None:
        return []
    access_check = tasks.start({"access check": service.check_access}, may_end=True)
    await asyncio.wait(access_check, timeout=ACCESS_CHECK_SECONDS)
    if tasks.fault:
        raise tasks.fault
    return access_check


@asynccontextmanager
async def _listening(
    settings: ServiceSettings, service: Service, resources: Resources
) -> AsyncIterator[tuple[Sequence[grpc_server.Listener], WebSocketListener | None, dict[str, str]]]:
    """Open all ports; yields their listeners and their addresses by name."""
    addresses: dict[str, str] = {}
    async with AsyncExitStack() as stack:
        listeners = []
        for port in service.ports:
            calls = Calls(port.verifier, service.rpc_metrics, resources.logger, port.limits)
            listener = await grpc_server.listen(
                port.address,
                [port.service_name],
                port.add,
                CallInterceptor(calls, port.open_methods),
                resources.tls,
                port.limits.streams.capacity.total if port.limits else 0,
            )
            # Otherwise its destructor would log an error after the end of the event loop.
            stack.push_async_callback(listener.server.stop, None)
            listeners.append(listener)
            addresses[port.name] = listener.address
        if (websockets := await _open_websockets(service, resources)) is not None:
            stack.push_async_callback(websockets.drain, 0)
            addresses["websocket"] = websockets.address
        for health in await stack.enter_async_context(grpc_server.health_listener(settings.health_listen)):
            listeners.append(health)
            addresses["health"] = health.address
        metrics, addresses["metrics"] = serve_metrics(service.registry, settings.metrics_listen)
        stack.callback(metrics.server_close)
        stack.push_async_callback(asyncio.to_thread, metrics.shutdown)
        yield listeners, websockets, addresses


async def _open_websockets(service: Service, resources: Resources) -> WebSocketListener | None:
    if (port := service.websocket) is None:
        return None
    calls = Calls(port.verifier, service.rpc_metrics, resources.logger, port.limits)
    return await listen_for_websockets(port.address, port.serve(calls), resources.tls)


async def _drain(
    settings: ServiceSettings,
    service: Service,
    listeners: Sequence[grpc_server.Listener],
    websockets: WebSocketListener | None,
    running: Sequence[asyncio.Task[None]],
) -> None:
    """End streams, calls and tasks in order, each step in its part of the time."""
    steps = 1 if service.finish is None else 2
    grace_seconds = max(0.0, settings.drain_seconds - grpc_server.CLOSE_SECONDS) / steps
    async with asyncio.TaskGroup() as group:
        # At the same time: clients whose streams end must not reconnect here.
        group.create_task(grpc_server.drain(listeners, grace_seconds))
        if websockets is not None:
            group.create_task(websockets.drain(grace_seconds))
        await service.leave(grace_seconds)
        await end_tasks(running)
    if service.finish is not None:
        await service.finish(grace_seconds)
