"""Run the lobby: python -m croupier.lobby."""

import asyncio
import os
import secrets
import sys
import time
from collections.abc import AsyncIterator, Coroutine, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

from prometheus_client import CollectorRegistry
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.lobby.assembly import assemble
from croupier.lobby.engine_channel import EngineChannel
from croupier.lobby.engine_keys import check_keys
from croupier.lobby.servicer import OPEN_METHODS, SERVICE_NAME
from croupier.lobby.settings import LobbySettings
from croupier.runtime.channels import open_channel
from croupier.runtime.database import is_reachable, open_database
from croupier.runtime.identity import (
    ENGINE_CONTROL_AUDIENCE,
    PLAYER_AUDIENCE,
    SERVICE_TOKEN_SECONDS,
    TokenIssuer,
    TokenVerifier,
    load_private_key,
)
from croupier.runtime.interceptor import Authenticator, CallInterceptor
from croupier.runtime.logs import Logger, configure_logs
from croupier.runtime.metrics import RpcMetrics, export_expiry, serve_metrics
from croupier.runtime.player_limit import player_limit
from croupier.runtime.schema_versions import DatabaseUnreachable, check_durability, check_schema
from croupier.runtime.server import (
    LAST_SECONDS,
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
from croupier.runtime.settings import read_settings
from croupier.runtime.tls import Tls, tls_in_use
from croupier.runtime.traced_calls import traced
from croupier.runtime.traces import export_dropped, traces_in_use

PROGRAM = "croupier serve lobby"
PORTS = ("listen", "health")
FIRST_ANSWER_SECONDS = 1.0
"""How long the start waits for the engines' first answers; they may start later than the lobby."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until SIGINT or SIGTERM; gives the exit code.

    2 is for faults of configuration, 1 for a database that does not answer.
    """
    settings = read_settings(LobbySettings, PROGRAM, sys.argv[1:] if arguments is None else arguments, os.environ)
    try:
        return run(serve(settings, configure_logs("lobby", settings.log_level)))
    except (ValueError, OSError, SQLAlchemyError) as fault:
        sys.stderr.write(f"{PROGRAM}: {str(fault).splitlines()[0]}\n")
        return 1 if isinstance(fault, DatabaseUnreachable) else 2


def now_milliseconds() -> int:
    """Milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000


async def serve(settings: LobbySettings, logger: Logger) -> int:
    """Serve until stopped; raises ValueError, OSError or SQLAlchemyError if the settings do not allow it."""
    key = load_private_key(settings.signing_key)
    registry = CollectorRegistry()
    async with AsyncExitStack() as stack:
        tls = await stack.enter_async_context(tls_in_use(settings.tls, (settings.listen,), now_milliseconds, logger))
        traces = await stack.enter_async_context(traces_in_use(settings.traces, "lobby", logger))
        database = await stack.enter_async_context(_opened_database(settings.database, logger))
        channel = await stack.enter_async_context(open_channel(settings.engine_control, tls, "engine", traced(traces)))
        issuer = TokenIssuer(key, ENGINE_CONTROL_AUDIENCE, SERVICE_TOKEN_SECONDS, now_milliseconds)
        engine = EngineChannel(channel, issuer, settings.engine_timeout_seconds, logger)
        keys = await stack.enter_async_context(_checked_keys(settings, issuer, tls, logger))
        lobby = assemble(settings, database, engine, key, secrets.SystemRandom(), now_milliseconds, registry, logger)
        verifier = TokenVerifier(key.public_key(), PLAYER_AUDIENCE, now_milliseconds)
        limit = player_limit(settings.player, time.monotonic_ns)
        interceptor = CallInterceptor(
            Authenticator(verifier, OPEN_METHODS), RpcMetrics(registry), logger, traces, limit
        )
        export_expiry(registry, tls)
        export_dropped(registry, traces)
        metrics_server, metrics_address = serve_metrics(registry, settings.metrics_listen)
        stack.callback(metrics_server.shutdown)
        listener = await listen(settings.listen, [SERVICE_NAME], lobby.add_to, interceptor, tls)
        stack.push_async_callback(listener.server.stop, None)
        listeners = [listener, *await stack.enter_async_context(probe_port(settings.health_listen))]
        addresses = {kind: each.address for kind, each in zip(PORTS, listeners, strict=False)}
        addresses["metrics"] = metrics_address
        is_ready = partial(is_reachable, database)
        await show_readiness(listeners, is_ready)
        work = (*lobby.background(), watch_readiness(listeners, is_ready))
        async with _running(work):
            announce(settings.ready_file, addresses)
            logger.info("ready", **addresses)
            await _until_stopped(keys)
            logger.info("stopping")
            end_within(settings.drain_seconds, logger)
            lobby.end_streams()
            await drain(listeners, max(0.0, settings.drain_seconds - LAST_SECONDS))
    if not keys.cancelled():
        keys.result()
    return 0


@asynccontextmanager
async def _opened_database(url: str, logger: Logger) -> AsyncIterator[AsyncEngine]:
    database = open_database(url)
    try:
        await check_schema(database, "croupier.lobby")
        await check_durability(database, logger)
        yield database
    finally:
        await database.dispose()


async def _until_stopped(keys: asyncio.Task[None]) -> None:
    """Wait for a signal, or until an engine refuses this lobby's key."""
    async with _running([until_stopped()]) as (stopped,):
        await asyncio.wait([stopped, keys], return_when=asyncio.FIRST_COMPLETED)
        if not keys.done() or keys.exception() is None:
            await stopped


@asynccontextmanager
async def _checked_keys(
    settings: LobbySettings, issuer: TokenIssuer, tls: Tls | None, logger: Logger
) -> AsyncIterator[asyncio.Task[None]]:
    """A task that has asked each engine whether it takes this lobby's key, or still asks; raises ValueError if not."""
    async with _running([check_keys(settings, issuer, tls, logger)]) as (keys,):
        await asyncio.wait([keys], timeout=FIRST_ANSWER_SECONDS)
        if keys.done():
            keys.result()
        yield keys


@asynccontextmanager
async def _running(work: Iterable[Coroutine[Any, Any, None]]) -> AsyncIterator[list[asyncio.Task[None]]]:
    tasks = [asyncio.create_task(each) for each in work]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


if __name__ == "__main__":
    sys.exit(main())
