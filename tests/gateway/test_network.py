"""The gateway passes a keyed hash of the caller's network to the services, and nothing that a caller sends as such."""

import asyncio
import re
import stat
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from http.client import HTTPConnection
from ipaddress import IPv6Address, ip_network
from pathlib import Path
from random import Random
from types import MappingProxyType

import grpc
import pytest

from croupier.gateway.configuration import configuration_files
from croupier.gateway.envoy import Envoy, find_envoy
from croupier.gateway.network_key import check_network_key, write_new_network_key
from croupier.gateway.settings import GatewaySettings
from croupier.runtime.network import NETWORK_HEADER, Network, decode_network
from croupier.runtime.permissions import open_private
from croupier.runtime.program import SettingsError
from croupier_api.v1.engine_pb2 import GetViewRequest
from croupier_api.v1.engine_pb2_grpc import EngineServiceStub
from tests.gateway.conftest import GatewayDeployment
from tests.gateway.harness import Gateway, opened_gateway, refused, refused_over_grpc
from tests.gateway.test_routing import FakeEngine
from tests.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.gateway
KEY = bytes(range(16))
MASK = 2**64 - 1
GET_VIEW = "/croupier_api.v1.EngineService/GetView"
FORGED = "0123456789abcdef,0123456789abcdef"


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> (64 - bits)) & MASK


def _rounds(count: int, v0: int, v1: int, v2: int, v3: int) -> tuple[int, int, int, int]:
    for _ in range(count):
        v0, v2 = (v0 + v1) & MASK, (v2 + v3) & MASK
        v1, v3 = _rotated(v1, 13) ^ v0, _rotated(v3, 16) ^ v2
        v0, v2 = (_rotated(v0, 32) + v3) & MASK, (v2 + v1) & MASK
        v1, v3 = _rotated(v1, 17) ^ v2, _rotated(v3, 21) ^ v0
        v2 = _rotated(v2, 32)
    return v0, v1, v2, v3


def siphash(key: bytes, message: bytes) -> str:
    """Return SipHash-2-4 as 16 hexadecimal digits, the most significant first."""
    low, high = (int.from_bytes(half, "little") for half in (key[:8], key[8:]))
    state = (0x736F6D6570736575 ^ low, 0x646F72616E646F6D ^ high, 0x6C7967656E657261 ^ low, 0x7465646279746573 ^ high)
    padded = message + bytes(-(len(message) + 1) % 8) + bytes([len(message) % 256])
    for start in range(0, len(padded), 8):
        block = int.from_bytes(padded[start : start + 8], "little")
        v0, v1, v2, v3 = _rounds(2, *state[:3], state[3] ^ block)
        state = (v0 ^ block, v1, v2, v3)
    v0, v1, v2, v3 = _rounds(4, *state[:2], state[2] ^ 0xFF, state[3])
    return f"{v0 ^ v1 ^ v2 ^ v3:016x}"


@pytest.mark.parametrize(
    ("length", "expected"),
    [(0, "726fdb47dd0e0e31"), (1, "74f839c593dc67fd"), (8, "93f5f5799a932462"), (15, "a129ca6149be45e5")],
)
def test_the_reference_has_the_published_values(length: int, expected: str) -> None:
    """These are of the paper's appendix A and of the authors' program."""
    assert siphash(KEY, bytes(range(length))) == expected


def hashed(*networks: str) -> Network:
    """Return the network that the gateway passes for one text, or for the /64 and the /48."""
    return Network(*(siphash(KEY, network.encode()) for network in networks))


@pytest.fixture(scope="module")
def engine() -> Iterator[FakeEngine]:
    with FakeEngine().running() as running:
        yield running


def flags(engine: FakeEngine, folder: Path) -> Sequence[str]:
    """Return the flags of a gateway with the key of these tests, before this engine."""
    with open_private(folder / "network.key") as file:
        file.write(f"{KEY.hex()}\n".encode())
    return f"--engine={engine.address}", f"--network-key={folder / 'network.key'}"


@pytest.fixture(scope="module")
def gateway(engine: FakeEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """Run a gateway that trusts the address in x-forwarded-for."""
    folder = tmp_path_factory.mktemp("network")
    with opened_gateway(folder, *flags(engine, folder), "--trusted-proxies=1") as opened:
        yield opened


def passed(engine: FakeEngine) -> list[Network | None]:
    """Return the networks of the calls that came since the last question."""
    calls, engine.metadata[:] = list(engine.metadata), []
    assert calls
    return [decode_network(str(call.get(NETWORK_HEADER, ""))) for call in calls]


def network_from(gateway: Gateway, engine: FakeEngine, address: str) -> Network | None:
    """Return the network that the engine gets with a call from an address."""
    ask(gateway, {"x-forwarded-for": address})
    [network] = passed(engine)
    return network


def ask(gateway: Gateway, headers: Mapping[str, str]) -> None:
    answer = gateway.ask("GET", "/v1/tables/t/view", token=gateway.token(), headers=headers)
    assert answer.status == 200
    assert NETWORK_HEADER not in answer.headers


def ask_by_grpc(address: str, token: str, headers: Mapping[str, str] = MappingProxyType({})) -> None:
    metadata = (("authorization", f"Bearer {token}"), *headers.items())
    with grpc.insecure_channel(address) as channel:
        EngineServiceStub(channel).GetView(GetViewRequest(table_id="t"), metadata=metadata, timeout=TIMEOUT_SECONDS)


@pytest.mark.parametrize(
    ("address", "networks"),
    [
        ("192.0.2.1", ["192.0.2"]),
        ("192.0.2.254", ["192.0.2"]),
        ("192.0.3.1", ["192.0.3"]),
        ("::ffff:192.0.2.1", ["192.0.2"]),
        ("::ffff:c000:203", ["192.0.2"]),
        ("2001:db8:1:2::1", ["2001:db8:1:2", "2001:db8:1"]),
        ("2001:db8:1:2:ffff:ffff:ffff:ffff", ["2001:db8:1:2", "2001:db8:1"]),
        ("2001:db8:1:3::1", ["2001:db8:1:3", "2001:db8:1"]),
        ("::1", ["0:0:0:0", "0:0:0"]),
        ("1::", ["1:0:0:0", "1:0:0"]),
        ("::1:2:3:4:5:6:7", ["0:1:2:3", "0:1:2"]),
        ("64:ff9b::192.0.2.1", ["64:ff9b:0:0", "64:ff9b:0"]),
    ],
)
def test_a_network_is_the_hash_of_a_part_of_the_address(
    gateway: Gateway, engine: FakeEngine, address: str, networks: list[str]
) -> None:
    assert network_from(gateway, engine, address) == hashed(*networks)


def test_random_addresses_have_the_networks_that_python_finds(gateway: Gateway, engine: FakeEngine) -> None:
    random = Random(seed := 1701)
    print(f"seed {seed}")
    for _ in range(50):
        address = IPv6Address(random.getrandbits(128) & random.getrandbits(128))
        near, wide = (ip_network((address, bits), strict=False).network_address.exploded for bits in (64, 48))
        texts = [":".join(f"{int(group, 16):x}" for group in whole.split(":")) for whole in (near, wide)]
        expected = hashed(texts[0].removesuffix(":0:0:0:0"), texts[1].removesuffix(":0:0:0:0:0"))
        assert network_from(gateway, engine, str(address)) == expected, address


def test_callers_by_ipv4_keep_their_network_at_a_listener_of_both_versions(engine: FakeEngine, tmp_path: Path) -> None:
    with opened_gateway(tmp_path, *flags(engine, tmp_path), "--listen=[::]:0") as opened:
        port = opened.address.removeprefix("[::]:")
        for host, network in {"127.0.0.1": hashed("127.0.0"), "[::1]": hashed("0:0:0:0", "0:0:0")}.items():
            ask_by_grpc(f"{host}:{port}", opened.token())
            assert passed(engine) == [network]


@pytest.fixture(params=["json", "grpc", "grpc-web"])
def call(request: pytest.FixtureRequest, gateway: Gateway) -> Callable[[], None]:
    """Return a call with a forged network."""
    sent = {NETWORK_HEADER: FORGED, "x-forwarded-for": "192.0.2.1"}

    def by_grpc_web() -> None:
        headers = {**sent, "content-type": "application/grpc-web+proto"}
        answer = gateway.ask("POST", GET_VIEW, b"\0\0\0\0\0", token=gateway.token(), headers=headers)
        assert b"grpc-status:0" in answer.body

    calls = {
        "json": lambda: ask(gateway, sent),
        "grpc": lambda: ask_by_grpc(gateway.address, gateway.token(), sent),
        "grpc-web": by_grpc_web,
    }
    found: Callable[[], None] = calls[request.param]
    return found


def test_a_forged_network_is_ignored(call: Callable[[], None], engine: FakeEngine) -> None:
    call()
    assert passed(engine) == [hashed("192.0.2")]


@pytest.mark.parametrize(
    "headers",
    [
        [("X-Croupier-Network", FORGED), (NETWORK_HEADER, "1" * 16), (NETWORK_HEADER, "")],
        # A proxy has to remove the headers that this one names.
        [("connection", f"close, {NETWORK_HEADER}"), (NETWORK_HEADER, FORGED)],
        [("connection", NETWORK_HEADER)],
        [("te", f"trailers, {NETWORK_HEADER}"), ("trailer", NETWORK_HEADER)],
        [("x-envoy-external-address", "192.0.2.1"), ("x-real-ip", "192.0.2.1"), ("forwarded", "for=192.0.2.1")],
        [("x-forwarded-for", "192.0.2.1"), ("x-forwarded-for", "198.51.100.1, 203.0.113.1")],
        [("x-forwarded-for", "203.0.113.1")],
    ],
)
def test_no_header_of_http_1_changes_or_removes_the_network(
    gateway: Gateway, engine: FakeEngine, headers: list[tuple[str, str]]
) -> None:
    with closing(HTTPConnection(gateway.address, timeout=TIMEOUT_SECONDS)) as connection:
        connection.putrequest("GET", "/v1/tables/t/view")
        for name, value in (("authorization", f"Bearer {gateway.token()}"), *headers):
            connection.putheader(name, value)
        connection.endheaders()
        assert connection.getresponse().status == 200
    reported = [value for name, value in headers if name == "x-forwarded-for"]
    assert passed(engine) == [hashed("203.0.113" if reported else "127.0.0")]


def test_an_address_that_no_trusted_proxy_reports_is_ignored(engine: FakeEngine, tmp_path: Path) -> None:
    with opened_gateway(tmp_path, *flags(engine, tmp_path)) as opened:
        assert network_from(opened, engine, "192.0.2.1") == hashed("127.0.0")
        assert network_from(replace(opened, caller="127.0.1.1"), engine, "192.0.2.1") == hashed("127.0.1")


def test_a_gateway_without_key_makes_one_of_its_own(engine: FakeEngine, tmp_path: Path) -> None:
    with opened_gateway(tmp_path, f"--engine={engine.address}") as opened:
        network = network_from(opened, engine, "")
        assert network is not None
        assert network != hashed("127.0.0")
        assert [network_from(opened, engine, "") for _ in range(10)] == [network] * 10


def test_services_get_the_network_of_each_call(deployment: GatewayDeployment) -> None:
    def unknown() -> str:
        with urllib.request.urlopen(f"http://{deployment.services.addresses['lobby']['metrics']}/metrics") as page:
            (count,) = re.findall(r"^croupier_calls_without_network_total (\S+)", page.read().decode(), re.MULTILINE)
        return str(count)

    before, gateway = unknown(), deployment.gateway
    assert gateway.ask("GET", "/v1/games", token=gateway.token()).status == 200
    assert unknown() == before


async def test_if_the_script_fails_calls_are_refused(engine: FakeEngine, tmp_path: Path) -> None:
    with opened_gateway(tmp_path, *flags(engine, tmp_path)) as opened:
        settings = GatewaySettings(
            lobby_public_key=tmp_path / "lobby.public.pem",
            network_key=tmp_path / "network.key",
            engine=engine.address,
            listen="127.0.0.1:0",
            admin_socket=tmp_path / "admin.sock",
        )
    configuration = configuration_files(settings)["envoy.yaml"]
    (tmp_path / "envoy.yaml").write_text(configuration.replace("= networks(address)", "= error()"))
    envoy = await Envoy.start(find_envoy(), tmp_path, workers=1)
    try:
        failing = replace(opened, address=(await envoy.admin.listeners())["players"])
        token, sent = failing.token(), {NETWORK_HEADER: FORGED}
        answer = await asyncio.to_thread(failing.ask, "GET", "/v1/tables/t/view", token=token, headers=sent)
        refused(answer, 500, grpc.StatusCode.INTERNAL, "the gateway failed")
        sent |= {"content-type": "application/grpc"}
        answer = await asyncio.to_thread(failing.ask, "POST", GET_VIEW, b"", token=token, headers=sent)
        refused_over_grpc(answer, grpc.StatusCode.INTERNAL)
        assert engine.metadata == []
    finally:
        await envoy.kill()


@pytest.mark.parametrize("text", ["", "1" * 31, "1" * 33, "x" * 32, "é" * 32, "1" * 32 + "\n" + "1" * 32])
def test_a_file_that_holds_no_key_is_refused_without_showing_it(tmp_path: Path, text: str) -> None:
    path = tmp_path / "key"
    write_new_network_key(path)
    path.write_text(text)
    with pytest.raises(SettingsError, match="expected 32 hexadecimal digits") as refusal:
        check_network_key(path)
    assert not text or text not in str(refusal.value)
    with pytest.raises(SettingsError):
        check_network_key(tmp_path / "none")


def test_a_new_key_is_readable_by_its_owner_only_and_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "key"
    write_new_network_key(path)
    check_network_key(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_text()
    write_new_network_key(path)
    assert path.read_text() == before
    path.chmod(0o644)
    with pytest.raises(SettingsError, match="open to other users"):
        check_network_key(path)
