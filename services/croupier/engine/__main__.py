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
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from prometheus_client import CollectorRegistry
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.engine.background import Background
from croupier.engine.control_servicer import SERVICE_NAME as CONTROL_SERVICE_NAME
from croupier.engine.control_servicer import EngineControlServicer
from croupier.engine.fact_codec import StreamEncoder
from croupier.engine.metrics import engine_metrics
from croupier.engine.reports import Reporter
from croupier.engine.scoring_channel import ScoringChannel
from croupier.engine.servicer import SERVICE_NAME, EngineServicer
from croupier.engine.services import EngineServices
from croupier.engine.settings import EngineSettings
from croupier.engine.sql_store import SqlTableStore
from croupier.engine.tables import Tables
from croupier.engine.thinkers import ProcessThinkers
from croupier.runtime.database import is_reachable, open_database
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
from croupier.runtime.schema_versions import migrate
from croupier.runtime.server import Listener, announce, drain, listen, run, until_stopped, watch_readiness
from croupier.runtime.settings import is_loopback, read_settings


def now_milliseconds() -> int:
    return time.time_ns() // 1_000_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the settings and serve until stopped; gives the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    settings = read_settings(EngineSettings, "croupier serve engine", given, os.environ)
    try:
        return run(serve(settings))
    except (ValueError, OSError, SQLAlchemyError) as fault:
        sys.stderr.write(f"croupier serve engine: {str(fault).splitlines()[0]}\n")
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
        choose = secrets.SystemRandom().randrange
        thinkers = ProcessThinkers(settings.bot_processes, metrics, logger)
        services = EngineServices(
            store, StreamEncoder(), metrics, now_milliseconds, choose, logger, background, reporter, thinkers
        )
        tables = Tables(services, new_seed, settings.most_open_tables)
        await _run(settings, lobby_key, services, store, tables, database)
    return 0


async def _run(
    settings: EngineSettings,
    lobby_key: Ed25519PublicKey,
    services: EngineServices,
    store: SqlTableStore,
    tables: Tables,
    database: AsyncEngine,
) -> None:
    """Start everything in order, serve, and end everything in the opposite order."""
    committing = asyncio.create_task(store.run())
    reporting = asyncio.create_task(services.reporter.run())
    await tables.take_up_open_tables()
    sweeping = asyncio.create_task(tables.run())
    listeners = await _listen(settings, lobby_key, services, tables)
    _, metrics_address = serve_metrics(services.metrics.registry, settings.metrics_listen)
    readiness = asyncio.create_task(watch_readiness(listeners, lambda: is_reachable(database)))
    addresses = {"listen": listeners[0].address, "control": listeners[1].address, "metrics": metrics_address}
    announce(settings.ready_file, addresses)
    services.logger.info("ready", **addresses)
    await until_stopped()
    services.logger.info("stopping")
    for task in (readiness, sweeping):
        task.cancel()
    tables.drain()
    await services.thinkers.close()
    await drain(listeners, settings.drain_seconds)
    await services.background.close(settings.drain_seconds)
    reporting.cancel()
    store.close()
    await committing


async def _listen(
    settings: EngineSettings, lobby_key: Ed25519PublicKey, services: EngineServices, tables: Tables
) -> list[Listener]:
    """Open the players' port and the lobby's, each of which accepts tokens of its own audience only."""

    def interceptor(audience: str) -> CallInterceptor:
        verifier = TokenVerifier(lobby_key, audience, now_milliseconds)
        return CallInterceptor(Authenticator(verifier), services.metrics.rpc, services.logger)

    players = EngineServicer(tables, services.metrics, settings.most_streams)
    lobby = EngineControlServicer(tables)
    return [
        await listen(settings.listen, [SERVICE_NAME], players.add_to, interceptor(PLAYER_AUDIENCE)),
        await listen(
            settings.control_listen, [CONTROL_SERVICE_NAME], lobby.add_to, interceptor(ENGINE_CONTROL_AUDIENCE)
        ),
    ]


if __name__ == "__main__":
    raise SystemExit(main())
