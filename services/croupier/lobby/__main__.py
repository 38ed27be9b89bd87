"""Run the lobby: python -m croupier.lobby."""

import asyncio
import secrets
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial

from prometheus_client import CollectorRegistry

from croupier.lobby.accounts.provider_keys import ProviderKeys, reader_of
from croupier.lobby.api.engine_channel import EngineChannel, KeyRefused
from croupier.lobby.api.servicer import OPEN_METHODS, SERVICE_NAME
from croupier.lobby.assembly import assemble
from croupier.lobby.settings import LobbySettings
from croupier.runtime.admission.budget import Budget
from croupier.runtime.admission.limits import limits_of
from croupier.runtime.errors import ServiceError
from croupier.runtime.identity.tokens import (
    ENGINE_CONTROL_AUDIENCE,
    PLAYER_AUDIENCE,
    SERVICE_TOKEN_SECONDS,
    TokenIssuer,
    TokenVerifier,
    load_private_key,
)
from croupier.runtime.observation.metrics import RpcMetrics
from croupier.runtime.observation.outage_log import OutageLog
from croupier.runtime.server.addresses import addresses_of
from croupier.runtime.server.channels import open_channel
from croupier.runtime.server.program import SettingsError
from croupier.runtime.server.service import Port, Resources, Service, now_milliseconds, run_service
from croupier.runtime.tls.tls import Tls

KEY_RETRY_SECONDS = 1.0


def build(settings: LobbySettings, resources: Resources) -> Service:
    """Wire the lobby; raises SettingsError for an unusable key."""
    key, logger, registry = load_private_key(settings.signing_key), resources.logger, CollectorRegistry()
    issuer = TokenIssuer(key, ENGINE_CONTROL_AUDIENCE, SERVICE_TOKEN_SECONDS, now_milliseconds)
    channel = resources.channel(settings.engine_control, "engine")
    outages = resources.outages_of("the engine")
    engine = EngineChannel(channel, issuer, settings.engine_timeout_seconds, outages)
    random, limits = secrets.SystemRandom(), limits_of(settings, time.monotonic_ns)
    sign_ins = Budget("sign_ins", settings.sign_ins_per_second, settings.sign_in_burst, time.monotonic_ns)
    keys = _provider_keys(settings, resources)
    lobby = assemble(
        settings, resources.database, engine, key, random, now_milliseconds, sign_ins, registry, logger, keys
    )
    verifier = TokenVerifier(key.public_key(), PLAYER_AUDIENCE, now_milliseconds)

    async def leave(_grace_seconds: float) -> None:
        lobby.end_streams()

    return Service(
        ports=(Port("listen", settings.listen, SERVICE_NAME, lobby.servicer.add_to, verifier, OPEN_METHODS, limits),),
        registry=registry,
        rpc_metrics=RpcMetrics(registry),
        check_access=partial(check_keys, settings, issuer, resources.tls, outages),
        tasks=lobby.background_tasks,
        leave=leave,
    )


def _provider_keys(settings: LobbySettings, resources: Resources) -> ProviderKeys | None:
    """Return the keys of the identity provider, if there is one."""
    if not settings.oidc_issuer:
        return None
    return ProviderKeys(reader_of(settings.oidc_jwks), resources.outages_of("the identity provider"))


async def check_keys(settings: LobbySettings, issuer: TokenIssuer, tls: Tls | None, outages: OutageLog) -> None:
    """Ask each engine until it answers; raises SettingsError as soon as one refuses the key."""
    async with AsyncExitStack() as stack:
        unchecked = {}
        for address in addresses_of(settings.engine_control):
            channel = await stack.enter_async_context(open_channel(address, tls, "engine"))
            unchecked[address] = EngineChannel(channel, issuer, settings.engine_timeout_seconds, outages)
        while unchecked:
            for address, engine in list(unchecked.items()):
                try:
                    await engine.describe_games()
                    del unchecked[address]
                except KeyRefused:
                    raise SettingsError(
                        f"the engine at {address} does not accept this lobby's key: give it the public key of"
                        f" {settings.signing_key} as --lobby-public-key, and check the clocks of both machines"
                    ) from None
                except ServiceError:
                    continue
            if unchecked:
                await asyncio.sleep(KEY_RETRY_SECONDS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until stopped and return the exit code."""
    return run_service("lobby", LobbySettings, build, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
