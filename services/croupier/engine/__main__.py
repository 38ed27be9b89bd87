"""Runs the engine: `python -m croupier.engine --help`."""

import asyncio
import hashlib
import os
import secrets
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack

import grpc
from prometheus_client import CollectorRegistry

from croupier.engine.background import Background
from croupier.engine.control_servicer import SERVICE_NAME as CONTROL_SERVICE_NAME
from croupier.engine.control_servicer import EngineControlServicer
from croupier.engine.fact_codec import StreamEncoder
from croupier.engine.live import EngineServices
from croupier.engine.metrics import engine_metrics
from croupier.engine.reports import Reporter
from croupier.engine.scoring_channel import ScoringChannel
from croupier.engine.servicer import SERVICE_NAME, EngineServicer
from croupier.engine.settings import EngineSettings
from croupier.engine.store import SqlTableStore
from croupier.engine.tables import Tables
from croupier.runtime.database import is_reachable, migrate, open_database
from croupier.runtime.identity import (
    ENGINE_CONTROL_AUDIENCE,
    PLAYER_AUDIENCE,
    SCORING_CONTROL_AUDIENCE,
    SERVICE_TOKEN_SECONDS,
    TokenIssuer,
    TokenVerifier,
    load_private_key,
    load_public_key,
)
from croupier.runtime.interceptor import Authenticator, CallInterceptor
from croupier.runtime.logs import configure_logs
from croupier.runtime.metrics import serve_metrics
from croupier.runtime.server import announce, drain, listen, run, until_stopped, watch_readiness
from croupier.runtime.settings import is_loopback, read_settings


def now_milliseconds() -> int:
    return time.time_ns() // 1_000_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the settings and serve until stopped; gives the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    settings = read_settings(EngineSettings, "croupier serve engine", given, os.environ)
    try:
        return run(serve(settings))
    except (ValueError, OSError) as fault:
        sys.stderr.write(f"croupier serve engine: {fault}\n")
        return 2


def seed_source(settings: EngineSettings) -> Callable[[int], bytes]:
    """Where secret seeds come from; raises ValueError for a fixed one on a port that others can reach."""
    if not settings.shuffle_seed:
        return secrets.token_bytes
    if not (is_loopback(settings.listen) and is_loopback(settings.control_listen)):
        raise ValueError("--shuffle-seed makes every deal predictable: it is for loopback addresses only")
    fixed = hashlib.sha256(f"croupier demonstration {settings.shuffle_seed}".encode()).digest()
    return lambda length: fixed[:length]


async def serve(settings: EngineSettings) -> int:
    """Wire the engine by hand and run it until SIGTERM."""
    new_seed = seed_source(settings)
    lobby_key = load_public_key(settings.lobby_public_key)
    issuer = TokenIssuer(
        load_private_key(settings.signing_key), SCORING_CONTROL_AUDIENCE, SERVICE_TOKEN_SECONDS, now_milliseconds
    )
    logger = configure_logs("engine", settings.log_level)
    metrics = engine_metrics(CollectorRegistry())
    async with AsyncExitStack() as stack:
        database = open_database(settings.database)
        stack.push_async_callback(database.dispose)
        await migrate(database, "croupier.engine")
        store = SqlTableStore(database, metrics)
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(settings.scoring_control))
        reporter = Reporter(store, ScoringChannel(channel, issuer), metrics, logger)
        background = Background(logger)
        chance = secrets.SystemRandom()
        services = EngineServices(
            store, StreamEncoder(), metrics, now_milliseconds, chance.randrange, logger, background, reporter
        )
        tables = Tables(services, new_seed, settings.most_open_tables)
        committing = asyncio.create_task(store.run())
        reporting = asyncio.create_task(reporter.run())
        await tables.take_up_open_tables()
        sweeping = asyncio.create_task(tables.run())
        players = CallInterceptor(
            Authenticator(TokenVerifier(lobby_key, PLAYER_AUDIENCE, now_milliseconds)), metrics.rpc, logger
        )
        lobby = CallInterceptor(
            Authenticator(TokenVerifier(lobby_key, ENGINE_CONTROL_AUDIENCE, now_milliseconds)), metrics.rpc, logger
        )
        servicer = EngineServicer(tables, metrics, settings.most_streams)
        listeners = [
            await listen(settings.listen, [SERVICE_NAME], servicer.add_to, players),
            await listen(settings.control_listen, [CONTROL_SERVICE_NAME], EngineControlServicer(tables).add_to, lobby),
        ]
        _, metrics_address = serve_metrics(metrics.registry, settings.metrics_listen)
        readiness = asyncio.create_task(watch_readiness(listeners, lambda: is_reachable(database)))
        addresses = {"listen": listeners[0].address, "control": listeners[1].address, "metrics": metrics_address}
        announce(settings.ready_file, addresses)
        logger.info("ready", **addresses)
        await until_stopped()
        logger.info("stopping")
        for task in (readiness, sweeping):
            task.cancel()
        tables.drain()
        await drain(listeners, settings.drain_seconds)
        await background.close()
        reporting.cancel()
        store.close()
        await committing
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
