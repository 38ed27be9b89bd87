"""One action, seen from the client's own trace to the commit, the streams and the ledger, by a collector."""

import asyncio
import json
from pathlib import Path
from random import Random
from typing import Any

import grpc
import pytest

from croupier.cli.reach import endpoints_of
from croupier.cli.supervisor import Manner, Services, running_services
from croupier_api.v1 import engine_pb2, engine_pb2_grpc
from croupier_client.aio import Client
from croupier_client.aio_table import AsyncTable
from croupier_client.bots import play_game, random_legal
from tests.collector import TOLD, Collector, Seen, collecting
from tests.system.encrypted import SERVICES

DEADLINE_SECONDS = 120.0
NAME = "Ada of Trondheim"
DEVICE_SECRET = "a device that nobody is to know"
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TRACEPARENT = ("traceparent", f"00-{TRACE}-{PARENT}-01")
ENGINE = "croupier_api.v1.EngineService"
CONTROL, LEDGER = "croupier_api.v1.EngineControlService", "croupier_api.v1.ScoringControlService"


def manner(endpoint: str) -> Manner:
    return Manner(extra_flags={service: [f"--traces-endpoint={endpoint}"] for service in SERVICES})


async def begin(client: Client) -> str:
    table_id = (await client.create_table(game="thulla", seats=3)).table.table_id
    for _ in range(2):
        await client.add_bot(table_id=table_id)
    await client.set_ready(table_id=table_id)
    return table_id


async def act(services: Services, client: Client, table: AsyncTable) -> int:
    """One action by a call of its own, as part of a trace that began at the client, and one that is refused."""
    request = engine_pb2.SubmitActionRequest(
        table_id=table.table_id, action=random_legal(table, Random(1)), request_id="a traced action"
    )
    metadata = (("authorization", f"Bearer {await client._access_token()}"), TRACEPARENT)
    async with grpc.aio.insecure_channel(services.addresses["engine"]["listen"]) as channel:
        submit: Any = engine_pb2_grpc.EngineServiceStub(channel).SubmitAction
        sequence: int = (await submit(request, metadata=metadata)).sequence
        with pytest.raises(grpc.aio.AioRpcError):
            await submit(engine_pb2.SubmitActionRequest(table_id=table.table_id), metadata=metadata)
    return sequence


async def play(services: Services) -> tuple[str, int]:
    """A table from its first call to its result; gives it and the sequence of the action that was traced."""
    async with Client(endpoints_of(services.addresses), DEVICE_SECRET, NAME) as client:
        table_id = await begin(client)
        async with client.play(table_id) as table:
            assert await table.your_turn()
            sequence = await act(services, client, table)
            seed = Random(1)
            await play_game(table, lambda seen: random_legal(seen, seed))
        while not (await client.list_results()).results:  # noqa: ASYNC110 - another process tells it
            await asyncio.sleep(0.1)
    return table_id, sequence


def check_action(seen: list[Seen], table_id: str, sequence: int) -> None:
    mine = {each.name: each for each in seen if each.trace.hex() == TRACE}
    calls = [each for each in seen if each.trace.hex() == TRACE and each.name == f"{ENGINE}/SubmitAction"]
    assert sorted(str(each.told["rpc.response.status_code"]) for each in calls) == ["INVALID_ARGUMENT", "OK"]
    [call] = [each for each in calls if each.id == mine["act"].parent]
    assert call.parent.hex() == PARENT
    parents = {"act": call, "decide": mine["act"], "append": mine["act"], "deliver": mine["act"]}
    assert {name: mine[name].parent for name in parents} == {name: parent.id for name, parent in parents.items()}
    assert mine["act"].told == {"croupier.table_id": table_id, "croupier.game": "thulla", "croupier.sequence": sequence}
    # It may have been another action's append that the commit began with.
    [commit] = [each for each in seen if each.id in mine["append"].linked]
    assert (commit.name, mine["append"].id in commit.linked) == ("commit", True)
    assert commit.span.end_time_unix_nano <= mine["deliver"].span.start_time_unix_nano


def check_ways(seen: list[Seen]) -> None:
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
    assert ("croupier-engine", f"{ENGINE}/Play", "croupier-engine", "act") in ways


def check_nothing_hidden(collector: Collector) -> None:
    assert all(each.told.keys() <= TOLD for each in collector.seen)
    for secret in (NAME, DEVICE_SECRET, "a traced action", "Bearer", "eyJ"):
        assert secret.encode() not in collector.raw


def check_log(services: Services) -> None:
    lines = [json.loads(line) for line in services.folder.log_file("engine").read_text().splitlines()]
    [refused] = [line for line in lines if line.get("trace_id") == TRACE]
    assert (refused["event"], len(refused["span_id"])) == ("call refused", 16)


async def test_one_action_is_seen_from_the_client_to_the_ledger(tmp_path: Path) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS), collecting() as collector:
        async with running_services(tmp_path, manner=manner(collector.address)) as services:
            table_id, sequence = await play(services)
        # The services have ended, and with that handed over what they had.
        check_action(collector.seen, table_id, sequence)
        check_ways(collector.seen)
        check_nothing_hidden(collector)
        check_log(services)


async def test_a_game_goes_on_without_the_collector(tmp_path: Path) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        async with collecting() as gone:
            pass
        async with running_services(tmp_path, manner=manner(gone.address)) as services:
            await play(services)
            assert services.restarts == dict.fromkeys(SERVICES, 0)
        assert "the collector takes no spans" in services.folder.log_file("engine").read_text()
