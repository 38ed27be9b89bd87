"""The life of a service, the same for all of them: opened, supervised while it runs, drained, and closed."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias, TypeVar

import grpc
from prometheus_client import CollectorRegistry
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.runtime.addresses import is_loopback
from croupier.runtime.channels import open_channel
from croupier.runtime.database import is_reachable, open_database
from croupier.runtime.identity import TokenVerifier
from croupier.runtime.interceptor import Authenticator, CallInterceptor
from croupier.runtime.logs import Logger, configure_logs
from croupier.runtime.metrics import RpcMetrics, export_expiry, serve_metrics
from croupier.runtime.program import FAILED, DatabaseUnreachable, SettingsError, run_program
from croupier.runtime.rate_limit import PlayerLimit
from croupier.runtime.schema_versions import check_durability, check_schema
from croupier.runtime.server import (
    LAST_SECONDS,
    AddServices,
    Listener,
    announce,
    drain,
    end_within,
    listen,
    probe_port,
    run,
    show_readiness,
    until_stopped,
    watch_readiness,
)
from croupier.runtime.settings import ServiceSettings, read_settings
from croupier.runtime.tasks import SupervisedTasks, Work, end_tasks, supervised_tasks
from croupier.runtime.tls import Tls
from croupier.runtime.traced_calls import traced
from croupier.runtime.tracing import TracesSettings, exported_spans

FIRST_ANSWER_SECONDS = 1.0
"""How long a start waits for the first answers of those it calls; they may start later."""

AnySettings = TypeVar("AnySettings", bound=ServiceSettings)


@dataclass(frozen=True, slots=True)
class Port:
    """A port for calls: where it is, what it serves, whose tokens it takes, and how often each of them may call.

    The ready file has the address under `name`. `open_methods` need no token.
    """

    name: str
    address: str
    service_name: str
    add: AddServices
    verifier: TokenVerifier
    open_methods: frozenset[str] = frozenset()
    limit: PlayerLimit | None = None


async def _nothing(_grace_seconds: float = 0.0) -> None:
    """A step that a service does without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What one service has of its own: wired, and nothing runs yet.

    `start` is called before the ports open, and `join` once they are open. When the service stops, `leave` ends the
    streams while calls under way go on, then `work` is cancelled; `finish` does what is left, and then `lasting_work`
    is cancelled if it has not ended. Both get their seconds.
    """

    ports: Sequence[Port]
    registry: CollectorRegistry
    rpc_metrics: RpcMetrics
    work: Mapping[str, Work] = field(default_factory=dict)
    lasting_work: Mapping[str, Work] = field(default_factory=dict)
    check_access: Work | None = None
    """Asks those that the service calls whether they take its key; raises SettingsError if one does not."""
    start: Callable[[], Awaitable[None]] = _nothing
    join: Callable[[], Awaitable[None]] = _nothing
    leave: Callable[[float], Awaitable[None]] = _nothing
    finish: Callable[[float], Awaitable[None]] | None = None


@dataclass(frozen=True, slots=True)
class Resources:
    """What is open for a service until its end."""

    logger: Logger
    tls: Tls | None
    traces: TracesSettings
    database: AsyncEngine
    _stack: AsyncExitStack

    def channel(self, addresses: str, service: str) -> grpc.aio.Channel:
        """A channel to all replicas of another service."""
        channel = open_channel(addresses, self.tls, service, traced(self.traces))
        self._stack.push_async_exit(channel)
        return channel


Build: TypeAlias = Callable[[AnySettings, Resources], Service]
"""Wires a service; raises SettingsError for settings that it cannot be run with."""


def now_milliseconds() -> int:
    """Milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000


def run_service(
    name: str,
    kind: type[AnySettings],
    build: Build[AnySettings],
    arguments: Sequence[str] | None,
    tune: Callable[[AnySettings], None] = lambda _: None,
) -> int:
    """Run `croupier serve NAME` until it is stopped and return its exit code; `tune` sets the process up before."""
    program = f"croupier serve {name}"

    def start() -> int:
        settings = read_settings(kind, program, sys.argv[1:] if arguments is None else arguments)
        tune(settings)
        return run(serve(name, settings, build))

    return run_program(program, start)


async def serve(name: str, settings: AnySettings, build: Build[AnySettings]) -> int:
    """Run a service until SIGINT or SIGTERM, or until a background task fails; returns its exit code.

    Raises SettingsError and DatabaseUnreachable; logs anything else.
    """
    logger = configure_logs(name, settings.log_level)
    try:
        async with AsyncExitStack() as stack:
            resources, service = await _opened(name, settings, build, stack, logger)
            await check_schema(resources.database, f"croupier.{name}")
            await check_durability(resources.database, logger)
            fault = await _live(settings, service, resources)
    except (SettingsError, DatabaseUnreachable):
        raise
    except Exception as error:
        logger.error("the service failed", exc_info=error)
        return FAILED
    if isinstance(fault, SettingsError):
        raise fault
    return FAILED if fault else 0


async def _opened(
    name: str, settings: AnySettings, build: Build[AnySettings], stack: AsyncExitStack, logger: Logger
) -> tuple[Resources, Service]:
    """What a service needs, open until the stack ends, and the service wired to it; nothing is connected yet."""
    tls = Tls(files, now_milliseconds, logger) if (files := settings.tls) else None
    stack.enter_context(exported_spans(settings.traces, name))
    database = open_database(settings.database)
    stack.push_async_callback(database.dispose)
    resources = Resources(logger, tls, settings.traces, database, stack)
    service = build(settings, resources)
    if tls is None and (open_to_all := [port.address for port in service.ports if not is_loopback(port.address)]):
        logger.warning("reached from beyond this machine without TLS: see --tls-certificate", at=open_to_all)
    export_expiry(service.registry, tls)
    return resources, service


async def _live(settings: ServiceSettings, service: Service, resources: Resources) -> BaseException | None:
    """Start a service, serve, and drain it; returns what a background task raised if one failed."""
    async with supervised_tasks(resources.logger) as tasks:
        await service.start()
        asking = await _check_access(service, tasks)
        lasting = tasks.start(service.lasting_work)
        async with _listening(settings, service, resources) as (listeners, addresses):
            await service.join()
            is_ready = partial(is_reachable, resources.database)
            await show_readiness(listeners, is_ready)
            watches: dict[str, Work] = {"readiness": partial(watch_readiness, listeners, is_ready)}
            if resources.tls:
                watches["certificates"] = resources.tls.watch
            working = tasks.start({**service.work, **watches})
            announce(settings.ready_file, addresses)
            resources.logger.info("ready", **addresses)
            await until_stopped(tasks.stopping)
            resources.logger.info("stopping")
            end_within(settings.drain_seconds, resources.logger)
            await _drain(settings, service, listeners, [*asking, *working])
            await end_tasks(lasting)
    return tasks.fault


async def _check_access(service: Service, tasks: SupervisedTasks) -> list[asyncio.Task[None]]:
    """Begin to ask whether others take the service's key; raises what a refusal raises if it comes at once."""
    if service.check_access is None:
        return []
    asking = tasks.start({"access check": service.check_access}, may_end=True)
    await asyncio.wait(asking, timeout=FIRST_ANSWER_SECONDS)
    if tasks.fault:
        raise tasks.fault
    return asking


@asynccontextmanager
async def _listening(
    settings: ServiceSettings, service: Service, resources: Resources
) -> AsyncIterator[tuple[Sequence[Listener], dict[str, str]]]:
    """Open all ports, each of which takes tokens of its own audience only; yields them and their addresses by name."""
    addresses: dict[str, str] = {}
    async with AsyncExitStack() as stack:
        listeners = []
        for port in service.ports:
            authenticator = Authenticator(port.verifier, port.open_methods)
            interceptor = CallInterceptor(authenticator, service.rpc_metrics, resources.logger, port.limit)
            listener = await listen(port.address, [port.service_name], port.add, interceptor, resources.tls)
            # Also when something after it fails: one that is left to the garbage collector finds its event loop gone.
            stack.push_async_callback(listener.server.stop, None)
            listeners.append(listener)
            addresses[port.name] = listener.address
        for probed in await stack.enter_async_context(probe_port(settings.health_listen)):
            listeners.append(probed)
            addresses["health"] = probed.address
        metrics, addresses["metrics"] = serve_metrics(service.registry, settings.metrics_listen)
        stack.callback(metrics.server_close)
        stack.push_async_callback(asyncio.to_thread, metrics.shutdown)
        yield listeners, addresses


async def _drain(
    settings: ServiceSettings, service: Service, listeners: Sequence[Listener], working: Sequence[asyncio.Task[None]]
) -> None:
    """End what is under way, in order, and each step in its part of the time."""
    steps = 1 if service.finish is None else 2
    grace_seconds = max(0.0, settings.drain_seconds - LAST_SECONDS) / steps
    async with asyncio.TaskGroup() as group:
        # At once: connections are told to go while streams are, so that nobody comes back here.
        group.create_task(drain(listeners, grace_seconds))
        await service.leave(grace_seconds)
        await end_tasks(working)
    if service.finish is not None:
        await service.finish(grace_seconds)
