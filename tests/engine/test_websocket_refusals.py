"""Refusals of WebSockets: every bad input with its reason and close code, and nothing changes."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from croupier.engine.api.websocket.connection import HANDSHAKE_SECONDS
from croupier.engine.api.websocket.session import FIRST_MESSAGE_SECONDS
from croupier.engine.tables.registry import Tables
from croupier.engine.tables.table import Table
from croupier.runtime.errors import to_status
from croupier.runtime.server.addresses import host_and_port
from croupier.runtime.server.websocket_listener import listen_for_websockets
from croupier.runtime.table_access import LinkPurpose, TableAccess, Visibility, WatchPolicy
from croupier.runtime.tls.tls import Tls
from croupier_api.v1 import engine_pb2
from tests.certificates import NOW, Authority
from tests.engine.fakes import EngineHarness
from tests.engine.play import (
    event_of,
    make_config,
    open_table,
    parsed,
)
from tests.engine.sockets import (
    BEFORE_TIME,
    Client,
    FakeTransport,
    Outcome,
    action_request,
    ended_calls,
    error_of,
    opened,
    play_request,
    token,
    websockets_of,
)
from tests.engine.test_servicer import WATCH
from tests.waiting import settled

# The beginning


FIRST: dict[str, tuple[bytes | str, Outcome]] = {
    "no protobuf": (b"\xff", Outcome(4003, "MALFORMED_REQUEST")),
    "no token": (WATCH.SerializeToString(), Outcome(4016, "INVALID_ACCESS_TOKEN")),
    "a forged token": ('{"access_token": "x", "watch": {}}', Outcome(4016, "INVALID_ACCESS_TOKEN")),
    "a long token": (f'{{"access_token": "{"x" * 5000}", "watch": {{}}}}', Outcome(4016, "INVALID_ACCESS_TOKEN")),
    "no JSON": ("hello", Outcome(4003, "MALFORMED_REQUEST")),
    "half a surrogate pair": ('{"watch": "\\ud800"}', Outcome(4003, "MALFORMED_REQUEST")),
    "a list": ("[]", Outcome(4003, "MALFORMED_REQUEST")),
    "nothing": ("", Outcome(4003, "MALFORMED_REQUEST")),
    "deep JSON": ("[" * 60_000, Outcome(4003, "MALFORMED_REQUEST")),
    "a great number": (
        f'{{"watch": {{"after_sequence": {"9" * 60_000}}}}}',
        Outcome(4003, "MALFORMED_REQUEST"),
    ),
    "an unknown field": ('{"access_token": "x", "watch": {}, "foo": 1}', Outcome(4003, "MALFORMED_REQUEST")),
    "a deep object": ('{"watch":' * 900 + "1" + "}" * 900, Outcome(4003, "MALFORMED_REQUEST")),
    "a long list": (
        f'{{"action": {{"action": {{"lay": {{"cards": [{",".join("1" * 511)}]}}}}}}}}',
        Outcome(4003, "MALFORMED_REQUEST"),
    ),
}


@pytest.mark.parametrize(("content", "expected"), FIRST.values(), ids=FIRST)
async def test_a_wrong_first_message_is_refused_with_its_reason(
    engine: EngineHarness, tables: Tables, table: Table, content: bytes | str, expected: Outcome
) -> None:
    client = Client(websockets_of(engine, tables))
    client.send_content(content)
    assert await client.outcome() == expected
    assert (table.state.sequence, bool(table.subscribers)) == (1, False)
    assert client.transport.is_lost


ASKED: dict[str, tuple[engine_pb2.PlayTableRequest, Outcome]] = {
    "an action": (
        engine_pb2.PlayTableRequest(action=engine_pb2.SubmitActionRequest()),
        Outcome(4003, "INVALID_FIELD", "request"),
    ),
    "nothing": (engine_pb2.PlayTableRequest(), Outcome(4003, "INVALID_FIELD", "request")),
    "another table": (
        engine_pb2.PlayTableRequest(watch=engine_pb2.WatchTableRequest(table_id="t2")),
        Outcome(4003, "INVALID_FIELD", "watch.table_id"),
    ),
    "a long link": (
        engine_pb2.PlayTableRequest(watch=engine_pb2.WatchTableRequest(link="x" * 513)),
        Outcome(4003, "INVALID_FIELD", "link"),
    ),
    "a sequence ahead": (
        engine_pb2.PlayTableRequest(watch=engine_pb2.WatchTableRequest(after_sequence=9)),
        Outcome(4003, "SEQUENCE_AHEAD", "after_sequence"),
    ),
}


@pytest.mark.parametrize(("request_message", "expected"), ASKED.values(), ids=ASKED)
async def test_a_first_message_that_asks_for_what_cannot_be_is_refused(
    engine: EngineHarness, tables: Tables, table: Table, request_message: engine_pb2.PlayTableRequest, expected: Outcome
) -> None:
    client = Client(websockets_of(engine, tables))
    asked = engine_pb2.PlayTableRequest(access_token=token(engine, "p0"))
    asked.MergeFrom(request_message)
    client.send(asked)
    assert await client.outcome() == expected
    assert (table.state.sequence, bool(table.subscribers)) == (1, False)


async def test_a_table_that_does_not_exist_is_refused(engine: EngineHarness, tables: Tables) -> None:
    for path, expected in (
        ("/v1/tables/nowhere/play", Outcome(4005, "UNKNOWN_TABLE")),
        (f"/v1/tables/{'x' * 65}/play", Outcome(4003, "INVALID_FIELD", "table_id")),
        ("/v1/tables/%00/play", Outcome(4003, "INVALID_FIELD", "table_id")),
    ):
        client = Client(websockets_of(engine, tables), path)
        client.send(play_request(engine))
        assert await client.outcome() == expected


async def test_the_id_of_a_path_may_be_encoded(engine: EngineHarness, tables: Tables) -> None:
    client = Client(websockets_of(engine, tables), "/v1/tables/%741/play")
    client.send(play_request(engine))
    assert await client.messages()
    assert client.code is None


async def test_an_expired_token_is_refused(engine: EngineHarness, tables: Tables) -> None:
    client = Client(websockets_of(engine, tables))
    request = play_request(engine, seconds=1)
    engine.clock.advance(2_000)
    client.send(request)
    assert await client.outcome() == Outcome(4016, "INVALID_ACCESS_TOKEN")


async def test_the_first_message_has_to_come_in_time(engine: EngineHarness, tables: Tables) -> None:
    client = Client(websockets_of(engine, tables))
    await settled()
    engine.clock.advance(round(FIRST_MESSAGE_SECONDS * 1000) - BEFORE_TIME)
    await settled()
    assert client.code is None
    engine.clock.advance(BEFORE_TIME)
    assert await client.outcome() == Outcome(4004, "SERVICE_TIMEOUT")
    assert ended_calls(engine, "DEADLINE_EXCEEDED") == 1


async def test_a_handshake_has_to_come_in_time(engine: EngineHarness, tables: Tables) -> None:
    server = websockets_of(engine, tables)
    transport = FakeTransport(server.connect())
    transport.protocol.connection_made(transport)
    transport.protocol.data_received(b"GET /v1/tables/t1/play HTTP/1.1\r\n")
    engine.clock.advance(round(HANDSHAKE_SECONDS * 1000))
    await settled()
    assert transport.is_lost
    assert len(server) == 0


async def test_a_failed_tls_handshake_leaves_no_connection(
    engine: EngineHarness, tables: Tables, tmp_path: Path
) -> None:
    authority = Authority()
    files = authority.files(tmp_path / "engine", authority.issue("engine"))
    tls = Tls(files, lambda: int(NOW.timestamp() * 1000), engine.logger)
    server = websockets_of(engine, tables)
    listener = await listen_for_websockets("127.0.0.1:0", server, tls)
    reader, writer = await asyncio.open_connection(*host_and_port(listener.address))
    writer.write(b"GET / HTTP/1.1\r\n\r\n")
    assert await reader.read() == b""
    writer.close()
    assert len(server) == 0
    await listener.drain(0)


@pytest.mark.parametrize(
    "path", ["/", "/v1/tables/t1", "/v1/tables//play", "/v1/tables/t1/play?access_token=x", "/v1/tables/a/b/play"]
)
async def test_other_paths_do_not_exist(engine: EngineHarness, tables: Tables, path: str) -> None:
    client = Client(websockets_of(engine, tables), path)
    assert client.response is not None
    assert client.response.status_code == 404


async def test_nothing_but_an_upgrade_is_served(engine: EngineHarness, tables: Tables) -> None:
    client = Client(websockets_of(engine, tables), upgrade="h2c")
    assert client.response is not None
    assert client.response.status_code == 426


async def test_no_compression_is_negotiated(engine: EngineHarness, tables: Tables) -> None:
    client = Client(websockets_of(engine, tables), sec_websocket_extensions="permessage-deflate")
    assert client.response is not None
    assert client.response.status_code == 101
    assert "Sec-WebSocket-Extensions" not in client.response.headers


# Later messages


LATER: dict[str, tuple[bytes | str, Outcome]] = {
    "no protobuf": (b"\xff", Outcome(4003, "MALFORMED_REQUEST")),
    "nothing": (b"", Outcome(4003, "INVALID_FIELD", "request")),
    "watch again": (WATCH.SerializeToString(), Outcome(4003, "INVALID_FIELD", "request")),
    "no JSON": ("hello", Outcome(4003, "MALFORMED_REQUEST")),
    "an unknown field": ('{"action": {"foo": 1}}', Outcome(4003, "MALFORMED_REQUEST")),
    "too large": (b"x" * 65_537, Outcome(1009, "MALFORMED_REQUEST")),
    "too large text": ("x" * 65_537, Outcome(1009, "MALFORMED_REQUEST")),
}


@pytest.mark.parametrize(("content", "expected"), LATER.values(), ids=LATER)
async def test_an_unexpected_message_ends_the_stream(
    engine: EngineHarness, tables: Tables, table: Table, content: bytes | str, expected: Outcome
) -> None:
    client = await opened(engine, tables)
    client.send_content(content)
    assert await client.outcome() == expected
    assert (table.state.sequence, bool(table.subscribers)) == (1, False)


async def test_text_that_is_not_utf_8_ends_the_stream(engine: EngineHarness, tables: Tables) -> None:
    client = await opened(engine, tables)
    client.send_json(b"\xff\xfe")
    assert await client.outcome() == Outcome(1007, "MALFORMED_REQUEST")
    assert ended_calls(engine, "INVALID_ARGUMENT") == 1


async def test_a_violation_of_the_protocol_ends_the_stream(engine: EngineHarness, tables: Tables, table: Table) -> None:
    client = await opened(engine, tables)
    client.write(b"\x82\x01x")  # Without the mask that a client needs.
    assert (await client.outcome()).code == 1002
    await settled()
    assert client.transport.is_lost
    assert not table.subscribers


async def test_an_action_is_refused_in_its_answer_and_the_stream_goes_on(
    engine: EngineHarness, tables: Tables, table: Table
) -> None:
    client = await opened(engine, tables)
    for refused, reason in (
        (engine_pb2.SubmitActionRequest(request_id="a"), "INVALID_ACTION"),
        (engine_pb2.SubmitActionRequest(request_id="b", table_id="t2"), "INVALID_FIELD"),
    ):
        client.send(engine_pb2.PlayTableRequest(action=refused))
        (message,) = [parsed(one) for one in await client.messages()]
        assert message.answer.request_id == refused.request_id
        assert reason.encode() in message.answer.refusal.details[0].value
    assert client.code is None
    assert table.state.sequence == 1


@pytest.mark.parametrize("at_once", [False, True])
async def test_an_internal_fault_ends_the_stream_without_a_detail(
    engine: EngineHarness, tables: Tables, table: Table, monkeypatch: pytest.MonkeyPatch, at_once: bool
) -> None:
    seat, request = action_request(table)
    client = await opened(engine, tables, f"p{seat}")

    async def fails(*_arguments: object) -> int:
        raise ZeroDivisionError("a secret")

    def fails_at_once(*_arguments: object) -> bool:
        if at_once:
            raise ZeroDivisionError("a secret")
        return False

    monkeypatch.setattr(Table, "append_once", fails)
    monkeypatch.setattr(Table, "act_at_once", fails_at_once)
    client.send(request)
    messages = await client.messages()
    assert (client.code, b"secret" in b"".join(messages)) == (4013, False)
    assert "call failed" in engine.logger.events("error")


async def test_an_error_frame_has_the_status_of_grpc(engine: EngineHarness, tables: Tables) -> None:
    client = Client(websockets_of(engine, tables), "/v1/tables/nowhere/play")
    client.send(play_request(engine))
    (message,) = [parsed(one) for one in await client.messages()]
    error = error_of([message])
    assert error is not None
    assert message.error == to_status(error)


async def test_a_spectator_needs_the_access_of_the_table_or_a_link(engine: EngineHarness) -> None:
    access = TableAccess(Visibility.LINK, WatchPolicy.LINK)
    await open_table(engine, replace(make_config(seat_count=3), access=access))
    server = websockets_of(engine, engine.tables(3))
    link, _ = engine.links().issue("t1", LinkPurpose.WATCH)
    other, _ = engine.links().issue("t1", LinkPurpose.REPLAY)
    for given, expected in (("", Outcome(4005, "UNKNOWN_TABLE")), (other, Outcome(4005, "UNKNOWN_TABLE"))):
        client = Client(server)
        client.send(play_request(engine, "eve", link=given))
        assert await client.outcome() == expected
    client = Client(server)
    client.send(play_request(engine, "eve", link=link))
    (first, *_) = await client.messages()
    assert not event_of(first).snapshot.HasField("viewer_seat")
    assert client.code is None
    client.send(engine_pb2.PlayTableRequest(action=engine_pb2.SubmitActionRequest(request_id="r")))
    assert b"NOT_SEATED" in b"".join(await client.messages())
