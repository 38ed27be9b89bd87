"""Run the engine: python -m croupier.engine."""

import hashlib
import secrets
import time
from collections.abc import Callable, Sequence
from functools import partial

from croupier.engine.api.control_servicer import SERVICE_NAME as CONTROL_SERVICE_NAME
from croupier.engine.api.control_servicer import EngineControlServicer
from croupier.engine.api.scoring_channel import ScoringChannel, check_key
from croupier.engine.api.servicer import SERVICE_NAME, EngineServicer
from croupier.engine.api.websocket.server import WebSocketServer
from croupier.engine.assembly import assemble
from croupier.engine.settings import EngineSettings
from croupier.games.registry import InvalidGames, registry
from croupier.runtime.admission.limits import limits_of
from croupier.runtime.identity.links import links_by
from croupier.runtime.identity.tokens import (
    ENGINE_CONTROL_AUDIENCE,
    PLAYER_AUDIENCE,
    SCORING_CONTROL_AUDIENCE,
    SERVICE_TOKEN_SECONDS,
    TokenIssuer,
    TokenVerifier,
    load_private_key,
    load_public_key,
)
from croupier.runtime.server.program import SettingsError
from croupier.runtime.server.service import Port, Resources, Service, WebSocketPort, now_milliseconds, run_service


def seed_source(shuffle_seed: str) -> Callable[[int], bytes]:
    """Return the source of the tables' secret seeds; with a text all of them are the same."""
    fixed = hashlib.sha256(f"croupier demonstration {shuffle_seed}".encode()).digest()
    return (lambda length: fixed[:length]) if shuffle_seed else secrets.token_bytes


def build(settings: EngineSettings, resources: Resources) -> Service:
    """Wire the engine.

    Raises SettingsError for an unusable key, for installed games that cannot be used together, and for a file of SQLite
    with an engine.
    """
    try:
        registry()
    except InvalidGames as fault:
        raise SettingsError(str(fault)) from None

    def local_clock() -> int:
        return now_milliseconds() + settings.clock_offset_milliseconds

    lobby_key = load_public_key(settings.lobby_public_key)
    signing_key = load_private_key(settings.signing_key)
    issuer = TokenIssuer(signing_key, SCORING_CONTROL_AUDIENCE, SERVICE_TOKEN_SECONDS, local_clock)
    channel = resources.channel(settings.scoring_control, "scoring")
    scoring = ScoringChannel(channel, issuer, resources.outages_of("scoring"))
    new_seed = seed_source(settings.shuffle_seed)
    limits = limits_of(settings, time.monotonic_ns, settings.stranger_units_per_second, settings.stranger_burst)
    engine = assemble(settings, resources.database, scoring, new_seed, local_clock, limits.network, resources.logger)
    # A second one on SQLite would not know the deadlines.
    resources.use_database_alone()
    metrics = engine.metrics
    metrics.streams.set_function(lambda: len(limits.streams))
    links = links_by(signing_key, settings.link_days, engine.clock)
    players = EngineServicer(engine.tables, links, engine.clock, metrics)
    control = EngineControlServicer(engine.tables, engine.store, engine.outbox.scoring)
    verifier, control_verifier = (
        TokenVerifier(lobby_key, audience, engine.clock) for audience in (PLAYER_AUDIENCE, ENGINE_CONTROL_AUDIENCE)
    )
    return Service(
        ports=(
            Port("listen", settings.listen, SERVICE_NAME, players.add_to, verifier, limits=limits),
            Port("control", settings.control_listen, CONTROL_SERVICE_NAME, control.add_to, control_verifier),
        ),
        websocket=WebSocketPort(settings.websocket_listen, partial(WebSocketServer, players), verifier, limits),
        registry=metrics.registry,
        rpc_metrics=metrics.rpc,
        check_access=partial(check_key, scoring, settings),
        start=engine.clock.measure,
        # Only with open ports: an engine whose ports are taken never served, so its end must not count as an outage.
        join=engine.liveness.send_heartbeat,
        tasks=engine.background_tasks(),
        leave=engine.hand_over_streams,
        finish=engine.finish,
        drain_tasks={"store": engine.store.commits.run},
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until stopped; return the exit code."""
    return run_service("engine", EngineSettings, build, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
