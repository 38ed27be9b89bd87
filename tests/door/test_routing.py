"""Where calls go when there are several engines: by table, whichever way they come, and past those that are ill."""

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

from croupier_api.v1 import engine_pb2, table_pb2
from croupier_api.v1.engine_pb2_grpc import EngineServiceStub
from tests.certificates import House, der, replace
from tests.door.doors import Door, opened_door, refused
from tests.waiting import until

pytestmark = pytest.mark.gateway
TABLES = [f"table{number}" for number in range(24)]
CALL_SECONDS = 120
GIVEN_UP_SECONDS = 60
"""Sooner than door or engine give up a call by themselves."""
SERVICE = "croupier_api.v1.EngineService"
SOON = "--request-seconds=1"


class FakeEngine:
    """Answers GetView with its own address in the table's id, and counts what it is asked."""

    def __init__(self, credentials: grpc.ServerCredentials | None = None) -> None:
        self.asked: list[str] = []
        self.heard: list[dict[str, str | bytes]] = []
        self.remaining_seconds: list[float] = []
        self.came = threading.Event()
        self.ended = threading.Event()
        self.failing = threading.Event()
        self.answering = threading.Event()
        self.answering.set()
        self._server = grpc.server(ThreadPoolExecutor(8), options=[("grpc.so_reuseport", 0)])
        unary, answer = grpc.unary_unary_rpc_method_handler, engine_pb2.GetViewResponse.SerializeToString
        handlers: dict[str, Any] = {
            "GetView": unary(self._view, engine_pb2.GetViewRequest.FromString, answer),
            "React": unary(self._view, engine_pb2.ReactRequest.FromString, lambda _: b""),
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
        self.heard.append(dict(context.invocation_metadata()))
        self.remaining_seconds.append(context.time_remaining())
        context.add_callback(self.ended.set)
        self.came.set()
        self.answering.wait(CALL_SECONDS)
        if self.failing.is_set():
            context.abort(grpc.StatusCode.UNAVAILABLE, "draining")
        info = table_pb2.TableInfo(table_id=self.address)
        return engine_pb2.GetViewResponse(snapshot=engine_pb2.Snapshot(table=info))

    @contextmanager
    def running(self) -> Iterator["FakeEngine"]:
        """Serve for as long as the body takes."""
        self._server.start()
        try:
            yield self
        finally:
            self.stop()

    def stop(self) -> None:
        """End at once."""
        self._server.stop(None).wait()


@pytest.fixture
def engines() -> Iterator[Sequence[FakeEngine]]:
    with ExitStack() as stack:
        yield [stack.enter_context(FakeEngine().running()) for _ in range(3)]


@pytest.fixture
def door(engines: Sequence[FakeEngine], tmp_path: Path) -> Iterator[Door]:
    addresses = ",".join(engine.address for engine in engines)
    with opened_door(tmp_path, f"--engine={addresses}", f"--request-seconds={CALL_SECONDS}") as door:
        yield door


def view_by_json(door: Door, table_id: str) -> str:
    """The engine that answers."""
    answer = door.ask("GET", f"/v1/tables/{table_id}/view", token=door.token())
    assert answer.status == 200, answer.body
    address: str = answer.json["snapshot"]["table"]["table_id"]
    return address


def metadata(door: Door, table_id: str | None) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {door.token()}"), *([("x-table-id", table_id)] if table_id else []))


def view_by_grpc(door: Door, table_id: str, *, named: bool = True) -> str:
    sent = metadata(door, table_id if named else None)
    with grpc.insecure_channel(door.address) as channel:
        request = engine_pb2.GetViewRequest(table_id=table_id)
        answer = EngineServiceStub(channel).GetView(request, metadata=sent, timeout=CALL_SECONDS)
    return answer.snapshot.table.table_id


def test_a_table_stays_on_one_engine_by_header_and_by_path(engines: Sequence[FakeEngine], door: Door) -> None:
    homes = {table_id: view_by_grpc(door, table_id) for table_id in TABLES}
    assert set(homes.values()) == {engine.address for engine in engines}
    for table_id, home in homes.items():
        assert view_by_grpc(door, table_id) == home
        assert view_by_json(door, table_id) == home


def test_without_a_table_any_engine_answers(engines: Sequence[FakeEngine], door: Door) -> None:
    assert view_by_grpc(door, "table", named=False) in {engine.address for engine in engines}


def test_a_table_whose_engine_has_gone_finds_another(engines: Sequence[FakeEngine], door: Door) -> None:
    homes = {table_id: view_by_grpc(door, table_id) for table_id in TABLES}
    engines[0].stop()
    now = {table_id: view_by_grpc(door, table_id) for table_id in TABLES}
    assert set(now.values()) == {engine.address for engine in engines[1:]}
    # The ring is drawn anew among those that are left, so that a few others move too.
    moved = [table_id for table_id, home in homes.items() if home != engines[0].address and now[table_id] != home]
    assert len(moved) < len(TABLES) // 3


def test_only_what_is_harmless_is_asked_a_second_time(engines: Sequence[FakeEngine], door: Door) -> None:
    for engine in engines:
        engine.failing.set()
    token = door.token()
    assert door.ask("GET", "/v1/tables/one/view", token=token).status == 503
    told = {"x-envoy-retry-grpc-on": "unavailable", "x-envoy-retry-on": "5xx", "x-envoy-max-retries": "9"}
    answer = door.ask("POST", "/v1/tables/one/reactions", {"reaction": "hm"}, token=token, headers=told)
    assert answer.status == 503
    asked = [name for engine in engines for name in engine.asked]
    assert (asked.count("GetViewRequest"), asked.count("ReactRequest")) == (3, 1)


@pytest.mark.slow
def test_a_service_that_does_not_answer_in_time(tmp_path: Path) -> None:
    with FakeEngine().running() as engine, opened_door(tmp_path, f"--engine={engine.address}", SOON) as door:
        engine.answering.clear()
        try:
            late = door.ask("GET", "/v1/tables/one/view", token=door.token())
            refused(late, 504, grpc.StatusCode.DEADLINE_EXCEEDED, "took too long")
            with pytest.raises(grpc.RpcError) as fault:
                view_by_grpc(door, "one")
        finally:
            engine.answering.set()
    # Were it over for both at once, either could be the one whose words are read.
    assert all(seconds > 3 for seconds in engine.remaining_seconds)
    assert isinstance(fault.value, grpc.Call)
    assert (fault.value.code(), "took too long" in fault.value.details()) == (grpc.StatusCode.DEADLINE_EXCEEDED, True)


def test_a_client_that_gave_up_is_not_worked_for_any_longer(engines: Sequence[FakeEngine], door: Door) -> None:
    home = view_by_grpc(door, "one")
    asked = next(engine for engine in engines if engine.address == home)
    asked.came.clear()
    asked.answering.clear()
    try:
        with grpc.insecure_channel(door.address) as channel:
            call: Any = EngineServiceStub(channel).GetView
            waiting = call.future(engine_pb2.GetViewRequest(table_id="one"), metadata=metadata(door, "one"))
            assert asked.came.wait(CALL_SECONDS)
            asked.ended.clear()
            waiting.cancel()
            assert asked.ended.wait(GIVEN_UP_SECONDS)
    finally:
        asked.answering.set()


@pytest.mark.parametrize(
    ("name", "signed_by_ours", "status"), [("engine", True, 200), ("scoring", True, 503), ("engine", False, 503)]
)
def test_services_are_spoken_to_by_mutual_tls(tmp_path: Path, name: str, signed_by_ours: bool, status: int) -> None:
    """A server of another name, or one that somebody else vouches for, is no engine."""
    ours = House()
    engines = (ours if signed_by_ours else House()).issue(name)
    files = ours.files(tmp_path / "door", ours.issue("door"))
    flags = (f"--upstream-certificate={files.certificate}", f"--upstream-key={files.key}", f"--upstream-ca={files.ca}")
    asks = grpc.ssl_server_credentials(
        [(engines.key, engines.certificate)], ours.authority.certificate, require_client_auth=True
    )
    with FakeEngine(asks).running() as engine, opened_door(tmp_path, f"--engine={engine.address}", *flags) as door:
        assert door.ask("GET", "/v1/tables/one/view", token=door.token()).status == status


async def test_a_new_certificate_is_taken_without_a_restart(tmp_path: Path) -> None:
    house = House()
    files = house.files(tmp_path / "door", house.issue("localhost"))
    flags = (f"--certificate={files.certificate}", f"--key={files.key}")
    with opened_door(tmp_path, *flags, authority=files.ca) as door:
        new = house.issue("localhost")
        replace(files, new)
        await until(lambda: shown(door) == der(new.certificate))


def shown(door: Door) -> bytes:
    """The certificate that the door shows."""
    return der(ssl.get_server_certificate(("127.0.0.1", door.port)).encode())
