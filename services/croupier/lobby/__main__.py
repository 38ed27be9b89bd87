"""Run the lobby: python -m croupier.lobby."""

import secrets
import time
from collections.abc import Sequence
from functools import partial

from prometheus_client import CollectorRegistry

from croupier.lobby.assembly import assemble
from croupier.lobby.engine_channel import EngineChannel
from croupier.lobby.engine_keys import check_keys
from croupier.lobby.servicer import OPEN_METHODS, SERVICE_NAME
from croupier.lobby.settings import LobbySettings
from croupier.runtime.admission.budget import Budget
from croupier.runtime.admission.limits import limits_of
from croupier.runtime.identity import (
    ENGINE_CONTROL_AUDIENCE,
    PLAYER_AUDIENCE,
    SERVICE_TOKEN_SECONDS,
    TokenIssuer,
    TokenVerifier,
    load_private_key,
)
from croupier.runtime.metrics import RpcMetrics
from croupier.runtime.service import Port, Resources, Service, now_milliseconds, run_service


def build(settings: LobbySettings, resources: Resources) -> Service:
    """Wire the lobby; raises SettingsError for an unusable key."""
    key, logger, registry = load_private_key(settings.signing_key), resources.logger, CollectorRegistry()
    issuer = TokenIssuer(key, ENGINE_CONTROL_AUDIENCE, SERVICE_TOKEN_SECONDS, now_milliseconds)
    channel = resources.channel(settings.engine_control, "engine")
    outages = resources.outages_of("the engine")
    engine = EngineChannel(channel, issuer, settings.engine_timeout_seconds, outages)
    random, limits = secrets.SystemRandom(), limits_of(settings, time.monotonic_ns)
    sign_ins = Budget("sign_ins", settings.sign_ins_per_second, settings.sign_in_burst, time.monotonic_ns)
    lobby = assemble(settings, resources.database, engine, key, random, now_milliseconds, sign_ins, registry, logger)
    verifier = TokenVerifier(key.public_key(), PLAYER_AUDIENCE, now_milliseconds)

    async def leave(_grace_seconds: float) -> None:
        lobby.end_streams()

    return Service(
        ports=(
            Port(
                "listen",
                settings.listen,
                SERVICE_NAME,
                lobby.add_to,
                verifier,
                OPEN_METHODS,
                limits,
            ),
        ),
        registry=registry,
        rpc_metrics=RpcMetrics(registry),
        check_access=partial(check_keys, settings, issuer, resources.tls, outages),
        tasks=lobby.background_tasks(),
        leave=leave,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until stopped and return the exit code."""
    return run_service("lobby", LobbySettings, build, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
