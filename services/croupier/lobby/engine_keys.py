"""Whether every engine knows this lobby's key: asked at the start, until each has answered."""

import asyncio
from contextlib import AsyncExitStack

from croupier.lobby.engine_channel import EngineChannel, KeyRefused
from croupier.lobby.settings import LobbySettings
from croupier.runtime.addresses import addresses_of
from croupier.runtime.channels import open_channel
from croupier.runtime.errors import ServiceError
from croupier.runtime.identity import TokenIssuer
from croupier.runtime.logs import Logger
from croupier.runtime.tls import Tls

PAUSE_SECONDS = 1.0


async def check_keys(settings: LobbySettings, issuer: TokenIssuer, tls: Tls | None, logger: Logger) -> None:
    """Ask each engine until it answers; raises ValueError as soon as one refuses the key."""
    async with AsyncExitStack() as stack:
        silent = {}
        for address in addresses_of(settings.engine_control):
            channel = await stack.enter_async_context(open_channel(address, tls, "engine"))
            silent[address] = EngineChannel(channel, issuer, settings.engine_timeout_seconds, logger)
        while silent:
            for address, engine in list(silent.items()):
                if await _takes_key(engine, address, settings):
                    del silent[address]
            if silent:
                await asyncio.sleep(PAUSE_SECONDS)


async def _takes_key(engine: EngineChannel, address: str, settings: LobbySettings) -> bool:
    try:
        await engine.describe_games()
    except KeyRefused:
        raise ValueError(
            f"the engine at {address} does not take this lobby's key: give it the public key of {settings.signing_key}"
            " as --lobby-public-key, and see that the clocks of both machines are right"
        ) from None
    except ServiceError:
        return False
    return True
