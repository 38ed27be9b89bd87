"""A small gRPC server of the runtime: every way a call can end, over a real connection."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import grpc
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.protobuf import duration_pb2
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_status import rpc_status
from prometheus_client import CollectorRegistry

from croupier.runtime import errors
from croupier.runtime.identity import ENGINE_CONTROL_AUDIENCE, PLAYER_AUDIENCE, TokenIssuer, TokenVerifier, caller
from croupier.runtime.interceptor import Authenticator, CallInterceptor
from croupier.runtime.metrics import RpcMetrics
from croupier.runtime.player_limit import SECOND, PlayerLimit
from croupier.runtime.server import LARGEST_PROBE_BYTES, LIVE, Listener, announce, drain, listen, probe_port
from croupier_api.v1 import lobby_pb2 as pb
from croupier_api.v1 import lobby_pb2_grpc
from tests.waiting import PATIENCE_SECONDS, until

NOW = 1_700_000_000_000
KEY = Ed25519PrivateKey.generate()
LOBBY = "/croupier_api.v1.LobbyService"
KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and hasattr(kind, "code")]


class Servicer(lobby_pb2_grpc.LobbyServiceServicer):
    """Does what the test sets."""

    def __init__(self) -> None:
        self.act: Callable[[], None] = lambda: None
        self.closed = asyncio.Event()
        self.made: list[Any] = []

    async def GetTable(self, request: pb.GetTableRequest, context: Any) -> pb.GetTableResponse:
        self.act()
        return pb.GetTableResponse(table=pb.Table(table_id=request.table_id, game=caller().id))

    async def SignIn(self, request: pb.SignInRequest, context: Any) -> pb.SignInResponse:
        return pb.SignInResponse()

    def WatchTables(self, request: pb.WatchTablesRequest, context: Any) -> AsyncIterator[pb.WatchTablesResponse]:
        # Kept, so that it is not the garbage collector who closes it.
        self.made.append(self._watch(request))
        stream: AsyncIterator[pb.WatchTablesResponse] = self.made[-1]
        return stream

    async def _watch(self, request: pb.WatchTablesRequest) -> AsyncIterator[pb.WatchTablesResponse]:
        try:
            yield pb.WatchTablesResponse(table=pb.Table(table_id=request.table_id, game=caller().id))
            self.act()
            while request.table_id == "endless":
                yield pb.WatchTablesResponse(table=pb.Table(game="x" * 1000))
        finally:
            self.closed.set()


@dataclass
class Logger:
    events: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)

    def info(self, event: str, **fields: Any) -> None:
        self.events.append(("info", event, fields))

    def debug(self, event: str, **fields: Any) -> None:
        self.events.append(("debug", event, fields))

    def error(self, event: str, **fields: Any) -> None:
        self.events.append(("error", event, fields))


@dataclass
class Site:
    servicer: Servicer
    listener: Listener
    channel: grpc.aio.Channel
    stub: Any
    registry: CollectorRegistry
    logger: Logger

    def calls(self, method: str, code: str) -> float | None:
        return self.registry.get_sample_value("croupier_rpc_calls_total", {"method": method, "code": code})


@asynccontextmanager
async def opened_site(limit: PlayerLimit | None = None) -> AsyncIterator[Site]:
    servicer, registry, logger = Servicer(), CollectorRegistry(), Logger()  # type: ignore[abstract]
    authenticator = Authenticator(
        TokenVerifier(KEY.public_key(), PLAYER_AUDIENCE, lambda: NOW), frozenset({f"{LOBBY}/SignIn"})
    )
    listener = await listen(
        "127.0.0.1:0",
        ["croupier_api.v1.LobbyService"],
        lambda server: lobby_pb2_grpc.add_LobbyServiceServicer_to_server(servicer, server),
        CallInterceptor(authenticator, RpcMetrics(registry), logger, limit=limit),
    )
    async with grpc.aio.insecure_channel(listener.address) as channel:
        yield Site(servicer, listener, channel, lobby_pb2_grpc.LobbyServiceStub(channel), registry, logger)
    await listener.server.stop(None)


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with opened_site() as opened:
        yield opened


def bearer(
    audience: str = PLAYER_AUDIENCE, key: Ed25519PrivateKey = KEY, at: int = NOW, player_id: str = "ada"
) -> tuple[tuple[str, str], ...]:
    token, _ = TokenIssuer(key, audience, 60, lambda: at).issue(player_id, "Ada")
    return (("authorization", f"Bearer {token}"),)


@dataclass
class Refusal:
    code: str
    message: str
    info: error_details_pb2.ErrorInfo
    field: str
    retry: duration_pb2.Duration


async def refused(call: Any) -> Refusal:
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await call
    info, bad, retry = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest(), error_details_pb2.RetryInfo()
    for detail in rpc_status.from_call(raised.value).details:
        for message in (info, bad, retry):
            detail.Unpack(message)
    assert info.domain == "croupier"
    named = bad.field_violations[0].field if bad.field_violations else ""
    return Refusal(raised.value.code().name, raised.value.details() or "", info, named, retry.retry_delay)


async def test_a_good_call_knows_its_caller_and_is_counted(site: Site) -> None:
    response = await site.stub.GetTable(pb.GetTableRequest(table_id="t"), metadata=bearer())
    assert (response.table.table_id, response.table.game) == ("t", "ada")
    assert site.calls(f"{LOBBY}/GetTable", "OK") == 1
    labels = {"method": f"{LOBBY}/GetTable", "code": "OK"}
    assert site.registry.get_sample_value("croupier_rpc_seconds_count", labels) == 1


async def test_an_open_method_needs_nobody(site: Site) -> None:
    await site.stub.SignIn(pb.SignInRequest())


@pytest.mark.parametrize("kind", ["unary_unary", "unary_stream"])
async def test_malformed_protobuf_is_an_invalid_argument(site: Site, kind: str) -> None:
    method = f"{LOBBY}/{'GetTable' if kind == 'unary_unary' else 'WatchTables'}"
    call = getattr(site.channel, kind)(method)(b"\xff\xff\xff", metadata=bearer())
    refusal = await refused(call if kind == "unary_unary" else call.read())
    assert (refusal.code, refusal.info.reason) == ("INVALID_ARGUMENT", "MALFORMED_MESSAGE")
    assert site.calls(method, "INVALID_ARGUMENT") == 1


async def test_an_unknown_method_is_unimplemented(site: Site) -> None:
    for method in (f"{LOBBY}/Cheat", "/nobody.Knows/This"):
        call: Any = site.channel.unary_unary(method)
        refusal = await refused(call(b"", metadata=bearer()))
        assert (refusal.code, refusal.info.reason) == ("UNIMPLEMENTED", "UNKNOWN_METHOD")
    assert site.calls("unknown", "UNIMPLEMENTED") == 2


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("stream", [False, True])
async def test_every_error_keeps_its_code_reason_and_details(
    site: Site, kind: type[errors.ServiceError], stream: bool
) -> None:
    def act() -> None:
        raise kind("REASON", "what and how", field="part", retry_after_seconds=1.5, metadata={"rule": "X-1"})

    site.servicer.act = act
    if stream:
        call = site.stub.WatchTables(pb.WatchTablesRequest(), metadata=bearer())
        await call.read()
        refusal = await refused(call.read())
    else:
        refusal = await refused(site.stub.GetTable(pb.GetTableRequest(), metadata=bearer()))
    assert (refusal.code, refusal.message, refusal.field) == (kind.code.name, "what and how", "part")
    assert (refusal.info.reason, dict(refusal.info.metadata)) == ("REASON", {"rule": "X-1"})
    assert refusal.retry.ToMilliseconds() == 1500
    assert site.calls(f"{LOBBY}/{'WatchTables' if stream else 'GetTable'}", kind.code.name) == 1


@pytest.mark.parametrize(
    "metadata",
    [
        (),
        (("authorization", "Bearer nonsense"),),
        bearer(at=NOW - 61_000),
        bearer(audience=ENGINE_CONTROL_AUDIENCE),
        bearer(key=Ed25519PrivateKey.generate()),
    ],
    ids=["none", "nonsense", "expired", "foreign audience", "forged"],
)
async def test_a_token_that_does_not_hold_is_unauthenticated(site: Site, metadata: tuple[tuple[str, str], ...]) -> None:
    for call in (
        site.stub.GetTable(pb.GetTableRequest(), metadata=metadata),
        site.stub.WatchTables(pb.WatchTablesRequest(), metadata=metadata).read(),
    ):
        refusal = await refused(call)
        assert (refusal.code, refusal.info.reason) == ("UNAUTHENTICATED", "UNAUTHENTICATED")


async def test_an_unexpected_exception_is_internal_with_a_bare_text_and_in_the_log(site: Site) -> None:
    def act() -> None:
        raise RuntimeError("the ace of spades")

    site.servicer.act = act
    refusal = await refused(site.stub.GetTable(pb.GetTableRequest(), metadata=bearer()))
    assert (refusal.code, refusal.info.reason) == ("INTERNAL", "INTERNAL")
    assert "ace" not in refusal.message
    ((_, _, fields),) = [event for event in site.logger.events if event[0] == "error"]
    assert isinstance(fields["exc_info"], RuntimeError)
    assert site.calls(f"{LOBBY}/GetTable", "INTERNAL") == 1


async def test_a_stream_that_is_cancelled_closes_its_generator_and_is_counted(site: Site) -> None:
    call = site.stub.WatchTables(pb.WatchTablesRequest(table_id="endless"), metadata=bearer())
    assert (await call.read()).table.game == "ada"
    labels = {"method": f"{LOBBY}/WatchTables"}
    assert site.registry.get_sample_value("croupier_rpc_open_calls", labels) == 1
    call.cancel()
    await asyncio.wait_for(site.servicer.closed.wait(), PATIENCE_SECONDS)
    await until(lambda: site.registry.get_sample_value("croupier_rpc_open_calls", labels) == 0)


async def test_a_player_who_calls_too_often_is_refused_and_nobody_else() -> None:
    now = 0
    async with opened_site(PlayerLimit(2, 3, lambda: now)) as limited:
        get = partial(limited.stub.GetTable, pb.GetTableRequest())
        await get(metadata=bearer())
        await limited.stub.WatchTables(pb.WatchTablesRequest(), metadata=bearer()).read()
        await get(metadata=bearer())
        watch = limited.stub.WatchTables(pb.WatchTablesRequest(), metadata=bearer())
        for call, method in ((get(metadata=bearer()), "GetTable"), (watch.read(), "WatchTables")):
            refusal = await refused(call)
            assert (refusal.code, refusal.info.reason) == ("RESOURCE_EXHAUSTED", "TOO_MANY_CALLS")
            assert refusal.retry.ToMilliseconds() == 500
            labels = {"method": f"{LOBBY}/{method}"}
            assert limited.registry.get_sample_value("croupier_rpc_limited_total", labels) == 1
            assert limited.calls(f"{LOBBY}/{method}", "RESOURCE_EXHAUSTED") == 1
        await get(metadata=bearer(player_id="bob"))
        for _ in range(5):
            await limited.stub.SignIn(pb.SignInRequest(), metadata=bearer())
        assert {level for level, event, _ in limited.logger.events if event == "call refused"} == {"debug"}
        now += SECOND // 2
        await get(metadata=bearer())


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
async def test_a_request_that_is_too_large_is_refused(site: Site, compression: grpc.Compression) -> None:
    """However small it is on its way."""
    request = pb.GetTableRequest(table_id="x" * 70_000)
    with pytest.raises(grpc.aio.AioRpcError) as raised:
        await site.stub.GetTable(request, metadata=bearer(), compression=compression)
    assert raised.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_health_says_what_it_was_told_and_stops_welcoming_at_the_end(site: Site) -> None:
    stub, serving = health_pb2_grpc.HealthStub(site.channel), health_pb2.HealthCheckResponse.SERVING
    for ready in (True, False, True):
        await site.listener.set_serving(ready)
        for name in ("", "croupier_api.v1.LobbyService"):
            answer = await stub.Check(health_pb2.HealthCheckRequest(service=name))
            assert (answer.status == serving) is ready
    await drain([site.listener], 0)
    with pytest.raises(grpc.aio.AioRpcError):
        await stub.Check(health_pb2.HealthCheckRequest())


SERVING, NOT_SERVING = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING


async def probed(channel: grpc.aio.Channel, name: str) -> Any:
    answer = await health_pb2_grpc.HealthStub(channel).Check(
        health_pb2.HealthCheckRequest(service=name), timeout=PATIENCE_SECONDS
    )
    return answer.status


async def test_a_process_lives_whether_calls_are_welcome_or_not(site: Site) -> None:
    for ready in (True, False):
        await site.listener.set_serving(ready)
        assert await probed(site.channel, LIVE) == SERVING


async def test_the_port_for_probes_tells_health_until_the_end(site: Site) -> None:
    async with probe_port("127.0.0.1:0") as probes, grpc.aio.insecure_channel(probes[0].address) as channel:
        assert await probed(channel, "") == NOT_SERVING
        for listener in (site.listener, *probes):
            await listener.set_serving(True)
        assert await probed(channel, "") == await probed(site.channel, "") == SERVING
        await drain([site.listener, *probes], 0)
        assert await probed(channel, "") == NOT_SERVING
        assert await probed(channel, LIVE) == SERVING
        with pytest.raises(grpc.aio.AioRpcError):
            await probed(site.channel, "")


async def test_the_port_for_probes_tells_nothing_else() -> None:
    async with probe_port("127.0.0.1:0") as probes, grpc.aio.insecure_channel(probes[0].address) as channel:
        reflection: Any = channel.stream_stream("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")
        for call, code in (
            (probed(channel, "croupier_api.v1.LobbyService"), grpc.StatusCode.NOT_FOUND),
            (probed(channel, "x" * LARGEST_PROBE_BYTES), grpc.StatusCode.RESOURCE_EXHAUSTED),
            (lobby_pb2_grpc.LobbyServiceStub(channel).SignIn(pb.SignInRequest()), grpc.StatusCode.UNIMPLEMENTED),
            (reflection([b""]).read(), grpc.StatusCode.UNIMPLEMENTED),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await call
            assert refused.value.code() is code


async def test_no_port_for_probes_unless_asked_for(site: Site) -> None:
    async with probe_port("") as probes:
        assert probes == []
    with pytest.raises(ValueError, match="cannot be listened on"):
        async with probe_port(site.listener.address):
            pytest.fail("it listens")


async def test_an_address_that_is_taken_is_a_clear_fault(site: Site) -> None:
    interceptor = CallInterceptor(
        Authenticator(TokenVerifier(KEY.public_key(), PLAYER_AUDIENCE, lambda: NOW)),
        RpcMetrics(CollectorRegistry()),
        site.logger,
    )
    with pytest.raises(ValueError, match="cannot be listened on"):
        await listen(site.listener.address, [], lambda _: None, interceptor)


def test_the_ready_file_appears_whole(tmp_path: Any) -> None:
    announce(tmp_path / "ready.json", {"listen": "127.0.0.1:1"})
    assert [path.name for path in tmp_path.iterdir()] == ["ready.json"]
    announce(None, {})
