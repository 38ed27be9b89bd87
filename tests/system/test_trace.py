"""The trace of an action has all spans, from the client or the gateway to the commit, the streams and the ledger."""

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
from croupier_api.v1 import engine_pb2, engine_pb2_grpc
from croupier_client.aio import Client
from croupier_client.aio_table import AsyncTable
from croupier_client.bots import choose_random_action, play_game
from tests.collector import ALLOWED, OF_ENVOY, PARENT, SAMPLED, TRACE, Collector, ReceivedSpan, collecting
from tests.tables import has_result, opened_table
from tests.waiting import until

DEADLINE_SECONDS = 120.0
NAME = "Ada of Trondheim"
DEVICE_SECRET = "the secret of a device"
WITH_GATEWAY = SupervisorSettings(gateway=lambda _: [], is_paced=False)
pytestmark = pytest.mark.gateway
ENDPOINT, GATEWAY_COLLECTOR = "CROUPIER_TRACES_ENDPOINT", "CROUPIER_TRACES_COLLECTOR"
REFUSAL = "invalid action: expected exactly one verb"
ENGINE = "croupier_api.v1.EngineService"
CONTROL, LEDGER = "croupier_internal.v1.EngineControlService", "croupier_internal.v1.ScoringControlService"


async def act(address: str, token: str, table: AsyncTable) -> int:
    """Submit an action with a trace of the client, and one that is refused; returns the first one's sequence."""
    assert await table.wait_for_turn()
    request = engine_pb2.SubmitActionRequest(
        table_id=table.table_id,
        action=choose_random_action(table, Random(1)),
        request_id=f"a traced action by {address}",
    )
    metadata = (("authorization", f"Bearer {token}"), ("traceparent", SAMPLED))
    async with grpc.aio.insecure_channel(address) as channel:
        submit: Any = engine_pb2_grpc.EngineServiceStub(channel).SubmitAction
        sequence: int = (await submit(request, metadata=metadata)).sequence
        with pytest.raises(grpc.aio.AioRpcError, match=REFUSAL):
            await submit(engine_pb2.SubmitActionRequest(table_id=table.table_id, request_id="r"), metadata=metadata)
    return sequence


async def play(services: Services) -> tuple[str, int, int]:
    """Play a whole table; returns its player's id and the sequences of two actions.

    The first was sent to the engine, the second to the gateway.
    """
    engine, gateway = (services.addresses[name]["listen"] for name in ("engine", "gateway"))
    async with Client(endpoints_of(services.addresses), DEVICE_SECRET, NAME) as client:
        table_id = await opened_table(client)
        assert client.session.tokens is not None
        token = client.session.tokens.access_token
        async with client.play_table(table_id) as table:
            direct, by_gateway = await act(engine, token, table), await act(gateway, token, table)
            seed = Random(1)
            await play_game(table, lambda seen: choose_random_action(seen, seed))
        await until(partial(has_result, client))
    assert client.player is not None
    return client.player.player_id, direct, by_gateway


def check_client(seen: list[ReceivedSpan], sequence: int) -> None:
    calls = [each for each in seen if each.trace.hex() == TRACE and each.name == f"{ENGINE}/SubmitAction"]
    assert sorted(str(each.attributes["rpc.response.status_code"]) for each in calls) == ["INVALID_ARGUMENT", "OK"]
    call = check_action(seen, sequence)
    assert (call.trace.hex(), call.parent.hex()) == (TRACE, PARENT)


def check_gateway(seen: list[ReceivedSpan], of_envoy: list[ReceivedSpan], sequence: int) -> None:
    """Check that the trace began at the gateway, despite that of the client."""
    call = check_action(seen, sequence)
    [gateway] = [each for each in of_envoy if each.id == call.parent]
    assert (gateway.service, gateway.name, gateway.parent) == ("croupier-gateway", f"{ENGINE}/SubmitAction", b"")
    assert gateway.trace == call.trace != bytes.fromhex(TRACE)
    # Names and values as the collector's configuration expects them: tests/gateway/test_collector.py.
    assert {name: gateway.attributes[name] for name in OF_ENVOY} == OF_ENVOY


def check_action(seen: list[ReceivedSpan], sequence: int) -> ReceivedSpan:
    """Check that the action and its parts, down to the commit, have been exported; returns the engine's call."""
    [acted] = [each for each in seen if each.name == "act" and each.attributes["croupier.sequence"] == sequence]
    parts = {each.name: each for each in seen if each.parent == acted.id}
    assert parts.keys() == {"decide", "append", "publish"}
    [commit] = [each for each in seen if each.id in parts["append"].linked]
    assert (commit.name, parts["append"].id in commit.linked) == ("commit", True)
    [call] = [each for each in seen if each.id == acted.parent]
    assert (call.service, call.name) == ("croupier-engine", f"{ENGINE}/SubmitAction")
    return call


def check_calls_between_services(seen: list[ReceivedSpan]) -> None:
    by_id = {each.id: each for each in seen}
    calls = {
        (by_id[each.parent].service, by_id[each.parent].name, each.service, each.name)
        for each in seen
        if each.parent in by_id
    }
    assert ("croupier-lobby", f"{CONTROL}/PrepareTable", "croupier-engine", f"{CONTROL}/PrepareTable") in calls
    assert ("croupier-engine", f"{LEDGER}/RecordResult", "croupier-scoring", f"{LEDGER}/RecordResult") in calls
    # An action in a stream is part of its trace.
    assert ("croupier-engine", f"{ENGINE}/PlayTable", "croupier-engine", "act") in calls


def check_nothing_hidden(collector: Collector, player_id: str) -> None:
    assert {each.service for each in collector.seen} == {"croupier-lobby", "croupier-engine", "croupier-scoring"}
    assert all(each.attributes.keys() <= ALLOWED for each in collector.seen)
    for secret in (NAME, DEVICE_SECRET, player_id, "a traced action", "Bearer", "eyJ", REFUSAL):
        assert secret.encode() not in collector.raw


def check_log(services: Services) -> None:
    lines = [json.loads(line) for line in services.folder.log_file("engine").read_text().splitlines()]
    [refused] = [line for line in lines if line.get("trace_id") == TRACE]
    assert (refused["event"], len(refused["span_id"])) == ("call refused", 16)


async def test_an_action_is_traced_from_the_client_to_the_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS), collecting() as collector, collecting() as beside_envoy:
        monkeypatch.setenv(ENDPOINT, collector.address)
        monkeypatch.setenv(GATEWAY_COLLECTOR, beside_envoy.address)
        async with running_services(tmp_path, settings=WITH_GATEWAY) as services:
            player_id, direct, by_gateway = await play(services)
            # Envoy exports its spans on its own, not at its end.
            await until(lambda: len(beside_envoy.seen) >= 2)
        # The services have ended, and have exported their last spans.
        check_client(collector.seen, direct)
        check_gateway(collector.seen, beside_envoy.seen, by_gateway)
        check_calls_between_services(collector.seen)
        check_nothing_hidden(collector, player_id)
        check_log(services)
