"""Checks that the services can be load tested and judged."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import grpc

from croupier_client import CroupierError, NotFound
from loadtest.judge.rules.registry import RULES_VERSION
from loadtest.mix import MixEntry
from loadtest.players.client import PlayerClient

ANSWER_SECONDS = 8.0
NO_ANSWER = f"the services did not answer within {ANSWER_SECONDS:g} seconds"
UNKNOWN_TABLE = "no-such-table"


async def backend_fault(client: PlayerClient, games: Sequence[MixEntry]) -> str:
    """Return the reason why these services cannot be load tested, as one line; empty for none."""
    service = "lobby"
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            await client.sign_in()
            offered = {one.game: one.rules_version for one in (await client.list_games()).games}
            service = "engine"
            with suppress(NotFound):
                await client.get_view(table_id=UNKNOWN_TABLE)
            service = "scoring"
            with suppress(NotFound):
                await client.get_score_sheet(table_id=UNKNOWN_TABLE)
    except CroupierError as error:
        if error.code is grpc.StatusCode.UNIMPLEMENTED:
            return f"the {service} does not serve croupier_api.v1: it is another version, or another program"
        return f"the {service} does not serve: {error}"
    except TimeoutError:
        return NO_ANSWER
    for entry in games:
        if entry.game not in offered:
            return f"the lobby does not offer {entry.game}: remove it from --mix"
        version = offered[entry.game]
        if version != RULES_VERSION:
            return f"the engine plays version {version} of {entry.game}, the judge knows version {RULES_VERSION}"
    return ""
