"""Streams over WebSocket with the clients of a library: games, refusals with their close codes, and a drain."""

import asyncio
import urllib.error
import urllib.request
import uuid

import pytest
from google.protobuf import json_format
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from croupier_api.v1 import engine_pb2 as pb
from tests.contract.deployment import CALL_SECONDS, EngineClient, EngineProcess, connected, rest_of
from tests.contract.web_sockets import (
    action,
    connected_socket,
    first,
    legal_actions,
    receive,
    send,
    token,
    until_closed,
)
from tests.waiting import until

PLAY_CALLS = 'croupier_rpc_calls_total{{code="{}",method="/croupier_api.v1.EngineService/PlayTable"}}'


async def play_seat(socket: ClientConnection, *, json: bool) -> tuple[list[int], int | None]:
    """Take the last legal action until the end; returns the sequences of the answers, and the close code."""
    answered: list[int] = []
    try:
        while True:
            message = await receive(socket)
            if message.HasField("answer"):
                assert message.answer.WhichOneof("outcome") == "sequence", message
                answered.append(message.answer.sequence)
            if legal := legal_actions(message).actions:
                request = action(uuid.uuid4().hex, legal[-1])
                await socket.send(json_format.MessageToJson(request) if json else request.SerializeToString())
    except ConnectionClosed:
        return answered, socket.close_code


async def test_a_game_is_played_by_binary_and_by_text_messages_and_followed_by_grpc(client: EngineClient) -> None:
    table_id = await client.new_table()
    spectator = client.players.WatchTable(
        pb.WatchTableRequest(table_id=table_id), metadata=client.engine.player("eve"), timeout=CALL_SECONDS
    )
    async with (
        connected_socket(client.engine, table_id) as binary,
        connected_socket(client.engine, table_id) as text,
        connected_socket(client.engine, table_id) as watching,
    ):
        await send(binary, first(client.engine, "anna"))
        await text.send(json_format.MessageToJson(first(client.engine, "ben", table_id=table_id)))
        await send(watching, first(client.engine, "eve"))
        played = await asyncio.gather(
            play_seat(binary, json=False), play_seat(text, json=True), until_closed(watching), rest_of(spectator)
        )
    (anna, code), (ben, other_code), watched, followed = played
    assert (code, other_code, watched.code) == (1000, 1000, 1000)
    sequences = [message.table_event.update.sequence for message in watched.messages if is_update(message)]
    assert sequences == [message.table_event.update.sequence for message in followed if is_update(message)]
    assert {*anna, *ben} <= {*sequences}
    # A second stream gets everything in one message, and the same end.
    async with connected_socket(client.engine, table_id) as again:
        await send(again, first(client.engine, "anna"))
        end = await until_closed(again)
    assert end.code == 1000
    assert end.messages[0].table_event.snapshot.revealed_seed


def is_update(message: pb.PlayTableResponse | pb.WatchTableResponse) -> bool:
    return message.table_event.HasField("update")


async def test_bad_input_ends_a_stream_with_a_reason_and_changes_nothing(client: EngineClient) -> None:
    table_id = await client.new_table()
    before = await client.view(table_id, "anna")
    bad: dict[bytes | str, tuple[int, str, str]] = {
        b"x" * 65_537: (1009, "MALFORMED_REQUEST", ""),
        "x" * 1_000_000: (1009, "MALFORMED_REQUEST", ""),
        "hello": (4003, "MALFORMED_REQUEST", ""),
        '{"foo": 1}': (4003, "MALFORMED_REQUEST", ""),
        b"\xff": (4003, "MALFORMED_REQUEST", ""),
        b"": (4016, "INVALID_ACCESS_TOKEN", ""),
        first(client.engine, "anna", table_id="another").SerializeToString(): (
            4003,
            "INVALID_FIELD",
            "watch.table_id",
        ),
        first(client.engine, "anna", after_sequence=1_000).SerializeToString(): (
            4003,
            "SEQUENCE_AHEAD",
            "after_sequence",
        ),
    }
    for content, expected in bad.items():
        async with connected_socket(client.engine, table_id) as socket:
            await socket.send(content)
            assert (await until_closed(socket)).refusal == expected
        async with connected_socket(client.engine, table_id) as socket:
            await send(socket, first(client.engine, "anna"))
            await socket.send(content)
            end = await until_closed(socket)
            assert end.error is not None
            assert end.error.reason_name in (expected[1], "INVALID_FIELD")
    async with connected_socket(client.engine, "nowhere") as socket:
        await send(socket, first(client.engine, "anna"))
        assert (await until_closed(socket)).refusal == (4005, "UNKNOWN_TABLE", "")
    assert (await client.view(table_id, "anna")).sequence == before.sequence
    log = client.engine.log_path.read_text()
    assert token(client.engine, "anna")[:60] not in log
    assert "Traceback" not in log


@pytest.mark.parametrize(("path", "status"), [("/", 404), ("/v1/tables/t/play", 426)])
async def test_other_requests_are_refused_by_http(shared_engine: EngineProcess, path: str, status: int) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        await asyncio.to_thread(
            urllib.request.urlopen, f"http://{shared_engine.address('websocket')}{path}", timeout=CALL_SECONDS
        )
    assert refused.value.code == status


async def test_a_stopping_engine_sends_streams_elsewhere(own_engine: EngineProcess) -> None:
    async with connected(own_engine) as client:
        table_id = await client.new_table()
        async with connected_socket(own_engine, table_id) as socket:
            await send(socket, first(own_engine, "anna"))
            await receive(socket)
            stopping = asyncio.create_task(asyncio.to_thread(own_engine.stop))
            end = await until_closed(socket)
        assert end.code == 1001
        assert end.messages[-1].table_event.HasField("resume_notice")
        assert await stopping == 0


async def test_streams_are_in_the_metrics_as_those_of_grpc(own_engine: EngineProcess) -> None:
    async with connected(own_engine) as client:
        table_id = await client.new_table()
        async with connected_socket(own_engine, table_id) as socket:
            await send(socket, first(own_engine, "anna"))
            await receive(socket)
            assert own_engine.metrics()["croupier_streams"] == 1
        await until(lambda: own_engine.metrics()["croupier_streams"] == 0)
        assert own_engine.metrics()[PLAY_CALLS.format("CANCELLED")] == 1
