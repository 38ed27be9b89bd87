"""Each service refuses a player who calls too often, and no other service."""

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
from tests.gateway.harness import Gateway, metric_values
from tests.waiting import TIMEOUT_SECONDS

RATE = 2
FLAGS = (f"--player-calls-per-second={RATE}", "--player-burst=6")
SERVICES = ("lobby", "engine", "scoring")
MAX_CALLS = 60
pytestmark = [pytest.mark.gateway, pytest.mark.slow]
# The games with all their words are an answer of 27 KB, which costs six more units.
COSTS = {"lobby": 7, "engine": 2, "scoring": 10}
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


@pytest.mark.parametrize("service", SERVICES)
def test_a_player_who_calls_too_often_is_refused(services: BackgroundServices, gateway: Gateway, service: str) -> None:
    token = gateway.token()
    answers = (gateway.ask("GET", PATHS[service], token=token) for _ in range(MAX_CALLS))
    answer = next(answer for answer in answers if answer.status == 429)
    info, retry = answer.json["details"]
    assert answer.json["code"] == grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]
    assert f"at most {RATE} units per second" in answer.json["message"]
    assert info["reason"] == "TOO_MANY_REQUESTS"
    assert info["metadata"] == {"limit": "player_calls"}
    assert 0 < float(retry["retry_delay"].removesuffix("s")) <= COSTS[service] / RATE
    assert sum(metric_values(services.addresses[service]["metrics"], "croupier_rpc_limited_total{.*}")) >= 1


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
