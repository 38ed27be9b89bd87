"""One action, seen from the client's own trace or the gateway to the commit, the streams and the ledger."""

import asyncio
import json
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import grpc
import pytest

from croupier.cli.launcher.supervisor import Services, SupervisorSettings, running_services
from croupier.cli.services import endpoints_of
from croupier_api.v1 import engine_pb2, engine_pb2_grpc, lobby_pb2, lobby_pb2_grpc
from croupier_client.aio import Client
from croupier_client.aio_table import AsyncTable
from croupier_client.bots import choose_random_action, play_game
from tests.collector import OF_ENVOY, TOLD, Collector, Observation, collecting
from tests.tables import has_result, opened_table
from tests.waiting import until

DEADLINE_SECONDS = 120.0
NAME = "Ada of Trondheim"
DEVICE_SECRET = "a device that nobody is to know"
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TRACEPARENT = ("traceparent", f"00-{TRACE}-{PARENT}-01")
WITH_GATEWAY = SupervisorSettings(gateway=lambda _: [])
pytestmark = pytest.mark.gateway
ENDPOINT, GATEWAY_COLLECTOR = "CROUPIER_TRACES_ENDPOINT", "CROUPIER_TRACES_COLLECTOR"
REFUSAL = "invalid action: expected exactly one verb"
ENGINE = "croupier_api.v1.EngineService"
CONTROL, LEDGER = "croupier_internal.v1.EngineControlService", "croupier_internal.v1.ScoringControlService"


async def access_token(lobby: str) -> str:
    """Another token of the same player, who signs in at the lobby once more."""
    async with grpc.aio.insecure_channel(lobby) as channel:
        sign_in: Any = lobby_pb2_grpc.LobbyServiceStub(channel).SignIn
        answer = await sign_in(lobby_pb2.SignInRequest(device_secret=DEVICE_SECRET), timeout=DEADLINE_SECONDS)
    return str(answer.tokens.access_token)


async def act(address: str, token: str, table: AsyncTable) -> int:
    """One action by a call of its own, as part of a trace that began at the client, and one that is refused."""
    assert await table.wait_for_turn()
    request = engine_pb2.SubmitActionRequest(
        table_id=table.table_id,
        action=choose_random_action(table, Random(1)),
        request_id=f"a traced action by {address}",
    )
    metadata = (("authorization", f"Bearer {token}"), TRACEPARENT)
    async with grpc.aio.insecure_channel(address) as channel:
        submit: Any = engine_pb2_grpc.EngineServiceStub(channel).SubmitAction
        sequence: int = (await submit(request, metadata=metadata)).sequence
        with pytest.raises(grpc.aio.AioRpcError, match=REFUSAL):
            await submit(engine_pb2.SubmitActionRequest(table_id=table.table_id, request_id="r"), metadata=metadata)
    return sequence


async def play(services: Services) -> tuple[str, str, int, int]:
    """A table from its first call to its result; gives it, its player and the sequences of two actions.

    The first went to the engine with a trace of its own, the second by the gateway.
    """
    engine, gateway = (services.addresses[name]["listen"] for name in ("engine", "gateway"))
    async with Client(endpoints_of(services.addresses), DEVICE_SECRET, NAME) as client:
        table_id = await opened_table(client)
        token = await access_token(services.addresses["lobby"]["listen"])
        async with client.play_table(table_id) as table:
            direct, by_gateway = await act(engine, token, table), await act(gateway, token, table)
            seed = Random(1)
            await play_game(table, lambda seen: choose_random_action(seen, seed))
        await until(partial(has_result, client))
    assert client.player is not None
    return table_id, client.player.player_id, direct, by_gateway


def check_client(seen: list[Observation], table_id: str, sequence: int) -> None:
    """The whole trace began at the client."""
    calls = [each for each in seen if each.trace.hex() == TRACE and each.name == f"{ENGINE}/SubmitAction"]
    assert sorted(str(each.told["rpc.response.status_code"]) for each in calls) == ["INVALID_ARGUMENT", "OK"]
    call = check_action(seen, table_id, sequence)
    assert (call.trace.hex(), call.parent.hex()) == (TRACE, PARENT)


def check_gateway(seen: list[Observation], of_envoy: list[Observation], table_id: str, sequence: int) -> None:
    """The trace began at the gateway, whatever the client said."""
    call = check_action(seen, table_id, sequence)
    [gateway] = [each for each in of_envoy if each.id == call.parent]
    assert (gateway.service, gateway.name, gateway.parent) == ("croupier-gateway", f"{ENGINE}/SubmitAction", b"")
    assert gateway.trace == call.trace != bytes.fromhex(TRACE)
    # Names and values as the collector's configuration expects them: tests/gateway/test_collector.py.
    assert {name: gateway.told[name] for name in OF_ENVOY} == OF_ENVOY


def check_action(seen: list[Observation], table_id: str, sequence: int) -> Observation:
    """An action is whole, from the engine's call, which is given, to the commit and the streams."""
    [acted] = [each for each in seen if each.name == "act" and each.told["croupier.sequence"] == sequence]
    mine = {each.name: each for each in seen if each.parent == acted.id} | {"act": acted}
    [call] = [each for each in seen if each.id == acted.parent]
    assert (call.service, call.name) == ("croupier-engine", f"{ENGINE}/SubmitAction")
    parents = {"act": call, "decide": mine["act"], "append": mine["act"], "publish": mine["act"]}
    assert {name: mine[name].parent for name in parents} == {name: parent.id for name, parent in parents.items()}
    assert mine["act"].told == {"croupier.table_id": table_id, "croupier.game": "thulla", "croupier.sequence": sequence}
    # It may have been another action's append that the commit began with.
    [commit] = [each for each in seen if each.id in mine["append"].linked]
    assert (commit.name, mine["append"].id in commit.linked) == ("commit", True)
    assert commit.span.end_time_unix_nano <= mine["publish"].span.start_time_unix_nano
    return call


def check_ways(seen: list[Observation]) -> None:
    """Calls from service to service are parts of one trace."""
    by_id = {each.id: each for each in seen}
    ways = {
        (by_id[each.parent].service, by_id[each.parent].name, each.service, each.name)
        for each in seen
        if each.parent in by_id
    }
    assert ("croupier-lobby", f"{CONTROL}/PrepareTable", "croupier-engine", f"{CONTROL}/PrepareTable") in ways
    assert ("croupier-engine", f"{LEDGER}/RecordResult", "croupier-scoring", f"{LEDGER}/RecordResult") in ways
    # What is done in a stream is part of its trace.
    assert ("croupier-engine", f"{ENGINE}/PlayTable", "croupier-engine", "act") in ways


def check_nothing_hidden(collector: Collector, player_id: str) -> None:
    assert {each.service for each in collector.seen} == {"croupier-lobby", "croupier-engine", "croupier-scoring"}
    assert all(each.told.keys() <= TOLD for each in collector.seen)
    for secret in (NAME, DEVICE_SECRET, player_id, "a traced action", "Bearer", "eyJ", REFUSAL):
        assert secret.encode() not in collector.raw


def check_log(services: Services) -> None:
    lines = [json.loads(line) for line in services.folder.log_file("engine").read_text().splitlines()]
    [refused] = [line for line in lines if line.get("trace_id") == TRACE]
    assert (refused["event"], len(refused["span_id"])) == ("call refused", 16)


async def test_one_action_is_seen_from_the_client_to_the_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS), collecting() as collector, collecting() as beside_envoy:
        monkeypatch.setenv(ENDPOINT, collector.address)
        monkeypatch.setenv(GATEWAY_COLLECTOR, beside_envoy.address)
        async with running_services(tmp_path, settings=WITH_GATEWAY) as services:
            table_id, player_id, direct, by_gateway = await play(services)
            # The gateway reports its two calls by itself, whether it ends or not.
            await until(lambda: len(beside_envoy.seen) >= 2)
        # The services have ended, and with that handed over what they had.
        check_client(collector.seen, table_id, direct)
        check_gateway(collector.seen, beside_envoy.seen, table_id, by_gateway)
        check_ways(collector.seen)
        check_nothing_hidden(collector, player_id)
        check_log(services)
