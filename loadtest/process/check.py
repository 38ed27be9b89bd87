"""Whether there is a backend that this load test can judge."""

import asyncio
from collections.abc import Mapping, Sequence

import grpc

from croupier_client import CroupierError
from loadtest.judge.rules.catalogue import RULES_VERSION
from loadtest.mix import Kind
from loadtest.players.client import PlayerClient

ANSWER_SECONDS = 8.0
NO_ANSWER = f"the services did not answer within {ANSWER_SECONDS:g} seconds"
NOBODY = "no-such-table"


async def backend_fault(client: PlayerClient, games: Sequence[Kind]) -> str:
    """Why these services cannot be put under load, as one line; empty if they can."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            return await _fault(client, games)
    except CroupierError as error:
        return _told("lobby", error)
    except TimeoutError:
        return NO_ANSWER


async def _fault(client: PlayerClient, games: Sequence[Kind]) -> str:
    await client.sign_in()
    offered = {one.game: one.rules_version for one in (await client.list_games()).games}
    calls = {"engine": client.get_view, "scoring": client.get_score_sheet}
    for service, call in calls.items():
        try:
            await call(table_id=NOBODY)
        except CroupierError as error:
            if error.code is not grpc.StatusCode.NOT_FOUND:
                return _told(service, error)
    return _games_fault(offered, games)


def _games_fault(offered: Mapping[str, int], games: Sequence[Kind]) -> str:
    for kind in games:
        if kind.game not in offered:
            return f"the lobby does not offer {kind.game}: leave it out of --mix"
        played = offered[kind.game]
        if played != RULES_VERSION:
            return f"the engine plays version {played} of {kind.game}, the judge knows version {RULES_VERSION}"
    return ""


def _told(service: str, error: CroupierError) -> str:
    if error.code is grpc.StatusCode.UNIMPLEMENTED:
        return f"the {service} does not speak croupier_api.v1: it is another version, or another program"
    return f"the {service} does not serve: {error}"
