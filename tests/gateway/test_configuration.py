"""Envoy accepts the configuration with any settings, and it routes public calls only."""

import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml
from google.protobuf.descriptor_pb2 import FileDescriptorSet, MethodOptions
from google.rpc.code_pb2 import INTERNAL

from croupier.gateway.bindings import SERVICES, call_path, calls, descriptor_set, json_bindings
from croupier.gateway.checks import now_utc
from croupier.gateway.configuration import configuration_files, write_files
from croupier.gateway.envoy import find_envoy, validate
from croupier.gateway.local_certificate import DevelopmentCertificate
from croupier.gateway.refusals import REFUSALS
from croupier.gateway.settings import GatewaySettings
from croupier.lobby.api.servicer import OPEN_METHODS
from croupier.runtime.errors import REASON_PREFIX
from croupier.runtime.identity.tokens import write_new_key_pair
from croupier.runtime.server.program import SettingsError
from croupier_api.v1.errors_pb2 import ErrorReason
from openapi_document import bindings

BINDINGS = tuple(bindings(SERVICES))
PAGE = Path(__file__).parents[2] / "docs/gateway.md"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The loader of C takes a tenth of the time, where it is installed."""
MIN_FILL_SECONDS = 0.05
"""Envoy's minimum between two fills of a token bucket."""


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> GatewaySettings:
    folder = tmp_path_factory.mktemp("gateway")
    for name in ("lobby", "another"):
        write_new_key_pair(folder / f"{name}.private.pem", folder / f"{name}.public.pem")
    made = DevelopmentCertificate(folder)
    made.ensure(now_utc())
    return GatewaySettings(
        admin_socket=folder / "admin.sock",
        lobby_public_key=folder / "lobby.public.pem",
        certificate=made.certificate,
        key=made.key,
        upstream_certificate=made.certificate,
        upstream_key=made.key,
        upstream_ca=made.authority,
    )


def changed(settings: GatewaySettings, **changes: Any) -> GatewaySettings:
    return settings.model_copy(update=changes)


UNLIMITED = {"address_requests_per_second": 0, "network_requests_per_second": 0}
NO_TLS = dict.fromkeys(("certificate", "key", "upstream_certificate", "upstream_key", "upstream_ca"))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {
            "metrics_listen": "127.0.0.1:7708",
            "access_log": True,
            "allowed_origins": "https://a.example,https://b.example",
        },
        {
            "lobby": "lobby:7710",
            "engine": "10.0.0.1:7720,10.0.0.2:7720",
            "engine_websocket": "10.0.0.1:7722,10.0.0.2:7722",
            "scoring": "scoring:7730",
        },
        {**NO_TLS, "engine": "engine:7720", "engine_websocket": "engine:7722"},
        {"listen": "[::1]:7700", "address_requests_per_second": 3, "address_burst": 3, "allowed_origins": "*"},
        {**NO_TLS, **UNLIMITED, "trusted_proxies": 1, "memory_limit_mebibytes": 100, "web_table": False},
        {"secrets_folder": True},
        {"traces_collector": "collector:4317", "traces_ratio": 0.001, "access_log": True},
    ],
    ids=["usual", "all", "several", "names", "narrow", "unlimited", "secrets in files", "traced"],
)
def test_envoy_accepts_it(settings: GatewaySettings, tmp_path: Path, changes: dict[str, Any]) -> None:
    secrets = {"secrets_folder": tmp_path} if "secrets_folder" in changes else {}
    write_files(configuration_files(changed(settings, **changes | secrets), tmp_path), tmp_path)
    validate(find_envoy(), tmp_path / "envoy.yaml")


CHANGED: dict[str, Any] = {
    # The others are whole numbers.
    "lobby_public_key": "another.public.pem",
    "lobby": "10.0.0.1:1",
    "engine": "10.0.0.1:2",
    "engine_websocket": "10.0.0.1:3",
    "scoring": "scoring:3",
    "listen": "127.0.0.1:4",
    "admin_socket": Path("/other.sock"),
    "metrics_listen": "",
    "certificate": Path("/another.pem"),
    "key": Path("/another.key"),
    "upstream_certificate": Path("/another.pem"),
    "upstream_key": Path("/another.key"),
    "upstream_ca": Path("/another.ca"),
    "secrets_folder": Path("/folder"),
    "allowed_origins": "https://play.example",
    "access_log": True,
    "web_table": False,
    "traces_collector": "another:4317",
    "traces_ratio": 0.5,
}


@pytest.mark.parametrize("name", GatewaySettings.model_fields)
def test_every_setting_changes_it(settings: GatewaySettings, name: str) -> None:
    usual = changed(settings, metrics_listen="127.0.0.1:7708", traces_collector="collector:4317")
    value = CHANGED[name] if name in CHANGED else getattr(usual, name) + 1
    if name == "lobby_public_key":
        value = settings.lobby_public_key.with_name(value)
    folder = Path("/etc/envoy")
    assert configuration_files(changed(usual, **{name: value}), folder) != configuration_files(usual, folder)


def test_a_value_cannot_leave_its_place(settings: GatewaySettings, tmp_path: Path) -> None:
    name = 'a "b": #{{c}}\n\tø.pem'
    (tmp_path / name).write_bytes(settings.lobby_public_key.read_bytes())
    odd = changed(settings, certificate=tmp_path / name, key=tmp_path / name)
    context = players(odd)["filter_chains"][0]["transport_socket"]["typed_config"]["common_tls_context"]
    assert context["tls_certificates"][0]["private_key"] == {"filename": str(tmp_path / name)}


def made(settings: GatewaySettings) -> Any:
    """Return the configuration as data."""
    [made] = yaml.load_all(configuration_files(settings)["envoy.yaml"], Loader=LOADER)
    return made


def players(settings: GatewaySettings) -> Any:
    """Return the players' listener."""
    return made(settings)["static_resources"]["listeners"][0]


def manager(settings: GatewaySettings) -> Any:
    """Return the players' connection manager."""
    return players(settings)["filter_chains"][0]["filters"][0]["typed_config"]


def http_filter(settings: GatewaySettings, name: str) -> Any:
    """Return the one HTTP filter of players' calls with this name."""
    [found] = [each["typed_config"] for each in manager(settings)["http_filters"] if each["name"].endswith(f".{name}")]
    return found


def routes(settings: GatewaySettings) -> Any:
    """Return the routes of players' calls."""
    return manager(settings)["route_config"]["virtual_hosts"][0]["routes"]


def test_envoy_finds_certificates_wherever_it_runs(
    settings: GatewaySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    own = DevelopmentCertificate(Path())
    upstream = dict.fromkeys(("upstream_certificate", "upstream_key", "upstream_ca"), own.key)
    near = changed(settings, certificate=own.certificate, key=own.key, **upstream)
    for secrets in (None, tmp_path):
        configuration = b"".join(configuration_files(changed(near, secrets_folder=secrets)).values()).decode()
        named = re.findall(r"\b(?:filename|path): \"(\S+)\" ", configuration)
        assert [path for path in named if path.startswith(str(tmp_path))], configuration
        assert [path for path in named if not path.startswith("/")] == []


@pytest.mark.parametrize(("place", "name"), [(0, "address"), (1, "network")])
@pytest.mark.parametrize("rate", [1, 3, 19, 199, 200])
def test_an_address_and_a_network_may_call_at_the_configured_rate(
    settings: GatewaySettings, rate: int, place: int, name: str
) -> None:
    limit = http_filter(changed(settings, **{f"{name}_requests_per_second": rate}), "local_ratelimit")
    bucket = limit["descriptors"][place]["token_bucket"]
    fill_seconds = float(bucket["fill_interval"].removesuffix("s"))
    assert bucket["tokens_per_fill"] / fill_seconds == pytest.approx(rate)
    assert fill_seconds >= MIN_FILL_SECONDS


def test_the_services_that_envoy_knows_are_those_of_the_public_contract() -> None:
    contract = [path.read_text() for path in files("croupier_api.v1").iterdir() if path.name.endswith(".proto")]
    declared = {name for text in contract for name in re.findall(r"^service (\w+)", text, re.MULTILINE)}
    public = {f"croupier_api.v1.{name}" for name in declared}
    known = FileDescriptorSet.FromString(descriptor_set())
    assert {f"{file.package}.{service.name}" for file in known.file for service in file.service} == public
    assert {one.full_name for one in SERVICES} == public
    names = {file.name for file in known.file}
    assert all(imported in names for file in known.file for imported in file.dependency)


def test_only_calls_of_players_have_a_route(settings: GatewaySettings) -> None:
    websocket, *routed = [route["match"] for route in routes(settings) if "cluster" in route.get("route", {})]
    assert websocket["safe_regex"]["regex"] == "/v1/tables/[^/:]+/play"
    paths = [match["path"] for match in routed if "path" in match]
    by_json = [match["safe_regex"]["regex"] for match in routed if "safe_regex" in match]
    assert by_json == [one.pattern for one in json_bindings()]
    [preflight] = [match for match in routed if "prefix" in match]
    assert preflight["headers"][0] == {"name": ":method", "string_match": {"exact": "OPTIONS"}}
    assert paths == [call_path(call) for call in calls()]
    assert all(re.fullmatch(r"/croupier_api\.v1\.(Lobby|Engine|Scoring)Service/\w+", path) for path in paths)


def test_every_call_but_the_bidirectional_stream_is_there_for_http() -> None:
    bound = {binding.method.name for binding in BINDINGS}
    assert {call.name for call in calls()} - bound == {"PlayTable"}
    assert len({(binding.verb, binding.path) for binding in BINDINGS}) == len(BINDINGS)


def test_the_gateway_does_not_retry_calls_that_are_not_idempotent(settings: GatewaySettings) -> None:
    called = [route for route in routes(settings) if "path" in route["match"] and "route" in route]
    retried = {one["match"]["path"].rpartition("/")[2]: one["route"]["retry_policy"]["retry_on"] for one in called}
    harmful = {"RefreshToken", "CreateTable", "LeaveTable", "AddBot", "ClearSeat", "FindMatch"}
    harmful |= {"SendReaction", "PlayTable"}
    assert {name for name, conditions in retried.items() if "unavailable" not in conditions} == harmful
    assert all("connect-failure" in conditions for conditions in retried.values())


def test_calls_that_only_read_have_the_method_get() -> None:
    levels = {(one.verb, one.method.GetOptions().idempotency_level) for one in BINDINGS}
    assert {verb for verb, level in levels if level == MethodOptions.NO_SIDE_EFFECTS} == {"get"}
    assert {level for verb, level in levels if verb == "get"} == {MethodOptions.NO_SIDE_EFFECTS}


def test_calls_without_a_token_are_the_open_methods_of_the_lobby(settings: GatewaySettings) -> None:
    json_paths = {one.path for one in BINDINGS if call_path(one.method) in OPEN_METHODS}
    assert json_paths == {"/v1/sign-in", "/v1/tokens:refresh", "/v1/sign-out"}
    rules = http_filter(settings, "jwt_authn")["rules"]
    assert {rule["match"].get("path") for rule in rules if "requires" not in rule} == OPEN_METHODS | json_paths


def route_of(settings: GatewaySettings, call: str) -> Any:
    """Return the route of a call by its name."""
    [found] = [route for route in routes(settings) if route["name"].endswith(f"/{call}")]
    return found


@pytest.mark.parametrize(
    ("call", "seconds", "silence"),
    [
        ("GetView", 10, None),
        ("CreateTable", 30, None),
        ("SignIn", 30, None),
        ("WatchTables", None, None),
        ("GetReplay", 30, "10s"),
        ("WatchReplay", 30, "10s"),
    ],
)
def test_a_call_that_ends_by_itself_has_a_deadline_and_a_short_one_if_it_only_reads(
    settings: GatewaySettings, call: str, seconds: int | None, silence: str | None
) -> None:
    route = route_of(settings, call)["route"]
    limit = None if seconds is None else {"max_stream_duration": f"{seconds}s"}
    assert (route.get("max_stream_duration"), route.get("idle_timeout")) == (limit, silence)
    # Envoy's own default for an answer is 15 seconds.
    assert route.get("timeout") == ("0s" if seconds is None else None)


def test_services_get_whole_requests_except_of_the_bidirectional_stream(settings: GatewaySettings) -> None:
    passed = [
        route for route in routes(settings) if "http.buffer" in str(route) and "cluster" in route.get("route", {})
    ]
    assert [route["name"] for route in passed] == ["websocket", "croupier_api.v1.EngineService/PlayTable"]


def test_one_route_is_upgraded_and_has_no_end(settings: GatewaySettings) -> None:
    """A silence ends it, as it ends a stream."""
    assert "upgrade_configs" not in manager(settings)
    [upgraded] = [route["route"] for route in routes(settings) if "upgrade_configs" in str(route)]
    assert (upgraded["cluster"], upgraded["timeout"]) == ("engine_websocket", "0s")
    assert not {"max_stream_duration", "idle_timeout"} & upgraded.keys()
    assert manager(settings)["stream_idle_timeout"] == "60s"


def test_a_websocket_has_a_connection_and_few_bytes_at_the_gateway(settings: GatewaySettings) -> None:
    clusters = {one["name"]: one for one in made(settings)["static_resources"]["clusters"]}
    cluster = clusters["engine_websocket"]
    [threshold] = cluster["circuit_breakers"]["thresholds"]
    assert threshold["max_connections"] >= settings.max_connections
    assert cluster["per_connection_buffer_limit_bytes"] == players(settings)["per_connection_buffer_limit_bytes"]


def test_the_administration_has_no_port_and_only_the_metrics_listener_reaches_it(settings: GatewaySettings) -> None:
    assert "admin" not in made(changed(settings, admin_socket=None))
    with pytest.raises(SettingsError, match="--metrics-listen needs --admin-socket"):
        configuration_files(changed(settings, admin_socket=None, metrics_listen="127.0.0.1:7708"))
    configuration = made(changed(settings, metrics_listen="127.0.0.1:7708"))
    assert configuration["admin"]["address"] == {"pipe": {"path": str(settings.admin_socket), "mode": 0o600}}
    opened, metrics = configuration["static_resources"]["listeners"]
    assert "'cluster': 'admin'" not in str(opened)
    [host] = metrics["filter_chains"][0]["filters"][0]["typed_config"]["route_config"]["virtual_hosts"]
    assert [route["match"]["path"] for route in host["routes"]] == ["/metrics", "/ready"]


def test_all_addresses_of_ipv6_are_those_of_ipv4_too(settings: GatewaySettings) -> None:
    configuration = made(changed(settings, listen="[::]:7700", metrics_listen="[::]:7708", lobby="[fd00::7]:7710"))
    for listener, port in zip(configuration["static_resources"]["listeners"], (7700, 7708), strict=True):
        address = {"address": "::", "port_value": port, "ipv4_compat": True}
        assert listener["address"] == {"socket_address": address}
    assert "ipv4_compat" not in str(configuration["static_resources"]["clusters"])
    assert "ipv4_compat" not in str(made(changed(settings, listen="[::1]:7700")))


def test_texts_of_refusals_fit_into_headers() -> None:
    """Envoy sends them as they are: gRPC would want other letters escaped, and Envoy reads % as a command."""
    assert [refusal for refusal in REFUSALS if not re.fullmatch(r"[ -$&-~]+", refusal.message)] == []


def test_the_page_lists_every_refusal() -> None:
    rows = re.findall(r"^\| ([\d, ]+|others) \| (\d+) [A-Z_]+ \| `(\w+)` \|", PAGE.read_text(), re.MULTILINE)
    listed = {(status, int(code), reason) for row, code, reason in rows for status in row.split(", ")}
    known = {
        (str(one.http_status or one.status), one.code, ErrorReason.Name(one.reason).removeprefix(REASON_PREFIX))
        for one in REFUSALS[:-1]
    }
    assert listed == known | {("others", INTERNAL, "INTERNAL_FAULT")}
