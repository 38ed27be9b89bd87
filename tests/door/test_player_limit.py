"""A player who calls too often: refused by each service, told so in every language, and in the end not kept waiting."""

import asyncio
import time
import urllib.request
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
from croupier_api.v1 import engine_pb2, lobby_pb2
from croupier_api.v1.engine_pb2 import DescribeGamesRequest
from croupier_api.v1.engine_pb2_grpc import EngineServiceStub
from croupier_api.v1.lobby_pb2_grpc import LobbyServiceStub
from croupier_api.v1.scoring_pb2 import CheckAccessRequest
from croupier_api.v1.table_pb2 import Clock
from croupier_client import Client, Endpoints
from croupier_client.errors import from_rpc_error
from tests.door.doors import CALL_SECONDS, Answer, Door
from tests.tables import opened_table
from tests.waiting import until

RATE, BURST = 2, 6
FLAGS = (f"--player-calls-per-second={RATE}", f"--player-burst={BURST}")
SERVICES = ("lobby", "engine", "scoring")
MOST_CALLS = 60
DEADLINE_SECONDS = 60.0
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
    with urllib.request.urlopen(f"http://{services.addresses[service]['metrics']}/metrics", timeout=10) as page:
        lines = page.read().decode().splitlines()
    counted = [line.rpartition(" ") for line in lines if line.startswith("croupier_rpc_limited_total{")]
    return {labels.split('"')[1].rpartition("/")[2]: float(value) for labels, _, value in counted}


def first_limited(door: Door, path: str) -> Answer:
    token = door.token()
    for _ in range(MOST_CALLS):
        answer = door.ask("GET", path, token=token)
        if answer.status == 429:
            return answer
    raise AssertionError(f"{path} can be asked without end")


@pytest.mark.parametrize("service", SERVICES)
def test_in_json(services: BackgroundServices, door: Door, service: str) -> None:
    answer = first_limited(door, PATHS[service])
    info, retry = answer.json["details"]
    assert answer.json["code"] == grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]
    assert f"{RATE} calls a second" in answer.json["message"]
    assert info["reason"] == "TOO_MANY_CALLS"
    assert 0 < float(retry["retry_delay"].removesuffix("s")) <= 1 / RATE
    assert sum(limited(services, service).values()) >= 1


def test_over_grpc(door: Door) -> None:
    metadata = (("authorization", f"Bearer {door.token()}"),)
    with grpc.insecure_channel(door.address) as channel:
        call: Any = LobbyServiceStub(channel).ListGames
        for _ in range(MOST_CALLS):
            try:
                call(lobby_pb2.ListGamesRequest(), metadata=metadata, timeout=CALL_SECONDS)
            except grpc.RpcError as error:
                refusal = from_rpc_error(error)
                break
        else:
            pytest.fail("games can be asked for without end")
    assert (refusal.code, refusal.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_MANY_CALLS")
    assert 0 < refusal.retry_after_seconds <= 1 / RATE


@pytest.mark.parametrize(
    ("service", "caller", "audience", "method", "request_type"),
    [
        ("engine", "lobby", ENGINE_CONTROL_AUDIENCE, "EngineControlService/DescribeGames", DescribeGamesRequest),
        ("scoring", "engine", SCORING_CONTROL_AUDIENCE, "ScoringControlService/CheckAccess", CheckAccessRequest),
    ],
)
async def test_services_call_each_other_as_often_as_they_like(
    services: BackgroundServices, service: str, caller: str, audience: str, method: str, request_type: type[Any]
) -> None:
    key = load_private_key(services.folder.signing_key(caller))
    token, _ = TokenIssuer(key, audience, 60, lambda: time.time_ns() // 1_000_000).issue(caller)
    async with grpc.aio.insecure_channel(services.addresses[service]["control"]) as channel:
        call: Any = channel.unary_unary(f"/croupier_api.v1.{method}")
        request, metadata = request_type().SerializeToString(), (("authorization", f"Bearer {token}"),)
        for _ in range(MOST_CALLS):
            await call(request, metadata=metadata, timeout=CALL_SECONDS)


async def test_the_client_waits_and_plays_on(services: BackgroundServices) -> None:
    endpoints = Endpoints.single(services.addresses["door"]["listen"])
    async with asyncio.timeout(DEADLINE_SECONDS), Client(endpoints, "a client in a hurry", "Ada") as client:
        refused, held_back = limited(services, "lobby").get("ListGames", 0), limited(services, "engine").get("Play", 0)
        while limited(services, "lobby").get("ListGames", 0) == refused:
            answers = await asyncio.gather(*(client.list_games() for _ in range(BURST + 2)))
            assert all(answer.games for answer in answers)
        async with client.play(await opened_table(client, clock=Clock(bot_delay_milliseconds=1))) as table:
            while limited(services, "engine").get("Play", 0) == held_back:
                for _ in range(BURST + 1):
                    assert await table.your_turn()
                    await table.act(table.legal_actions.actions[0])
            assert table.resumes == 0


async def test_a_flood_in_a_stream_holds_up_nobody_else(services: BackgroundServices, door: Door) -> None:
    endpoints = Endpoints.single(door.address)
    async with (
        asyncio.timeout(DEADLINE_SECONDS),
        Client(endpoints, "a client that never stops", "Bo") as client,
        grpc.aio.insecure_channel(door.address) as channel,
    ):
        table_id = await opened_table(client)
        tokens = client.session.tokens
        assert tokens is not None
        metadata = (("authorization", f"Bearer {tokens.access_token}"), ("x-table-id", table_id))
        call: Any = EngineServiceStub(channel).Play(metadata=metadata)
        await call.write(engine_pb2.PlayRequest(watch=engine_pb2.WatchTableRequest(table_id=table_id)))
        before, began = limited(services, "engine").get("Play", 0), time.monotonic()
        flooding = asyncio.create_task(flood(call))
        await until(lambda: limited(services, "engine").get("Play", 0) >= before + 2)
        for _ in range(20):
            answer = await asyncio.to_thread(door.ask, "GET", PATHS["engine"], token=door.token())
            assert answer.status in (404, 429)
        held_back = limited(services, "engine")["Play"] - before
        assert held_back <= RATE * (time.monotonic() - began) + BURST
        assert not flooding.done()
        flooding.cancel()
        call.cancel()


async def flood(call: Any) -> None:
    """Send the largest messages for as long as they are taken."""
    action = engine_pb2.SubmitActionRequest(request_id="x" * 60_000)
    while True:
        await call.write(engine_pb2.PlayRequest(action=action))
