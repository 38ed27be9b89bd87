"""The configuration is one that Envoy takes, with any settings, and opens no way that it should not."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from google.protobuf.descriptor_pb2 import FileDescriptorSet, MethodOptions

from croupier.door.bindings import bindings, call_path
from croupier.door.checks import now_utc
from croupier.door.configuration import bootstrap
from croupier.door.descriptors import descriptor_set
from croupier.door.development import DevelopmentCertificate
from croupier.door.envoy import find_envoy, validate
from croupier.door.files import configuration_files, write_files
from croupier.door.filters import http_filters
from croupier.door.routes import routes
from croupier.door.settings import DoorSettings
from croupier.lobby.servicer import OPEN_METHODS
from croupier.runtime.identity import write_new_key_pair
from croupier.runtime.settings import TlsSettings, TracesSettings

ENVOYS_SHORTEST_SECONDS = 0.05
"""Between two fillings of a bucket."""


@pytest.fixture
def settings(tmp_path: Path) -> DoorSettings:
    write_new_key_pair(tmp_path / "lobby.private.pem", tmp_path / "lobby.public.pem")
    made = DevelopmentCertificate(tmp_path)
    made.ensure(now_utc())
    upstream = TlsSettings(made.certificate, made.key, made.authority)
    return DoorSettings(tmp_path / "lobby.public.pem", certificate=made.certificate, key=made.key, upstream=upstream)


NO_TLS = {"certificate": None, "key": None, "upstream": TlsSettings()}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {
            "metrics_listen": "127.0.0.1:7708",
            "access_log": True,
            "allowed_origins": "https://a.example,https://b.example",
        },
        {"lobby": "lobby:7710", "engine": "10.0.0.1:7720,10.0.0.2:7720", "scoring": "scoring:7730"},
        {"listen": "[::1]:7700", "address_requests_per_second": 3, "address_burst": 3, "allowed_origins": "*"},
        {**NO_TLS, "address_requests_per_second": 0, "trusted_proxies": 1, "memory_limit_mebibytes": 100},
        {"secrets_folder": True},
        {"traces": TracesSettings("collector:4317", 0.001), "access_log": True},
    ],
    ids=["usual", "all", "names", "narrow", "unlimited", "told by files", "traced"],
)
def test_envoy_takes_it(settings: DoorSettings, tmp_path: Path, changes: dict[str, Any]) -> None:
    secrets = {"secrets_folder": tmp_path} if "secrets_folder" in changes else {}
    write_files(configuration_files(replace(settings, **changes | secrets)), tmp_path)
    validate(find_envoy(), tmp_path / "envoy.yaml")


def test_envoy_finds_certificates_wherever_it_runs(
    settings: DoorSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = DevelopmentCertificate(Path())
    upstream = TlsSettings(made.key, made.key, made.key)
    near = replace(settings, certificate=made.certificate, key=made.key, upstream=upstream)
    for secrets in (None, tmp_path):
        told = "".join(configuration_files(replace(near, secrets_folder=secrets)).values())
        named = re.findall(r"\b(?:filename|path): (\S+)", told)
        assert [path for path in named if path.startswith(str(tmp_path))], told
        assert [path for path in named if not path.startswith("/")] == []


@pytest.mark.parametrize("rate", [1, 3, 19, 199, 200])
def test_an_address_may_ask_as_often_as_is_set(settings: DoorSettings, rate: int) -> None:
    limited = replace(settings, address_requests_per_second=rate)
    filters = http_filters(limited, Ed25519PrivateKey.generate().public_key())
    [limit] = [each["typed_config"] for each in filters if each["name"] == "envoy.filters.http.local_ratelimit"]
    bucket = limit["descriptors"][0]["token_bucket"]
    fill_seconds = float(bucket["fill_interval"].removesuffix("s"))
    assert bucket["tokens_per_fill"] / fill_seconds == pytest.approx(rate)
    assert fill_seconds >= ENVOYS_SHORTEST_SECONDS


def test_nothing_of_the_control_services_is_in_it() -> None:
    files = FileDescriptorSet.FromString(descriptor_set())
    services = {f"{file.package}.{service.name}" for file in files.file for service in file.service}
    assert services == {f"croupier_api.v1.{name}Service" for name in ("Lobby", "Engine", "Scoring")}
    known = {file.name for file in files.file}
    assert all(imported in known for file in files.file for imported in file.dependency)


def test_only_calls_of_players_have_a_route() -> None:
    routed = [route["match"] for route in routes(30) if "cluster" in route.get("route", {})]
    paths = [match["path"] for match in routed if "path" in match]
    assert [match for match in routed if "path" not in match] == [{"prefix": "/v1/"}]
    assert all(re.fullmatch(r"/croupier_api\.v1\.(Lobby|Engine|Scoring)Service/\w+", path) for path in paths)


def test_every_call_but_the_stream_of_both_directions_is_there_for_http() -> None:
    bound = {binding.method.name for binding in bindings()}
    assert retried().keys() - bound == {"Play"}
    assert len({(binding.verb, binding.path) for binding in bindings()}) == len(bindings())


def test_what_harms_when_done_twice_is_not_repeated_by_the_door() -> None:
    harmful = {"RefreshToken", "CreateTable", "LeaveTable", "AddBot", "RemoveSeat", "QuickMatch", "React", "Play"}
    assert {name for name, conditions in retried().items() if "unavailable" not in conditions} == harmful
    assert all("connect-failure" in conditions for conditions in retried().values())


def retried() -> dict[str, str]:
    """After what the door tries each call again."""
    calls = [route for route in routes(30) if "path" in route["match"] and "route" in route]
    return {one["match"]["path"].rpartition("/")[2]: one["route"]["retry_policy"]["retry_on"] for one in calls}


def test_what_is_only_looked_at_is_asked_for_by_get() -> None:
    levels = {(one.verb, one.method.GetOptions().idempotency_level) for one in bindings()}
    assert {verb for verb, level in levels if level == MethodOptions.NO_SIDE_EFFECTS} == {"GET"}
    assert {level for verb, level in levels if verb == "GET"} == {MethodOptions.NO_SIDE_EFFECTS}


def test_calls_without_a_token_are_those_that_the_lobby_lets_in_without_one() -> None:
    filters = http_filters(DoorSettings(Path("none")), Ed25519PrivateKey.generate().public_key())
    [identity] = [each["typed_config"] for each in filters if each["name"] == "envoy.filters.http.jwt_authn"]
    json_paths = {one.path for one in bindings() if call_path(one.method) in OPEN_METHODS}
    assert json_paths == {"/v1/sign-in", "/v1/tokens:refresh"}
    assert {
        rule["match"].get("path") for rule in identity["rules"] if "requires" not in rule
    } == OPEN_METHODS | json_paths


def test_administration_is_not_reached_by_the_players_listener() -> None:
    settings = DoorSettings(Path("none"), metrics_listen="127.0.0.1:7708")
    made = bootstrap(settings, Ed25519PrivateKey.generate().public_key())
    players, metrics = made["static_resources"]["listeners"]
    assert "admin" not in str(players["filter_chains"])
    [host] = metrics["filter_chains"][0]["filters"][0]["typed_config"]["route_config"]["virtual_hosts"]
    assert [route["match"]["path"] for route in host["routes"]] == ["/metrics", "/ready"]
