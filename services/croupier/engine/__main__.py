"""Runs the engine: `python -m croupier.engine --help`."""

import asyncio
import hashlib
import os
import secrets
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import grpc
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.engine.assembly import Engine, assemble
from croupier.engine.background import end_tasks
from croupier.engine.control_servicer import SERVICE_NAME as CONTROL_SERVICE_NAME
from croupier.engine.control_servicer import EngineControlServicer
from croupier.engine.scoring_channel import ScoringChannel, WrongKey
from croupier.engine.servicer import SERVICE_NAME, EngineServicer
from croupier.engine.settings import EngineSettings
from croupier.runtime.addresses import is_loopback
from croupier.runtime.channels import open_channel
from croupier.runtime.database import is_reachable
from croupier.runtime.identity import (
    ENGINE_CONTROL_AUDIENCE,
    PLAYER_AUDIENCE,
    SCORING_CONTROL_AUDIENCE,
    SERVICE_TOKEN_SECONDS,
    Clock,
    TokenIssuer,
    TokenVerifier,
    load_private_key,
    load_public_key,
)
from croupier.runtime.interceptor import Authenticator, CallInterceptor
from croupier.runtime.logs import Logger, configure_logs
from croupier.runtime.metrics import export_expiry, serve_metrics
from croupier.runtime.player_limit import PlayerLimit, player_limit
from croupier.runtime.server import (
    LAST_SECONDS,
    Listener,
    drain,
    end_within,
    listen,
    probe_port,
    show_readiness,
    watch_readiness,
)
from croupier.runtime.service import asking, run_program, tell_ready, until_stopped_or_refused, usable_database
from croupier.runtime.settings import read_settings
from croupier.runtime.stream_places import StreamPlaces
from croupier.runtime.tls import Tls, tls_in_use
from croupier.runtime.traced_calls import traced
from croupier.runtime.traces import export_dropped, traces_in_use

PROGRAM = "croupier serve engine"
PAUSE_SECONDS = 1.0
PORTS = ("listen", "control", "health")


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the settings and serve until stopped; gives the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    return run_program(PROGRAM, serve(read_settings(EngineSettings, PROGRAM, given, os.environ)))


def seed_source(settings: EngineSettings) -> Callable[[int], bytes]:
    """Where secret seeds come from; raises ValueError for a fixed one on a port that others can reach."""
    if not settings.shuffle_seed:
        return secrets.token_bytes
    if not _is_private(settings):
        raise ValueError("--shuffle-seed makes every deal predictable: it is for loopback addresses only")
    fixed = hashlib.sha256(f"croupier demonstration {settings.shuffle_seed}".encode()).digest()
    return lambda length: fixed[:length]


def local_clock(settings: EngineSettings) -> Clock:
    """Milliseconds since 1970 UTC; raises ValueError for an offset on a port that others can reach, or that is none."""
    text = settings.clock_offset_milliseconds
    if not text.removeprefix("-").isdecimal():
        raise ValueError(f"--clock-offset-milliseconds cannot be {text!r}: an integer is expected")
    offset = int(text)
    if offset and not _is_private(settings):
        raise ValueError("--clock-offset-milliseconds is for tests on loopback addresses only")
    return lambda: time.time_ns() // 1_000_000 + offset


def _is_private(settings: EngineSettings) -> bool:
    return is_loopback(settings.listen) and is_loopback(settings.control_listen)


async def serve(settings: EngineSettings) -> int:
    """Wire the engine by hand and run it until SIGTERM."""
    new_seed, clock = seed_source(settings), local_clock(settings)
    lobby_key = load_public_key(settings.lobby_public_key)
    issuer = TokenIssuer(load_private_key(settings.signing_key), SCORING_CONTROL_AUDIENCE, SERVICE_TOKEN_SECONDS, clock)
    logger = configure_logs("engine", settings.log_level)
    async with AsyncExitStack() as stack:
        tls = await stack.enter_async_context(
            tls_in_use(settings.tls, (settings.listen, settings.control_listen), clock, logger)
        )
        traces = await stack.enter_async_context(traces_in_use(settings.traces, "engine", logger))
        database = await stack.enter_async_context(usable_database(settings.database, "croupier.engine", logger))
        channel = open_channel(settings.scoring_control, tls, "scoring", traced(traces))
        scoring = ScoringChannel(await stack.enter_async_context(channel), issuer)
        engine = assemble(settings, database, scoring, new_seed, clock, logger, traces)
        await engine.clock.measure()
        access = await stack.enter_async_context(asking(_check_access(settings, scoring, logger)))
        await _run(settings, lobby_key, engine, database, tls, access)
    return 0


async def _check_access(settings: EngineSettings, scoring: ScoringChannel, logger: Logger) -> None:
    """Ask scoring until it has taken this engine's key; raises ValueError if it knows another."""
    is_told = False
    while True:
        try:
            return await scoring.check_access()
        except WrongKey:
            raise ValueError(
                f"scoring at {settings.scoring_control} does not take this engine's key: give it the public key "
                f"that belongs to {settings.signing_key} as --engine-public-key"
            ) from None
        except grpc.aio.AioRpcError as error:
            if not is_told:
                logger.warning("scoring cannot be asked yet", code=error.code().name, details=error.details())
            is_told = True
            await asyncio.sleep(PAUSE_SECONDS)


async def _run(
    settings: EngineSettings,
    lobby_key: Ed25519PublicKey,
    engine: Engine,
    database: AsyncEngine,
    tls: Tls | None,
    access: asyncio.Task[None],
) -> None:
    """Start everything in order, serve, and end everything in the opposite order."""
    logger = engine.services.logger
    committing = asyncio.create_task(engine.store.run())
    reporting = asyncio.create_task(engine.services.reporter.run())
    async with _listening(settings, lobby_key, engine, tls) as listeners:
        export_expiry(engine.services.metrics.registry, tls)
        export_dropped(engine.services.metrics.registry, engine.services.traces)
        _, metrics_address = serve_metrics(engine.services.metrics.registry, settings.metrics_listen)
        # Only now: an engine whose ports are taken has never been there, and nobody is given back time for it.
        await engine.services.attendance.attend()
        working = [asyncio.create_task(work) for work in engine.work()]
        is_ready = partial(is_reachable, database)
        await show_readiness(listeners, is_ready)
        readiness = asyncio.create_task(watch_readiness(listeners, is_ready))
        tell_ready(listeners, PORTS, metrics_address, settings.ready_file, logger)
        await until_stopped_or_refused(access)
        logger.info("stopping")
        end_within(settings.drain_seconds, logger)
        grace_seconds = max(0.0, settings.drain_seconds - LAST_SECONDS) / 2
        # At once: connections are told to go while streams are, so that nobody comes back here.
        draining = asyncio.create_task(drain(listeners, grace_seconds))
        await engine.send_streams_elsewhere(grace_seconds)
        await end_tasks([reporting, *working, readiness])
        await draining
        await engine.finish(committing, grace_seconds)


@asynccontextmanager
async def _listening(
    settings: EngineSettings, lobby_key: Ed25519PublicKey, engine: Engine, tls: Tls | None
) -> AsyncIterator[list[Listener]]:
    """Open the players' port and the lobby's, which take tokens of their own audience only, and that for probes."""

    def interceptor(audience: str, limit: PlayerLimit | None) -> CallInterceptor:
        authenticator = Authenticator(TokenVerifier(lobby_key, audience, engine.clock))
        services = engine.services
        return CallInterceptor(authenticator, services.metrics.rpc, services.logger, services.traces, limit)

    limit = player_limit(settings.player, time.monotonic_ns)
    places = StreamPlaces(settings.most_streams, settings.most_player_streams)
    players = EngineServicer(engine.tables, engine.services.metrics, places, limit)
    lobby = EngineControlServicer(engine.tables)
    doors = (
        (settings.listen, SERVICE_NAME, players.add_to, interceptor(PLAYER_AUDIENCE, limit)),
        (settings.control_listen, CONTROL_SERVICE_NAME, lobby.add_to, interceptor(ENGINE_CONTROL_AUDIENCE, None)),
    )
    async with AsyncExitStack() as stack:
        listeners = []
        for address, service, add_to, around in doors:
            listeners.append(await listen(address, [service], add_to, around, tls))
            # Also when something after it fails: one that is left to the garbage collector finds its event loop gone.
            stack.push_async_callback(listeners[-1].server.stop, None)
        listeners += await stack.enter_async_context(probe_port(settings.health_listen))
        yield listeners


if __name__ == "__main__":
    raise SystemExit(main())
