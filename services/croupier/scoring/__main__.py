"""Runs the scoring service."""

import asyncio
import os
import sys
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial

from prometheus_client import CollectorRegistry
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.runtime.database import is_reachable
from croupier.runtime.identity import PLAYER_AUDIENCE, SCORING_CONTROL_AUDIENCE, TokenVerifier, load_public_key
from croupier.runtime.interceptor import Authenticator, CallInterceptor
from croupier.runtime.logs import configure_logs
from croupier.runtime.metrics import RpcMetrics, export_expiry, serve_metrics
from croupier.runtime.player_limit import PlayerLimit, player_limit
from croupier.runtime.server import (
    LAST_SECONDS,
    AddServices,
    drain,
    end_within,
    listen,
    probe_port,
    show_readiness,
    until_stopped,
    watch_readiness,
)
from croupier.runtime.service import run_program, tell_ready, usable_database
from croupier.runtime.settings import read_settings
from croupier.runtime.tls import tls_in_use
from croupier.runtime.traces import export_dropped, traces_in_use
from croupier.scoring.ledger import Ledger
from croupier.scoring.metrics import LedgerMetrics
from croupier.scoring.records import Records
from croupier.scoring.servicer import ScoringControlServicer, ScoringServicer
from croupier.scoring.settings import ScoringSettings
from croupier_api.v1 import scoring_pb2
from croupier_api.v1.scoring_pb2_grpc import (
    add_ScoringControlServiceServicer_to_server,
    add_ScoringServiceServicer_to_server,
)

PROGRAM = "croupier serve scoring"
PORTS = ("listen", "control", "health")
SERVICES = scoring_pb2.DESCRIPTOR.services_by_name


def clock() -> int:
    """Milliseconds since 1970 UTC."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class Port:
    """An address, the service it offers, whose tokens it takes, and how often each of them may call."""

    address: str
    service: str
    add: AddServices
    verifier: TokenVerifier
    limit: PlayerLimit | None = None


def servicers(database: AsyncEngine, registry: CollectorRegistry) -> tuple[AddServices, AddServices]:
    """What players call and what engines call, on one ledger."""
    ledger = Ledger(database)
    players = ScoringServicer(ledger, Records(database))
    control = ScoringControlServicer(ledger, LedgerMetrics(registry))
    return (
        partial(add_ScoringServiceServicer_to_server, players),
        partial(add_ScoringControlServiceServicer_to_server, control),
    )


def ports(settings: ScoringSettings, database: AsyncEngine, registry: CollectorRegistry) -> tuple[Port, Port]:
    """What the players' port and the engine's port serve; raises ValueError for settings that cannot be used."""
    add_players, add_control = servicers(database, registry)
    return (
        Port(
            settings.listen,
            SERVICES["ScoringService"].full_name,
            add_players,
            TokenVerifier(load_public_key(settings.lobby_public_key), PLAYER_AUDIENCE, clock),
            player_limit(settings.player, time.monotonic_ns),
        ),
        Port(
            settings.control_listen,
            SERVICES["ScoringControlService"].full_name,
            add_control,
            TokenVerifier(load_public_key(settings.engine_public_key), SCORING_CONTROL_AUDIENCE, clock),
        ),
    )


async def serve(settings: ScoringSettings) -> int:
    """Serve until told to stop; raises ValueError for settings that cannot be used."""
    logger = configure_logs("scoring", settings.log_level)
    registry = CollectorRegistry()
    rpc_metrics = RpcMetrics(registry)
    async with AsyncExitStack() as stack:
        tls = await stack.enter_async_context(
            tls_in_use(settings.tls, (settings.listen, settings.control_listen), clock, logger)
        )
        export_expiry(registry, tls)
        traces = await stack.enter_async_context(traces_in_use(settings.traces, "scoring", logger))
        export_dropped(registry, traces)
        database = await stack.enter_async_context(usable_database(settings.database, "croupier.scoring", logger))
        metrics_server, metrics_address = serve_metrics(registry, settings.metrics_listen)
        stack.callback(metrics_server.server_close)
        stack.callback(metrics_server.shutdown)
        listeners = []
        for port in ports(settings, database, registry):
            interceptor = CallInterceptor(Authenticator(port.verifier), rpc_metrics, logger, traces, port.limit)
            listener = await listen(port.address, [port.service], port.add, interceptor, tls)
            stack.push_async_callback(listener.server.stop, None)
            listeners.append(listener)
        listeners += await stack.enter_async_context(probe_port(settings.health_listen))
        is_ready = partial(is_reachable, database)
        await show_readiness(listeners, is_ready)
        readiness = asyncio.create_task(watch_readiness(listeners, is_ready))
        tell_ready(listeners, PORTS, metrics_address, settings.ready_file, logger)
        await until_stopped()
        logger.info("stopping")
        end_within(settings.drain_seconds, logger)
        readiness.cancel()
        await asyncio.wait([readiness])
        await drain(listeners, max(0.0, settings.drain_seconds - LAST_SECONDS))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the settings and serve until stopped; gives the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    return run_program(PROGRAM, serve(read_settings(ScoringSettings, PROGRAM, given, os.environ)))


if __name__ == "__main__":
    raise SystemExit(main())
