"""The check at the start that every engine knows this lobby's key."""

import asyncio
from contextlib import AsyncExitStack

from croupier.lobby.engine_channel import EngineChannel, KeyRefused
from croupier.lobby.settings import LobbySettings
from croupier.runtime.addresses import addresses_of
from croupier.runtime.channels import open_channel
from croupier.runtime.errors import ServiceError
from croupier.runtime.identity import TokenIssuer
from croupier.runtime.outage_log import OutageLog
from croupier.runtime.program import SettingsError
from croupier.runtime.tls import Tls

RETRY_SECONDS = 1.0


async def check_keys(settings: LobbySettings, issuer: TokenIssuer, tls: Tls | None, outages: OutageLog) -> None:
    """Ask each engine until it answers; raises SettingsError as soon as one refuses the key."""
    async with AsyncExitStack() as stack:
        unchecked = {}
        for address in addresses_of(settings.engine_control):
            channel = await stack.enter_async_context(open_channel(address, tls, "engine"))
            unchecked[address] = EngineChannel(channel, issuer, settings.engine_timeout_seconds, outages)
        while unchecked:
            for address, engine in list(unchecked.items()):
                if await _accepts_key(engine, address, settings):
                    del unchecked[address]
            if unchecked:
                await asyncio.sleep(RETRY_SECONDS)


async def _accepts_key(engine: EngineChannel, address: str, settings: LobbySettings) -> bool:
    try:
        await engine.describe_games()
    except KeyRefused:
        raise SettingsError(
            f"the engine at {address} does not accept this lobby's key: give it the public key of"
            f" {settings.signing_key} as --lobby-public-key, and check the clocks of both machines"
        ) from None
    except ServiceError:
        return False
    return True
