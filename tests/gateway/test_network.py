"""The gateway passes the caller's address to the services, and nothing that a caller sends as such."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from types import MappingProxyType

import grpc
import pytest

from croupier.runtime.admission.network import ADDRESS_HEADER, network_of
from croupier_api.v1.engine_pb2 import GetViewRequest
from croupier_api.v1.engine_pb2_grpc import EngineServiceStub
from tests.gateway.conftest import GatewayDeployment
from tests.gateway.harness import Gateway, metric_values, opened_gateway
from tests.gateway.test_routing import FakeEngine
from tests.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.gateway
GET_VIEW = "/croupier_api.v1.EngineService/GetView"
FORGED = "198.51.100.1"


@pytest.fixture(scope="module")
def engine() -> Iterator[FakeEngine]:
    with FakeEngine().running() as running:
        yield running


@pytest.fixture(scope="module")
def gateway(engine: FakeEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """Run a gateway that trusts the address in x-forwarded-for."""
    folder = tmp_path_factory.mktemp("network")
    with opened_gateway(folder, f"--engine={engine.address}", "--trusted-proxies=1") as opened:
        yield opened


def passed(engine: FakeEngine) -> list[str]:
    """Return all addresses in the headers of the calls that came since the last question."""
    calls, engine.metadata[:] = list(engine.metadata), []
    assert calls
    return [str(value) for call in calls for name, value in call if name == ADDRESS_HEADER]


def address_from(gateway: Gateway, engine: FakeEngine, reported: str) -> str:
    """Return the address that the engine gets with a call for which a proxy reports one."""
    ask(gateway, {"x-forwarded-for": reported})
    [address] = passed(engine)
    return address


def ask(gateway: Gateway, headers: Mapping[str, str]) -> None:
    answer = gateway.ask("GET", "/v1/tables/t/view", token=gateway.token(), headers=headers)
    assert answer.status == 200
    assert ADDRESS_HEADER not in answer.headers


def ask_by_grpc(address: str, token: str, headers: Mapping[str, str] = MappingProxyType({})) -> None:
    metadata = (("authorization", f"Bearer {token}"), *headers.items())
    with grpc.insecure_channel(address) as channel:
        EngineServiceStub(channel).GetView(GetViewRequest(table_id="t"), metadata=metadata, timeout=TIMEOUT_SECONDS)


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.1", "192.0.2.0/24"),
        ("::ffff:192.0.2.1", "192.0.2.0/24"),
        ("2001:0DB8:0001:0002:ffff:ffff:ffff:ffff", "2001:db8:1::/56"),
        ("fe80::1%lo", "fe80::/56"),
        # No address: it is that of the connection.
        ("192.0.2.1:443", "127.0.0.0/24"),
    ],
)
def test_the_services_know_the_network_of_the_address(
    gateway: Gateway, engine: FakeEngine, address: str, network: str
) -> None:
    assert network_of(address_from(gateway, engine, address)) == network


def test_callers_by_ipv4_keep_their_address_at_a_listener_of_both_versions(engine: FakeEngine, tmp_path: Path) -> None:
    with opened_gateway(tmp_path, f"--engine={engine.address}", "--listen=[::]:0") as opened:
        port = opened.address.removeprefix("[::]:")
        for host, address in {"127.0.0.1": "127.0.0.1", "[::1]": "::1"}.items():
            ask_by_grpc(f"{host}:{port}", opened.token())
            assert passed(engine) == [address]


def test_a_forged_address_is_ignored_over_all_protocols(gateway: Gateway, engine: FakeEngine) -> None:
    sent = {ADDRESS_HEADER: FORGED, "x-forwarded-for": "192.0.2.1"}
    ask(gateway, sent)
    ask_by_grpc(gateway.address, gateway.token(), sent)
    headers = {**sent, "content-type": "application/grpc-web+proto"}
    answer = gateway.ask("POST", GET_VIEW, bytes(5), token=gateway.token(), headers=headers)
    assert b"grpc-status:0" in answer.body
    assert passed(engine) == ["192.0.2.1"] * 3


@pytest.mark.parametrize(
    "headers",
    [
        [("X-Croupier-Address", FORGED), (ADDRESS_HEADER, "::1"), (ADDRESS_HEADER, "")],
        # A proxy has to remove the headers that this one names.
        [("connection", f"close, {ADDRESS_HEADER}"), (ADDRESS_HEADER, FORGED)],
        [("connection", ADDRESS_HEADER)],
        [("te", f"trailers, {ADDRESS_HEADER}"), ("trailer", ADDRESS_HEADER)],
        [("x-envoy-external-address", "192.0.2.1"), ("x-real-ip", "192.0.2.1"), ("forwarded", "for=192.0.2.1")],
        [("x-forwarded-for", "192.0.2.1"), ("x-forwarded-for", "198.51.100.1, 203.0.113.1")],
        [("x-forwarded-for", "203.0.113.1")],
    ],
)
def test_no_header_of_http_1_changes_or_removes_the_address(
    gateway: Gateway, engine: FakeEngine, headers: list[tuple[str, str]]
) -> None:
    with closing(HTTPConnection(gateway.address, timeout=TIMEOUT_SECONDS)) as connection:
        connection.putrequest("GET", "/v1/tables/t/view")
        for name, value in (("authorization", f"Bearer {gateway.token()}"), *headers):
            connection.putheader(name, value)
        connection.endheaders()
        assert connection.getresponse().status == 200
    reported = [value for name, value in headers if name == "x-forwarded-for"]
    assert passed(engine) == ["203.0.113.1" if reported else "127.0.0.1"]


def test_an_address_that_no_trusted_proxy_reports_is_ignored(engine: FakeEngine, tmp_path: Path) -> None:
    with opened_gateway(tmp_path, f"--engine={engine.address}") as opened:
        assert address_from(opened, engine, "192.0.2.1") == "127.0.0.1"
        assert address_from(replace(opened, caller="127.0.1.1"), engine, "192.0.2.1") == "127.0.1.1"


def test_services_get_the_network_of_each_call(deployment: GatewayDeployment) -> None:
    metrics, gateway = deployment.services.addresses["lobby"]["metrics"], deployment.gateway
    before = metric_values(metrics, "croupier_calls_without_network_total")
    assert gateway.ask("GET", "/v1/games", token=gateway.token()).status == 200
    assert len(before) == 1
    assert metric_values(metrics, "croupier_calls_without_network_total") == before
