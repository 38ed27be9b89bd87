"""Calls are routed to engines by table id, over HTTP and gRPC alike, and around unhealthy engines."""

import ssl
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from croupier_api.v1 import engine_pb2, tables_pb2
from croupier_api.v1.engine_pb2_grpc import EngineServiceStub
from tests.certificates import Authority, der, replace
from tests.gateway.harness import Gateway, opened_gateway, refused
from tests.waiting import until

pytestmark = pytest.mark.gateway
TABLES = [f"table{number}" for number in range(24)]
CALL_SECONDS = 120
CANCEL_SECONDS = 60
"""Less than the time-outs of gateway and engine."""
SERVICE = "croupier_api.v1.EngineService"


class FakeEngine:
    """An engine that answers GetView with its own address as the table's id, and records its calls."""

    def __init__(self, credentials: grpc.ServerCredentials | None = None) -> None:
        self.asked: list[str] = []
        self.metadata: list[tuple[tuple[str, str | bytes], ...]] = []
        self.remaining_seconds: list[float] = []
        self.arrived = threading.Event()
        self.ended = threading.Event()
        self.failing = threading.Event()
        self.answering = threading.Event()
        self.answering.set()
        self.padding = ""
        """A text that makes the answers large."""
        self._server = grpc.server(ThreadPoolExecutor(100), options=[("grpc.so_reuseport", 0)])
        unary, answer = grpc.unary_unary_rpc_method_handler, engine_pb2.GetViewResponse.SerializeToString
        handlers: dict[str, Any] = {
            "GetView": unary(self._view, engine_pb2.GetViewRequest.FromString, answer),
            "WatchTable": grpc.unary_stream_rpc_method_handler(self._watch),
            "SendReaction": unary(self._view, engine_pb2.SendReactionRequest.FromString, lambda _: b""),
        }
        self._server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(SERVICE, handlers)])
        servicer = health.HealthServicer()
        servicer.set("", health_pb2.HealthCheckResponse.SERVING)
        health_pb2_grpc.add_HealthServicer_to_server(servicer, self._server)
        server, here = self._server, "127.0.0.1:0"
        port = server.add_secure_port(here, credentials) if credentials else server.add_insecure_port(here)
        self.address = f"127.0.0.1:{port}"

    def _view(self, request: Any, context: grpc.ServicerContext) -> engine_pb2.GetViewResponse:
        self.asked.append(type(request).__name__)
        self.metadata.append(tuple(context.invocation_metadata()))
        self.remaining_seconds.append(context.time_remaining())
        context.add_callback(self.ended.set)
        self.arrived.set()
        self.answering.wait(CALL_SECONDS)
        if self.failing.is_set():
            context.abort(grpc.StatusCode.UNAVAILABLE, "draining")
        table = tables_pb2.PlayedTable(table_id=self.address, game=self.padding)
        return engine_pb2.GetViewResponse(snapshot=engine_pb2.Snapshot(table=table))

    def _watch(self, _request: bytes, _context: grpc.ServicerContext) -> Iterator[bytes]:
        self.asked.append("WatchTableRequest")
        yield bytes(500_000)

    @contextmanager
    def running(self) -> Iterator["FakeEngine"]:
        """Serve until the end of the block."""
        self._server.start()
        try:
            yield self
        finally:
            self.stop()

    def stop(self) -> None:
        """Stop serving at once."""
        self._server.stop(None).wait()


@contextmanager
def running_engine(
    folder: Path, *flags: str, credentials: grpc.ServerCredentials | None = None
) -> Iterator[tuple[FakeEngine, Gateway]]:
    """Run an engine and its gateway with these flags."""
    with (
        FakeEngine(credentials).running() as engine,
        opened_gateway(folder, f"--engine={engine.address}", *flags) as gateway,
    ):
        yield engine, gateway


@contextmanager
def running_engines(folder: Path) -> Iterator[tuple[Sequence[FakeEngine], Gateway]]:
    """Run three engines and their gateway."""
    with ExitStack() as stack:
        engines = [stack.enter_context(FakeEngine().running()) for _ in range(3)]
        addresses = ",".join(engine.address for engine in engines)
        flags = (f"--engine={addresses}", f"--engine-websocket={addresses}", f"--request-seconds={CALL_SECONDS}")
        yield engines, stack.enter_context(opened_gateway(folder, *flags))


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Sequence[FakeEngine], Gateway]]:
    with running_engines(tmp_path_factory.mktemp("routing")) as running:
        yield running


@pytest.fixture
def engines(running: tuple[Sequence[FakeEngine], Gateway]) -> Sequence[FakeEngine]:
    """Return three engines that tests share, without the calls and the fault of earlier tests."""
    for engine in running[0]:
        engine.asked.clear()
        engine.failing.clear()
    return running[0]


@pytest.fixture
def gateway(running: tuple[Sequence[FakeEngine], Gateway]) -> Gateway:
    return running[1]


def view_by_json(gateway: Gateway, table_id: str) -> str:
    """Return the address of the engine that answers."""
    answer = gateway.ask("GET", f"/v1/tables/{table_id}/view", token=gateway.token())
    assert answer.status == 200, answer.body
    address: str = answer.json["snapshot"]["table"]["table_id"]
    return address


def metadata(gateway: Gateway, table_id: str | None) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {gateway.token()}"), *([("x-table-id", table_id)] if table_id else []))


def view_by_grpc(gateway: Gateway, table_id: str, *, named: bool = True) -> str:
    sent = metadata(gateway, table_id if named else None)
    with grpc.insecure_channel(gateway.address) as channel:
        request = engine_pb2.GetViewRequest(table_id=table_id)
        answer = EngineServiceStub(channel).GetView(request, metadata=sent, timeout=CALL_SECONDS)
    return answer.snapshot.table.table_id


def test_a_table_stays_on_one_engine_by_header_and_by_path(engines: Sequence[FakeEngine], gateway: Gateway) -> None:
    homes = {table_id: view_by_grpc(gateway, table_id) for table_id in TABLES}
    assert set(homes.values()) == {engine.address for engine in engines}
    for table_id, home in homes.items():
        assert view_by_grpc(gateway, table_id) == home
        assert view_by_json(gateway, table_id) == home
    # Any engine answers a call that names no table.
    assert view_by_grpc(gateway, "table", named=False) in homes.values()


def test_a_table_whose_engine_stopped_is_routed_to_another(tmp_path: Path) -> None:
    with running_engines(tmp_path) as (engines, gateway):
        homes = {table_id: view_by_grpc(gateway, table_id) for table_id in TABLES}
        engines[0].stop()
        now = {table_id: view_by_grpc(gateway, table_id) for table_id in TABLES}
    assert set(now.values()) == {engine.address for engine in engines[1:]}
    # The ring is rebuilt from the remaining engines, which moves a few other tables too.
    moved = [table_id for table_id, home in homes.items() if home != engines[0].address and now[table_id] != home]
    assert len(moved) < len(TABLES) // 3


def test_only_idempotent_calls_are_retried(engines: Sequence[FakeEngine], gateway: Gateway) -> None:
    for engine in engines:
        engine.failing.set()
    token = gateway.token()
    assert gateway.ask("GET", "/v1/tables/one/view", token=token).status == 503
    retry_headers = {"x-envoy-retry-grpc-on": "unavailable", "x-envoy-retry-on": "5xx", "x-envoy-max-retries": "9"}
    answer = gateway.ask(
        "POST", "/v1/tables/one/reactions", {"reaction": "REACTION_WOW"}, token=token, headers=retry_headers
    )
    assert answer.status == 503
    asked = [name for engine in engines for name in engine.asked]
    assert (asked.count("GetViewRequest"), asked.count("SendReactionRequest")) == (3, 1)


@pytest.mark.slow
def test_a_service_that_does_not_answer_in_time(tmp_path: Path) -> None:
    with running_engine(tmp_path, "--request-seconds=1") as (engine, gateway):
        engine.answering.clear()
        try:
            late = gateway.ask("GET", "/v1/tables/one/view", token=gateway.token())
            refused(late, 504, grpc.StatusCode.DEADLINE_EXCEEDED, "took too long")
            with pytest.raises(grpc.RpcError) as fault:
                view_by_grpc(gateway, "one")
        finally:
            engine.answering.set()
    # If both time-outs ended at once, either message could be the answer.
    assert all(seconds > 3 for seconds in engine.remaining_seconds)
    assert isinstance(fault.value, grpc.Call)
    assert (fault.value.code(), "took too long" in fault.value.details()) == (grpc.StatusCode.DEADLINE_EXCEEDED, True)


def test_a_call_that_its_client_cancelled_is_cancelled_at_the_engine(
    engines: Sequence[FakeEngine], gateway: Gateway
) -> None:
    home = view_by_grpc(gateway, "one")
    asked = next(engine for engine in engines if engine.address == home)
    asked.arrived.clear()
    asked.answering.clear()
    try:
        with grpc.insecure_channel(gateway.address) as channel:
            call: Any = EngineServiceStub(channel).GetView
            waiting = call.future(engine_pb2.GetViewRequest(table_id="one"), metadata=metadata(gateway, "one"))
            assert asked.arrived.wait(CALL_SECONDS)
            asked.ended.clear()
            waiting.cancel()
            assert asked.ended.wait(CANCEL_SECONDS)
    finally:
        asked.answering.set()


@pytest.mark.parametrize(
    ("name", "same_authority", "status"), [("engine", True, 200), ("scoring", True, 503), ("engine", False, 503)]
)
def test_upstreams_use_mutual_tls(tmp_path: Path, name: str, same_authority: bool, status: int) -> None:
    """A server with another name, or with a certificate of another authority, is refused."""
    authority = Authority()
    engines = (authority if same_authority else Authority()).issue(name)
    files = authority.files(tmp_path / "gateway", authority.issue("gateway"))
    flags = (f"--upstream-certificate={files.certificate}", f"--upstream-key={files.key}", f"--upstream-ca={files.ca}")
    asks = grpc.ssl_server_credentials(
        [(engines.key, engines.certificate)], authority.authority.certificate, require_client_auth=True
    )
    with running_engine(tmp_path, *flags, credentials=asks) as (_, gateway):
        assert gateway.ask("GET", "/v1/tables/one/view", token=gateway.token()).status == status


async def test_a_new_certificate_is_used_without_a_restart(tmp_path: Path) -> None:
    deployment = Authority()
    files = deployment.files(tmp_path / "gateway", deployment.issue("localhost"))
    flags = (f"--certificate={files.certificate}", f"--key={files.key}")
    with opened_gateway(tmp_path, *flags, authority=files.ca) as gateway:
        new = deployment.issue("localhost")
        replace(files, new)
        await until(lambda: presented_certificate(gateway) == der(new.certificate))


def presented_certificate(gateway: Gateway) -> bytes:
    """Return the certificate that the gateway presents."""
    return der(ssl.get_server_certificate(("127.0.0.1", gateway.port)).encode())
