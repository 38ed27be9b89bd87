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

from croupier.lobby.assembly import assemble
from croupier.lobby.engine_channel import EngineChannel
from croupier.lobby.engine_keys import check_keys
from croupier.lobby.servicer import OPEN_METHODS, SERVICE_NAME
from croupier.lobby.settings import LobbySettings
from croupier.runtime.channels import open_channel
from croupier.runtime.database import is_reachable
from croupier.runtime.identity import (
    ENGINE_CONTROL_AUDIENCE,
    PLAYER_AUDIENCE,
    SERVICE_TOKEN_SECONDS,
    TokenIssuer,
    TokenVerifier,
    load_private_key,
)
from croupier.runtime.interceptor import Authenticator, CallInterceptor
from croupier.runtime.logs import configure_logs
from croupier.runtime.metrics import RpcMetrics, export_expiry, serve_metrics
from croupier.runtime.player_limit import player_limit
from croupier.runtime.server import (
    LAST_SECONDS,
    drain,
    end_within,
    listen,
    probe_port,
    show_readiness,
    watch_readiness,
)
from croupier.runtime.service import asking, run_program, tell_ready, until_stopped_or_refused, usable_database
from croupier.runtime.settings import read_settings
from croupier.runtime.tls import tls_in_use
from croupier.runtime.traced_calls import traced
from croupier.runtime.traces import export_dropped, traces_in_use

PROGRAM = "croupier serve lobby"
PORTS = ("listen", "health")


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the settings and serve until stopped; gives the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    return run_program(PROGRAM, serve(read_settings(LobbySettings, PROGRAM, given, os.environ)))


def now_milliseconds() -> int:
    """Milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000


async def serve(settings: LobbySettings) -> int:
    """Serve until stopped; raises ValueError, OSError or SQLAlchemyError if the settings do not allow it."""
    logger = configure_logs("lobby", settings.log_level)
    key = load_private_key(settings.signing_key)
    registry = CollectorRegistry()
    async with AsyncExitStack() as stack:
        tls = await stack.enter_async_context(tls_in_use(settings.tls, (settings.listen,), now_milliseconds, logger))
        traces = await stack.enter_async_context(traces_in_use(settings.traces, "lobby", logger))
        database = await stack.enter_async_context(usable_database(settings.database, "croupier.lobby", logger))
        channel = await stack.enter_async_context(open_channel(settings.engine_control, tls, "engine", traced(traces)))
        issuer = TokenIssuer(key, ENGINE_CONTROL_AUDIENCE, SERVICE_TOKEN_SECONDS, now_milliseconds)
        engine = EngineChannel(channel, issuer, settings.engine_timeout_seconds, logger)
        keys = await stack.enter_async_context(asking(check_keys(settings, issuer, tls, logger)))
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
        is_ready = partial(is_reachable, database)
        await show_readiness(listeners, is_ready)
        work = (*lobby.background(), watch_readiness(listeners, is_ready))
        async with _running(work):
            tell_ready(listeners, PORTS, metrics_address, settings.ready_file, logger)
            await until_stopped_or_refused(keys)
            logger.info("stopping")
            end_within(settings.drain_seconds, logger)
            lobby.end_streams()
            await drain(listeners, max(0.0, settings.drain_seconds - LAST_SECONDS))
    return 0


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
