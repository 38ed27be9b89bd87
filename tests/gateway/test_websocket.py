"""Tables are played by WebSocket through the gateway: at one path, by allowed origins, for as long as they last."""

import asyncio
import json
import socket
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import grpc
import pytest
from websockets.exceptions import ConnectionClosedError, InvalidStatus

from croupier.gateway.admin import STREAM_POLL_SECONDS, Admin
from croupier.runtime.admission.network import ADDRESS_HEADER
from tests.certificates import Authority
from tests.gateway.harness import UPGRADE, Answer, Gateway, metric_values, opened_gateway, refused
from tests.gateway.raw_http2 import DATA, HEADERS, RawHttp2
from tests.gateway.test_routing import TABLES, FakeEngine, view_by_grpc, view_by_json
from tests.gateway.websocket_engine import (
    CLOSE_CODE,
    END,
    LAST_FRAME,
    SILENCE,
    WebSocketEngine,
    home_of,
    play,
    running_engines,
)
from tests.waiting import TIMEOUT_SECONDS, until

pytestmark = pytest.mark.gateway
ORIGIN, FOREIGN = "https://play.example", "https://evil.example"
REQUEST_SECONDS = 5.0
"""The gateway's maximum for a request to arrive."""
INVALID = grpc.StatusCode.INVALID_ARGUMENT
PLAY = "/v1/tables/t/play"
HEALTHY = 'envoy_cluster_membership_healthy{envoy_cluster_name="engine_websocket"}'


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Sequence[WebSocketEngine], Gateway]]:
    folder = tmp_path_factory.mktemp("websocket")
    flags = (f"--allowed-origins={ORIGIN}", "--access-log=true", "--request-seconds=1")
    with running_engines(folder, *flags, count=3, silent_seconds=REQUEST_SECONDS + 1) as running:
        yield running


@pytest.fixture
def engines(running: tuple[Sequence[WebSocketEngine], Gateway]) -> Sequence[WebSocketEngine]:
    for engine in running[0]:
        engine.headers.clear()
        engine.paths.clear()
    return running[0]


@pytest.fixture
def gateway(running: tuple[Sequence[WebSocketEngine], Gateway]) -> Gateway:
    return running[1]


def refusal(fault: pytest.ExceptionInfo[InvalidStatus]) -> Answer:
    """Return the answer to a refused handshake."""
    answer = fault.value.response
    headers = {name.lower(): value for name, value in answer.headers.raw_items()}
    return Answer(answer.status_code, headers, bytes(answer.body))


def test_messages_of_both_kinds_pass(gateway: Gateway) -> None:
    """Together they are larger than the body of a call may be."""
    with play(gateway) as connection:
        connection.recv(TIMEOUT_SECONDS)
        for _ in range(20):
            for message in ("a" * 65_536, b"b" * 65_536, b""):
                connection.send(message)
                assert connection.recv(TIMEOUT_SECONDS) == message


def test_a_table_is_at_one_engine_over_all_transports(engines: Sequence[WebSocketEngine], gateway: Gateway) -> None:
    homes = {table_id: home_of(gateway, table_id) for table_id in TABLES}
    assert set(homes.values()) == {each.engine.address for each in engines}
    for table_id, home in homes.items():
        assert home_of(gateway, table_id) == home
        assert view_by_grpc(gateway, table_id) == home
        assert view_by_json(gateway, table_id) == home


def test_the_header_of_other_calls_does_not_lead_to_another_engine(gateway: Gateway) -> None:
    other = next(table_id for table_id in TABLES if home_of(gateway, table_id) != home_of(gateway))
    with play(gateway, x_table_id=other) as connection:
        assert connection.recv(TIMEOUT_SECONDS) == home_of(gateway)


@pytest.mark.parametrize("origin", [ORIGIN, None], ids=["allowed page", "no page"])
def test_an_allowed_origin_may_play(gateway: Gateway, origin: str | None) -> None:
    with play(gateway, origin=origin) as connection:
        assert connection.recv(TIMEOUT_SECONDS)
        assert connection.response is not None
        headers = {name.lower() for name, _ in connection.response.headers.raw_items()}
    assert not headers & {"server", "via", "grpc-status"}


def test_a_page_of_another_origin_may_not_play(engines: Sequence[WebSocketEngine], gateway: Gateway) -> None:
    with pytest.raises(InvalidStatus) as fault, play(gateway, origin=FOREIGN):
        pass
    refused(refusal(fault), 403, grpc.StatusCode.PERMISSION_DENIED, "web pages of this origin")
    assert [each.paths for each in engines] == [[], [], []]


@pytest.mark.parametrize(
    ("path", "protocol"),
    [
        (f"{PLAY}?access_token=secret", "websocket"),
        (f"{PLAY}/", "websocket"),
        ("/v1/tables//play", "websocket"),
        ("/v1/tables/a/b/play", "websocket"),
        ("/v1/tables/t/view", "websocket"),
        ("/croupier_api.v1.EngineService/PlayTable", "websocket"),
        (PLAY, "websocket2"),
    ],
)
def test_nothing_else_is_upgraded(
    engines: Sequence[WebSocketEngine], gateway: Gateway, path: str, protocol: str
) -> None:
    answer = gateway.ask("GET", path, token=gateway.token(), headers={**UPGRADE, "upgrade": protocol})
    refused(answer, 400, INVALID, "Upgrade and CONNECT")
    assert [each.paths for each in engines] == [[], [], []]


@pytest.mark.parametrize("headers", [{}, {**UPGRADE, "upgrade": "h2c"}], ids=["call", "h2c"])
@pytest.mark.parametrize(("method", "query"), [("GET", ""), ("GET", "?a=b"), ("POST", ""), ("DELETE", "")])
def test_the_path_is_no_call(gateway: Gateway, method: str, query: str, headers: Mapping[str, str]) -> None:
    refused(gateway.ask(method, PLAY + query, headers=headers), 426, INVALID, "'upgrade: websocket'")


@pytest.mark.parametrize(
    "headers",
    [{"upgrade": "websocket"}, {":method": "CONNECT", ":protocol": "websocket"}],
    ids=["upgrade", "extended CONNECT"],
)
def test_http_2_has_no_websocket(
    engines: Sequence[WebSocketEngine], gateway: Gateway, headers: Mapping[str, str]
) -> None:
    """Browsers open another connection for it, with HTTP/1.1."""
    with closing(socket.create_connection(("127.0.0.1", gateway.port), TIMEOUT_SECONDS)) as connection:
        raw = RawHttp2(connection)
        raw.get(PLAY, headers)
        with suppress(ConnectionResetError):
            assert not {HEADERS, DATA} & {frame.kind for frame in raw.frames()}
    assert [each.paths for each in engines] == [[], [], []]


def test_the_last_frame_and_the_close_code_of_the_engine_arrive(gateway: Gateway) -> None:
    with play(gateway) as connection:
        connection.recv(TIMEOUT_SECONDS)
        connection.send(END)
        assert connection.recv(TIMEOUT_SECONDS) == LAST_FRAME
        with pytest.raises(ConnectionClosedError):
            connection.recv(TIMEOUT_SECONDS)
        assert (connection.close_code, connection.close_reason) == (CLOSE_CODE, "the reason")


async def test_the_end_of_a_client_is_one_for_the_engine(engines: Sequence[WebSocketEngine], gateway: Gateway) -> None:
    with play(gateway) as connection:
        home = connection.recv(TIMEOUT_SECONDS)
        [engine] = [each for each in engines if each.engine.address == home]
        engine.ended.clear()
        connection.socket.close()
    await until(engine.ended.is_set)


def test_a_player_may_be_silent_for_longer_than_a_request_may_arrive(gateway: Gateway) -> None:
    with play(gateway) as connection:
        connection.recv(TIMEOUT_SECONDS)
        connection.send(SILENCE)
        assert connection.recv(TIMEOUT_SECONDS) == SILENCE


def test_the_engine_gets_the_address_and_the_request_id(engines: Sequence[WebSocketEngine], gateway: Gateway) -> None:
    sent = {ADDRESS_HEADER: "198.51.100.1", "x-request-id": "mine", "x-forwarded-for": "198.51.100.1"}
    with play(gateway, **sent) as connection:
        connection.recv(TIMEOUT_SECONDS)
        assert connection.response is not None
        assert connection.response.headers["x-request-id"] == "mine"
    [headers] = [headers for each in engines for headers in each.headers]
    assert headers.get_all(ADDRESS_HEADER) == ["127.0.0.1"]
    assert headers.get_all("x-request-id") == ["mine"]


async def test_the_gateway_avoids_an_engine_that_fails(tmp_path: Path) -> None:
    with running_engines(tmp_path, count=3) as (engines, gateway):
        by_address = {each.engine.address: each for each in engines}
        by_address.pop(home_of(gateway)).stop()
        second = home_of(gateway)
        # Its health is known from its port for gRPC.
        by_address.pop(second).engine.stop()
        [third] = by_address
        await until(lambda: home_of(gateway) == third)


@pytest.mark.parametrize(("name", "accepts"), [("engine", True), ("scoring", False)])
async def test_the_engine_and_the_gateway_identify_themselves(tmp_path: Path, name: str, accepts: bool) -> None:
    authority = Authority()
    own = authority.files(tmp_path / "engine", authority.issue(name))
    files = authority.files(tmp_path / "gateway", authority.issue("gateway"))
    asks = grpc.ssl_server_credentials(
        [(own.key.read_bytes(), own.certificate.read_bytes())], own.ca.read_bytes(), require_client_auth=True
    )
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=own.ca)
    tls.load_cert_chain(own.certificate, own.key)
    tls.verify_mode = ssl.CERT_REQUIRED
    tls.set_alpn_protocols(["http/1.1"])
    with FakeEngine(asks).running() as engine, WebSocketEngine(engine, tls=tls).running() as by_websocket:
        flags = [f"--engine={engine.address}", f"--engine-websocket={by_websocket.address}"]
        flags += [f"--upstream-certificate={files.certificate}", f"--upstream-key={files.key}"]
        with opened_gateway(tmp_path, *flags, f"--upstream-ca={files.ca}", "--metrics-listen=127.0.0.1:0") as gateway:
            metrics = json.loads((tmp_path / "ready.json").read_text())["metrics"]
            await until(lambda: metric_values(metrics, HEALTHY) == [float(accepts)])
            if accepts:
                assert home_of(gateway) == engine.address
                return
            with pytest.raises(InvalidStatus) as fault, play(gateway):
                pass
            refused(refusal(fault), 503, grpc.StatusCode.UNAVAILABLE, "not available")


def test_a_handshake_is_a_request_of_its_address(tmp_path: Path) -> None:
    limit = ("--address-requests-per-second=1", "--address-burst=1")
    with running_engines(tmp_path, *limit) as (_, gateway), play(gateway) as connection:
        connection.recv(TIMEOUT_SECONDS)
        with pytest.raises(InvalidStatus) as fault, play(gateway):
            pass
        refused(refusal(fault), 429, grpc.StatusCode.RESOURCE_EXHAUSTED, "too many requests")


async def test_a_drain_waits_for_players_and_the_end_of_the_gateway_does_not(tmp_path: Path) -> None:
    with ExitStack() as stack:
        with running_engines(tmp_path, "--access-log=true") as (_, gateway):
            admin = Admin(Path(json.loads((tmp_path / "ready.json").read_text())["admin"]))
            left = stack.enter_context(play(gateway, authorization="Bearer secret"))
            with play(gateway) as connection:
                assert connection.recv(TIMEOUT_SECONDS) == left.recv(TIMEOUT_SECONDS)
                left.close()
                draining = asyncio.create_task(admin.drain(TIMEOUT_SECONDS))
                await until(lambda: gateway.ask("GET", "/healthz").status == 503)
                connection.send("secret")
                assert connection.recv(TIMEOUT_SECONDS) == "secret"
                await asyncio.wait({draining}, timeout=5 * STREAM_POLL_SECONDS)
                assert not draining.done()
            await draining
            cut = stack.enter_context(play(gateway))
            cut.recv(TIMEOUT_SECONDS)
        with pytest.raises(ConnectionClosedError):
            cut.recv(TIMEOUT_SECONDS)
    log = (tmp_path / "gateway.log").read_text()
    assert "secret" not in log
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    assert [(line["method"], line["status"]) for line in lines if line["path"] == PLAY] == [("GET", 101)] * 3
