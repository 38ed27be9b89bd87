"""Calls over a real connection have the right status, metrics and log; tools read the contract by reflection."""

import asyncio
import json
import re
import sys
from pathlib import Path
from typing import Any

import grpc
import pytest
import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from prometheus_client import CollectorRegistry

from croupier.runtime import errors
from croupier.runtime.admission.budget import SECOND, Budget
from croupier.runtime.server.grpc_server import (
    LIVE,
    MAX_HEALTH_REQUEST_BYTES,
    drain,
    health_listener,
    listen,
    write_ready_file,
)
from croupier.runtime.server.program import SettingsError
from croupier_api.v1 import errors_pb2, lobby_pb2_grpc
from croupier_api.v1 import lobby_pb2 as pb
from tests.calls import limits
from tests.refusals import refusal
from tests.runtime.lobby_server import LOBBY, REQUESTS, LobbyServer, Metadata, bearer, interceptor, running_lobby
from tests.waiting import TIMEOUT_SECONDS, until

SERVING, NOT_SERVING = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING


async def test_a_successful_call_has_its_caller_and_is_counted(lobby: LobbyServer) -> None:
    response = await lobby.stub.GetTable(pb.GetTableRequest(table_id="t"), metadata=bearer())
    assert (response.table.table_id, response.table.game) == ("t", "ada")
    assert lobby.metric("calls_total", "GetTable", code="OK") == lobby.metric("seconds_count", "GetTable") == 1


@pytest.mark.parametrize(
    ("sent", "is_taken"),
    [("0b8d3f6e-7c51:a.B_9", True), ("", False), ("my own words", False), ("x" * 64, True), ("x" * 65, False)],
)
async def test_a_request_id_of_other_characters_is_replaced(lobby: LobbyServer, sent: str, is_taken: bool) -> None:
    """The gateway's tests have those with bytes that a gRPC client does not send."""
    bound: list[str] = []
    lobby.servicer.act = lambda: bound.append(structlog.contextvars.get_contextvars()["request_id"])
    await lobby.call("GetTable", (*bearer(), ("x-request-id", sent)))
    assert (bound == [sent]) is is_taken
    assert re.fullmatch(r"[A-Za-z0-9._:-]{1,64}", bound[0])


@pytest.mark.parametrize(("sent", "is_bound"), [("t-1", True), ("t 1", False), ("x" * 63 + " ", False)])
async def test_log_lines_have_table_ids_of_plain_characters_only(lobby: LobbyServer, sent: str, is_bound: bool) -> None:
    bound: list[str | None] = []
    lobby.servicer.act = lambda: bound.append(structlog.contextvars.get_contextvars().get("table_id"))
    await lobby.call("SignIn", (*bearer(), ("x-table-id", sent)))
    await lobby.stub.GetTable(pb.GetTableRequest(table_id=sent), metadata=bearer())
    assert bound == [sent if is_bound else None] * 2


@pytest.mark.parametrize("method", ["GetTable", "WatchTables"])
async def test_malformed_protobuf_is_an_invalid_argument(lobby: LobbyServer, method: str) -> None:
    call: Any = lobby.channel.unary_unary(f"{LOBBY}/{method}")
    assert (await refusal(call(b"\xff\xff\xff", metadata=bearer())))[:2] == ("INVALID_ARGUMENT", "MALFORMED_REQUEST")
    assert lobby.metric("calls_total", method, code="INVALID_ARGUMENT") == 1


@pytest.mark.parametrize("metadata", [(), bearer()], ids=["stranger", "player"])
async def test_an_unknown_method_is_unimplemented_for_every_caller(lobby: LobbyServer, metadata: Metadata) -> None:
    """Tools try several methods, and the next one after this status only."""
    for method in (f"{LOBBY}/Cheat", "/unknown.Service/Method"):
        unary: Any = lobby.channel.unary_unary(method)
        stream: Any = lobby.channel.stream_stream(method)
        for call in (unary(b"", metadata=metadata), stream(metadata=metadata).read()):
            assert (await refusal(call))[:2] == ("UNIMPLEMENTED", "UNKNOWN_METHOD")
    labels = {"method": "unknown", "code": "UNIMPLEMENTED"}
    assert lobby.registry.get_sample_value("croupier_rpc_calls_total", labels) == 4


@pytest.mark.parametrize("kind", errors.KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("method", ["GetTable", "WatchTables"])
async def test_every_error_keeps_its_code_reason_and_details(
    lobby: LobbyServer, kind: type[errors.ServiceError], method: str
) -> None:
    def act() -> None:
        reason = errors_pb2.ERROR_REASON_UNKNOWN_TABLE
        raise kind(reason, "what and how", field="part", retry_after_seconds=1.5, metadata={"rule": "X-1"})

    lobby.servicer.act = act
    call = getattr(lobby.stub, method)(REQUESTS[method], metadata=bearer())
    if method == "WatchTables":
        await call.read()
    refused = await refusal(call.read() if method == "WatchTables" else call)
    assert refused == (kind.code.name, "UNKNOWN_TABLE", "what and how", "X-1", "part", 1500)
    assert lobby.metric("calls_total", method, code=kind.code.name) == 1


@pytest.mark.parametrize("metadata", [(), bearer(key=Ed25519PrivateKey.generate())], ids=["none", "forged"])
async def test_an_invalid_token_is_unauthenticated_where_one_is_needed(lobby: LobbyServer, metadata: Metadata) -> None:
    for method in ("GetTable", "WatchTables"):
        assert (await refusal(lobby.call(method, metadata)))[:2] == ("UNAUTHENTICATED", "INVALID_ACCESS_TOKEN")
    await lobby.call("SignIn", metadata)


async def test_an_unexpected_exception_is_internal_without_its_text_and_logged(lobby: LobbyServer) -> None:
    def act() -> None:
        raise RuntimeError("the ace of spades")

    lobby.servicer.act = act
    refused = await refusal(lobby.call("GetTable", bearer()))
    assert refused[:2] == ("INTERNAL", "INTERNAL_FAULT")
    assert "ace" not in refused.message
    (logged,) = [call.kwargs for call in lobby.logger.calls if call.method_name == "error"]
    assert isinstance(logged["exc_info"], RuntimeError)
    assert lobby.metric("calls_total", "GetTable", code="INTERNAL") == 1


async def test_a_stream_that_is_cancelled_closes_its_generator_and_is_counted(lobby: LobbyServer) -> None:
    call = lobby.stub.WatchTables(pb.WatchTablesRequest(table_id="endless"), metadata=bearer())
    assert (await call.read()).table.game == "ada"
    assert lobby.metric("open_calls", "WatchTables") == 1
    call.cancel()
    await asyncio.wait_for(lobby.servicer.closed.wait(), TIMEOUT_SECONDS)
    await until(lambda: lobby.metric("open_calls", "WatchTables") == 0)


async def test_a_player_who_exceeds_the_rate_limit_is_refused_and_no_other() -> None:
    now = 0
    async with running_lobby(limits=limits(player=Budget("calls", 2, 14, lambda: now))) as limited:
        for method in ("GetTable", "WatchTables", "GetTable"):
            await limited.call(method, bearer())
        for method, milliseconds in (("GetTable", 1000), ("WatchTables", 5000)):
            refused = await refusal(limited.call(method, bearer()))
            assert refused[:2] == ("RESOURCE_EXHAUSTED", "TOO_MANY_REQUESTS")
            assert refused.retry_milliseconds == milliseconds
            assert limited.metric("limited_total", method) == 1
            assert limited.metric("calls_total", method, code="RESOURCE_EXHAUSTED") == 1
        await limited.call("GetTable", bearer("bob"))
        for _ in range(5):
            await limited.call("SignIn", bearer())
        assert limited.registry.get_sample_value("croupier_refusals_total", {"limit": "calls"}) == 2
        refusals = [call for call in limited.logger.calls if call.args[0] == "call refused"]
        assert [call.kwargs["limit"] for call in refusals] == ["calls", "calls"]
        now += SECOND
        await limited.call("GetTable", bearer())


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
async def test_a_request_that_is_too_large_is_refused(lobby: LobbyServer, compression: grpc.Compression) -> None:
    """The limit holds for the uncompressed size."""
    request = pb.GetTableRequest(table_id="x" * 70_000)
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await lobby.stub.GetTable(request, metadata=bearer(), compression=compression)
    assert raised.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


async def health_of(channel: grpc.aio.Channel, name: str) -> Any:
    request = health_pb2.HealthCheckRequest(service=name)
    return (await health_pb2_grpc.HealthStub(channel).Check(request, timeout=TIMEOUT_SECONDS)).status


async def test_all_addresses_of_ipv6_are_those_of_ipv4_too() -> None:
    async with health_listener("[::]:0") as [listener]:
        port = listener.address.removeprefix("[::]:")
        for host in ("[::1]", "127.0.0.1"):
            async with grpc.aio.insecure_channel(f"{host}:{port}") as channel:
                assert await health_of(channel, LIVE) == SERVING


async def test_health_reports_readiness_until_the_end_and_liveness(lobby: LobbyServer) -> None:
    async with health_listener("127.0.0.1:0") as listeners, grpc.aio.insecure_channel(listeners[0].address) as channel:
        assert await health_of(channel, "") == NOT_SERVING
        for ready in (True, False, True):
            for listener in (lobby.listener, *listeners):
                await listener.set_serving(ready)
            reported = [await health_of(lobby.channel, name) for name in ("", LOBBY[1:])] + [
                await health_of(channel, "")
            ]
            assert reported == [SERVING if ready else NOT_SERVING] * 3
            assert await health_of(lobby.channel, LIVE) == await health_of(channel, LIVE) == SERVING
        await drain([lobby.listener, *listeners], 0)
        assert (await health_of(channel, ""), await health_of(channel, LIVE)) == (NOT_SERVING, SERVING)
        with pytest.raises(grpc.aio.AioRpcError):
            await health_of(lobby.channel, "")


async def test_the_health_port_is_none_by_default_and_serves_health_only() -> None:
    async with health_listener("") as none:
        assert none == []
    async with health_listener("127.0.0.1:0") as listeners, grpc.aio.insecure_channel(listeners[0].address) as channel:
        # The request is sent as a whole: a stream that is refused while it is written ends differently.
        reflection: Any = channel.unary_unary("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")
        for call, code in (
            (health_of(channel, "croupier_api.v1.LobbyService"), grpc.StatusCode.NOT_FOUND),
            (health_of(channel, "x" * MAX_HEALTH_REQUEST_BYTES), grpc.StatusCode.RESOURCE_EXHAUSTED),
            (lobby_pb2_grpc.LobbyServiceStub(channel).SignIn(pb.SignInRequest()), grpc.StatusCode.UNIMPLEMENTED),
            (reflection(b""), grpc.StatusCode.UNIMPLEMENTED),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await call
            assert refused.value.code() is code


async def test_an_address_in_use_is_reported(lobby: LobbyServer) -> None:
    with pytest.raises(SettingsError, match="cannot be listened on"):
        async with health_listener(lobby.listener.address):
            pytest.fail("it listens on an address in use")
    with pytest.raises(SettingsError, match="cannot be listened on"):
        await listen(lobby.listener.address, [], lambda _: None, interceptor(CollectorRegistry(), lobby.logger))


def test_the_ready_file_appears_whole(tmp_path: Any) -> None:
    write_ready_file(tmp_path / "ready.json", {"listen": "127.0.0.1:1"})
    assert [path.name for path in tmp_path.iterdir()] == ["ready.json"]
    write_ready_file(None, {})
    with pytest.raises(SettingsError, match=r"--ready-file .*/no/ready.json cannot be written: No such file"):
        write_ready_file(tmp_path / "no" / "ready.json", {})


async def buf_curl(lobby: LobbyServer, *arguments: str, path: str = "") -> str:
    """Return the output of a successful call by `buf curl`."""
    (name, token), *_ = bearer()
    flags = ("--protocol", "grpc", "--http2-prior-knowledge", "--header", f"{name}: {token}")
    command = (
        str(Path(sys.executable).with_name("buf")),
        "curl",
        *flags,
        *arguments,
        f"http://{lobby.listener.address}{path}",
    )
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=pipe)
    output, errors = await asyncio.wait_for(process.communicate(), TIMEOUT_SECONDS)
    assert process.returncode == 0, errors.decode()
    return output.decode()


async def test_services_are_listed_to_tools_that_try_the_newest_name_first(lobby: LobbyServer) -> None:
    listed = (await buf_curl(lobby, "--list-services")).split()
    assert set(listed) == {LOBBY[1:], "grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection"}
    assert f"{LOBBY[1:]}/GetTable" in (await buf_curl(lobby, "--list-methods")).split()


@pytest.mark.parametrize("protocol", ["grpc-v1", "grpc-v1alpha"])
async def test_a_method_is_called_by_reflection(lobby: LobbyServer, protocol: str) -> None:
    """The files of the method import options and messages of other packages."""
    answer = await buf_curl(lobby, "--reflect-protocol", protocol, "-d", '{"tableId": "t1"}', path=f"{LOBBY}/GetTable")
    assert json.loads(answer)["table"] == {"tableId": "t1", "game": "ada"}


BARE = errors.IllegalNow(errors_pb2.ERROR_REASON_TABLE_FULL, "bare")


def fields(error: errors.ServiceError | None) -> tuple[object, ...]:
    assert error
    return type(error), error.reason, error.message, error.field, error.retry_after_seconds, dict(error.metadata)


@pytest.mark.parametrize(
    "error",
    [
        *(
            kind(errors_pb2.ERROR_REASON_UNKNOWN_BOT, "x", field="bot", retry_after_seconds=0.25)
            for kind in errors.KINDS
        ),
        errors.IllegalNow(errors_pb2.ERROR_REASON_ILLEGAL_ACTION, "x", metadata={"rule": "X-1"}, retry_after_seconds=0),
        BARE,
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_status_has_all_fields_of_its_error(error: errors.ServiceError) -> None:
    assert fields(errors.from_status(errors.to_status(error))) == fields(error)


def test_a_status_of_another_origin_is_not_read() -> None:
    for info in (
        error_details_pb2.ErrorInfo(reason="TABLE_FULL", domain="elsewhere"),
        error_details_pb2.ErrorInfo(reason="REASON_OF_A_LATER_VERSION", domain=errors.DOMAIN),
    ):
        status = status_pb2.Status(code=errors.to_status(BARE).code)
        status.details.add().Pack(info)
        assert errors.from_status(status) is None
    assert errors.from_status(status_pb2.Status(code=errors.to_status(BARE).code)) is None
    unknown_code = errors.to_status(BARE)
    unknown_code.code = 99
    assert errors.from_status(unknown_code) is None
