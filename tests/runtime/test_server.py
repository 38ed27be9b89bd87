"""Calls over a real connection end with the right status, metrics and log."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from grpc_health.v1 import health_pb2, health_pb2_grpc
from prometheus_client import CollectorRegistry

from croupier.runtime import errors
from croupier.runtime.program import SettingsError
from croupier.runtime.rate_limit import SECOND, PlayerLimit
from croupier.runtime.server import LIVE, MAX_PROBE_BYTES, announce, drain, listen, probe_port
from croupier_api.v1 import errors_pb2, lobby_pb2_grpc
from croupier_api.v1 import lobby_pb2 as pb
from tests.refusals import refusal
from tests.runtime.site import LOBBY, REQUESTS, Metadata, Site, bearer, interceptor, opened_site
from tests.waiting import TIMEOUT_SECONDS, until

SERVING, NOT_SERVING = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with opened_site() as opened:
        yield opened


async def test_a_good_call_knows_its_caller_and_is_counted(site: Site) -> None:
    response = await site.stub.GetTable(pb.GetTableRequest(table_id="t"), metadata=bearer())
    assert (response.table.table_id, response.table.game) == ("t", "ada")
    assert (
        site.counted("calls_total", "GetTable", code="OK") == site.counted("seconds_count", "GetTable", code="OK") == 1
    )


@pytest.mark.parametrize("method", ["GetTable", "WatchTables"])
async def test_malformed_protobuf_is_an_invalid_argument(site: Site, method: str) -> None:
    call: Any = site.channel.unary_unary(f"{LOBBY}/{method}")
    assert (await refusal(call(b"\xff\xff\xff", metadata=bearer())))[:2] == ("INVALID_ARGUMENT", "MALFORMED_REQUEST")
    assert site.counted("calls_total", method, code="INVALID_ARGUMENT") == 1


@pytest.mark.parametrize("metadata", [(), bearer()], ids=["stranger", "player"])
async def test_an_unknown_method_is_unimplemented_for_everybody(site: Site, metadata: Metadata) -> None:
    """Tools try several methods, and take another one only for this answer."""
    for method in (f"{LOBBY}/Cheat", "/nobody.Knows/This"):
        unary: Any = site.channel.unary_unary(method)
        stream: Any = site.channel.stream_stream(method)
        for call in (unary(b"", metadata=metadata), stream(metadata=metadata).read()):
            assert (await refusal(call))[:2] == ("UNIMPLEMENTED", "UNKNOWN_METHOD")
    labels = {"method": "unknown", "code": "UNIMPLEMENTED"}
    assert site.registry.get_sample_value("croupier_rpc_calls_total", labels) == 4


@pytest.mark.parametrize("kind", errors.KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("method", ["GetTable", "WatchTables"])
async def test_every_error_keeps_its_code_reason_and_details(
    site: Site, kind: type[errors.ServiceError], method: str
) -> None:
    def act() -> None:
        reason = errors_pb2.ERROR_REASON_UNKNOWN_TABLE
        raise kind(reason, "what and how", field="part", retry_after_seconds=1.5, metadata={"rule": "X-1"})

    site.servicer.act = act
    call = getattr(site.stub, method)(REQUESTS[method](), metadata=bearer())
    if method == "WatchTables":
        await call.read()
    refused = await refusal(call.read() if method == "WatchTables" else call)
    assert refused == (kind.code.name, "UNKNOWN_TABLE", "what and how", "X-1", "part", 1500)
    assert site.counted("calls_total", method, code=kind.code.name) == 1


@pytest.mark.parametrize("metadata", [(), bearer(key=Ed25519PrivateKey.generate())], ids=["none", "forged"])
async def test_an_invalid_token_is_unauthenticated_where_one_is_needed(site: Site, metadata: Metadata) -> None:
    for method in ("GetTable", "WatchTables"):
        assert (await refusal(site.ask(method, metadata)))[:2] == ("UNAUTHENTICATED", "INVALID_ACCESS_TOKEN")
    await site.ask("SignIn", metadata)


async def test_an_unexpected_exception_is_internal_without_its_text_and_logged(site: Site) -> None:
    def act() -> None:
        raise RuntimeError("the ace of spades")

    site.servicer.act = act
    refused = await refusal(site.ask("GetTable", bearer()))
    assert refused[:2] == ("INTERNAL", "INTERNAL_FAULT")
    assert "ace" not in refused.message
    (logged,) = [call.kwargs for call in site.logger.calls if call.method_name == "error"]
    assert isinstance(logged["exc_info"], RuntimeError)
    assert site.counted("calls_total", "GetTable", code="INTERNAL") == 1


async def test_a_stream_that_is_cancelled_closes_its_generator_and_is_counted(site: Site) -> None:
    call = site.stub.WatchTables(pb.WatchTablesRequest(table_id="endless"), metadata=bearer())
    assert (await call.read()).table.game == "ada"
    assert site.counted("open_calls", "WatchTables") == 1
    call.cancel()
    await asyncio.wait_for(site.servicer.closed.wait(), TIMEOUT_SECONDS)
    await until(lambda: site.counted("open_calls", "WatchTables") == 0)


async def test_a_player_who_calls_too_often_is_refused_and_nobody_else() -> None:
    now = 0
    async with opened_site(limit=PlayerLimit(2, 3, lambda: now)) as limited:
        for method in ("GetTable", "WatchTables", "GetTable"):
            await limited.ask(method, bearer())
        for method in ("GetTable", "WatchTables"):
            refused = await refusal(limited.ask(method, bearer()))
            assert refused[:2] == ("RESOURCE_EXHAUSTED", "TOO_MANY_REQUESTS")
            assert refused.retry_milliseconds == 500
            assert limited.counted("limited_total", method) == 1
            assert limited.counted("calls_total", method, code="RESOURCE_EXHAUSTED") == 1
        await limited.ask("GetTable", bearer("bob"))
        for _ in range(5):
            await limited.ask("SignIn", bearer())
        refusals = [call for call in limited.logger.calls if call.args[0] == "call refused"]
        assert {call.method_name for call in refusals} == {"debug"}
        now += SECOND // 2
        await limited.ask("GetTable", bearer())


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
async def test_a_request_that_is_too_large_is_refused(site: Site, compression: grpc.Compression) -> None:
    """The limit holds for the uncompressed size."""
    request = pb.GetTableRequest(table_id="x" * 70_000)
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await site.stub.GetTable(request, metadata=bearer(), compression=compression)
    assert raised.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


async def probed(channel: grpc.aio.Channel, name: str) -> Any:
    request = health_pb2.HealthCheckRequest(service=name)
    return (await health_pb2_grpc.HealthStub(channel).Check(request, timeout=TIMEOUT_SECONDS)).status


async def test_health_reports_the_set_status_until_the_end_and_liveness(site: Site) -> None:
    async with probe_port("127.0.0.1:0") as probes, grpc.aio.insecure_channel(probes[0].address) as channel:
        assert await probed(channel, "") == NOT_SERVING
        for ready in (True, False, True):
            for listener in (site.listener, *probes):
                await listener.set_serving(ready)
            refused = [await probed(site.channel, name) for name in ("", LOBBY[1:])] + [await probed(channel, "")]
            assert refused == [SERVING if ready else NOT_SERVING] * 3
            assert await probed(site.channel, LIVE) == await probed(channel, LIVE) == SERVING
        await drain([site.listener, *probes], 0)
        assert (await probed(channel, ""), await probed(channel, LIVE)) == (NOT_SERVING, SERVING)
        with pytest.raises(grpc.aio.AioRpcError):
            await probed(site.channel, "")


async def test_the_port_for_probes_serves_health_only() -> None:
    async with probe_port("127.0.0.1:0") as probes, grpc.aio.insecure_channel(probes[0].address) as channel:
        # The request is sent as a whole: a stream that is refused while it is written ends differently.
        reflection: Any = channel.unary_unary("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")
        for call, code in (
            (probed(channel, "croupier_api.v1.LobbyService"), grpc.StatusCode.NOT_FOUND),
            (probed(channel, "x" * MAX_PROBE_BYTES), grpc.StatusCode.RESOURCE_EXHAUSTED),
            (lobby_pb2_grpc.LobbyServiceStub(channel).SignIn(pb.SignInRequest()), grpc.StatusCode.UNIMPLEMENTED),
            (reflection(b""), grpc.StatusCode.UNIMPLEMENTED),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await call
            assert refused.value.code() is code


async def test_no_port_for_probes_unless_asked_for() -> None:
    async with probe_port("") as probes:
        assert probes == []


async def test_an_address_in_use_is_reported(site: Site) -> None:
    with pytest.raises(SettingsError, match="cannot be listened on"):
        async with probe_port(site.listener.address):
            pytest.fail("it listens")
    with pytest.raises(SettingsError, match="cannot be listened on"):
        await listen(site.listener.address, [], lambda _: None, interceptor(CollectorRegistry(), site.logger))


def test_the_ready_file_appears_whole(tmp_path: Any) -> None:
    announce(tmp_path / "ready.json", {"listen": "127.0.0.1:1"})
    assert [path.name for path in tmp_path.iterdir()] == ["ready.json"]
    announce(None, {})
    with pytest.raises(SettingsError, match=r"--ready-file .*/no/ready.json cannot be written: No such file"):
        announce(tmp_path / "no" / "ready.json", {})
