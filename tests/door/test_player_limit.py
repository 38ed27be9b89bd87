"""A player who calls too often: refused by each service, told so in every language, and in the end not kept waiting."""

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import grpc
import pytest

from croupier.cli.background import BackgroundServices, started_services
from croupier.runtime.identity import (
    ENGINE_CONTROL_AUDIENCE,
    SCORING_CONTROL_AUDIENCE,
    TokenIssuer,
    load_private_key,
)
from croupier_api.v1.table_pb2 import Clock
from croupier_client import Client, Endpoints
from tests.door.doors import Door, counted
from tests.tables import opened_table
from tests.waiting import PATIENCE_SECONDS

RATE, BURST = 2, 6
FLAGS = (f"--player-calls-per-second={RATE}", f"--player-burst={BURST}")
SERVICES = ("lobby", "engine", "scoring")
MOST_CALLS = 60
pytestmark = [pytest.mark.gateway, pytest.mark.slow]
PATHS = {"lobby": "/v1/games", "engine": "/v1/tables/none/view", "scoring": "/v1/games/thulla/leaderboard"}


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BackgroundServices]:
    """Services with little patience."""
    path = tmp_path_factory.mktemp("limited")
    with started_services(path, door=[], extra_flags=dict.fromkeys(SERVICES, FLAGS)) as started:
        yield started


@pytest.fixture
def door(services: BackgroundServices) -> Door:
    return Door(services.addresses["door"]["listen"], None, services.folder.signing_key("lobby"))


def limited(services: BackgroundServices, service: str) -> dict[str, float]:
    """How much of each method's was refused or held back."""
    return counted(services, service, "croupier_rpc_limited_total")


@pytest.mark.parametrize("service", SERVICES)
def test_in_json(services: BackgroundServices, door: Door, service: str) -> None:
    token = door.token()
    answers = (door.ask("GET", PATHS[service], token=token) for _ in range(MOST_CALLS))
    answer = next(answer for answer in answers if answer.status == 429)
    info, retry = answer.json["details"]
    assert answer.json["code"] == grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]
    assert f"{RATE} calls a second" in answer.json["message"]
    assert info["reason"] == "TOO_MANY_CALLS"
    assert 0 < float(retry["retry_delay"].removesuffix("s")) <= 1 / RATE
    assert sum(limited(services, service).values()) >= 1


@pytest.mark.parametrize(
    ("service", "caller", "audience", "method"),
    [
        ("engine", "lobby", ENGINE_CONTROL_AUDIENCE, "EngineControlService/DescribeGames"),
        ("scoring", "engine", SCORING_CONTROL_AUDIENCE, "ScoringControlService/CheckAccess"),
    ],
)
async def test_services_call_each_other_as_often_as_they_like(
    services: BackgroundServices, service: str, caller: str, audience: str, method: str
) -> None:
    key = load_private_key(services.folder.signing_key(caller))
    token, _ = TokenIssuer(key, audience, 60, lambda: time.time_ns() // 1_000_000).issue(caller)
    async with grpc.aio.insecure_channel(services.addresses[service]["control"]) as channel:
        call: Any = channel.unary_unary(f"/croupier_api.v1.{method}")
        for _ in range(MOST_CALLS):
            await call(b"", metadata=(("authorization", f"Bearer {token}"),), timeout=PATIENCE_SECONDS)


async def test_the_client_waits_and_plays_on(services: BackgroundServices) -> None:
    endpoints = Endpoints.single(services.addresses["door"]["listen"])
    async with asyncio.timeout(PATIENCE_SECONDS), Client(endpoints, "a client in a hurry", "Ada") as client:
        before = limited(services, "lobby")["ListGames"]
        while limited(services, "lobby")["ListGames"] == before:
            answers = await asyncio.gather(*(client.list_games() for _ in range(BURST + 2)))
            assert all(answer.games for answer in answers)
        held_back = limited(services, "engine")["Play"]
        async with client.play(await opened_table(client, clock=Clock(bot_delay_milliseconds=1))) as table:
            while limited(services, "engine")["Play"] == held_back:
                assert await table.your_turn()
                await table.act(table.legal_actions.actions[0])
            assert table.resumes == 0
