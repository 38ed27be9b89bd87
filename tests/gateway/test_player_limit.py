"""Each service refuses a player who calls too often, by JSON and gRPC, and the client waits and retries."""

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import grpc
import pytest

from croupier.cli.launcher.background import BackgroundServices, started_services
from croupier.runtime.identity.tokens import (
    ENGINE_CONTROL_AUDIENCE,
    SCORING_CONTROL_AUDIENCE,
    TokenIssuer,
    load_private_key,
)
from croupier_client import Client, Endpoints
from tests.gateway.harness import Gateway, metric_sums
from tests.tables import QUICK_BOTS, opened_table
from tests.waiting import TIMEOUT_SECONDS

RATE, BURST = 2, 6
FLAGS = (f"--player-calls-per-second={RATE}", f"--player-burst={BURST}")
SERVICES = ("lobby", "engine", "scoring")
MAX_CALLS = 60
pytestmark = [pytest.mark.gateway, pytest.mark.slow]
COSTS = {"lobby": 1, "engine": 2, "scoring": 10}
PATHS = {"lobby": "/v1/games", "engine": "/v1/tables/none/view", "scoring": "/v1/games/thulla/leaderboard"}


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BackgroundServices]:
    """Start services with a low limit."""
    path = tmp_path_factory.mktemp("limited")
    with started_services(path, gateway=[], extra_flags=dict.fromkeys(SERVICES, FLAGS)) as started:
        yield started


@pytest.fixture
def gateway(services: BackgroundServices) -> Gateway:
    return Gateway(services.addresses["gateway"]["listen"], None, services.folder.signing_key("lobby"))


def limited(services: BackgroundServices, service: str) -> dict[str, float]:
    """Return the number of limited calls by method."""
    return metric_sums(services, service, "croupier_rpc_limited_total")


@pytest.mark.parametrize("service", SERVICES)
def test_in_json(services: BackgroundServices, gateway: Gateway, service: str) -> None:
    token = gateway.token()
    answers = (gateway.ask("GET", PATHS[service], token=token) for _ in range(MAX_CALLS))
    answer = next(answer for answer in answers if answer.status == 429)
    info, retry = answer.json["details"]
    assert answer.json["code"] == grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]
    assert f"at most {RATE} units per second" in answer.json["message"]
    assert info["reason"] == "TOO_MANY_REQUESTS"
    assert info["metadata"] == {"limit": "player_calls"}
    assert 0 < float(retry["retry_delay"].removesuffix("s")) <= COSTS[service] / RATE
    assert sum(limited(services, service).values()) >= 1


@pytest.mark.parametrize(
    ("service", "caller", "audience", "method"),
    [
        ("engine", "lobby", ENGINE_CONTROL_AUDIENCE, "croupier_internal.v1.EngineControlService/DescribeGames"),
        ("scoring", "engine", SCORING_CONTROL_AUDIENCE, "croupier_internal.v1.ScoringControlService/CheckAccess"),
    ],
)
async def test_calls_between_services_are_not_limited(
    services: BackgroundServices, service: str, caller: str, audience: str, method: str
) -> None:
    key = load_private_key(services.folder.signing_key(caller))
    token, _ = TokenIssuer(key, audience, 60, lambda: time.time_ns() // 1_000_000).issue(caller)
    async with grpc.aio.insecure_channel(services.addresses[service]["control"]) as channel:
        call: Any = channel.unary_unary(f"/{method}")
        for _ in range(MAX_CALLS):
            await call(b"", metadata=(("authorization", f"Bearer {token}"),), timeout=TIMEOUT_SECONDS)


async def test_the_client_waits_and_continues(services: BackgroundServices) -> None:
    endpoints = Endpoints.single(services.addresses["gateway"]["listen"])
    async with asyncio.timeout(TIMEOUT_SECONDS), Client(endpoints, "a client in a hurry", "Ada") as client:
        before = limited(services, "lobby")["ListGames"]
        while limited(services, "lobby")["ListGames"] == before:
            answers = await asyncio.gather(*(client.list_games() for _ in range(BURST + 2)))
            assert all(answer.games for answer in answers)
        delayed = limited(services, "engine")["PlayTable"]
        async with client.play_table(await opened_table(client, time_control=QUICK_BOTS)) as table:
            while limited(services, "engine")["PlayTable"] == delayed:
                assert await table.wait_for_turn()
                await table.submit_action(table.legal_actions.actions[0])
            assert table.resume_count == 0
