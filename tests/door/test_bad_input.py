"""Whoever sends something bad gets the right status and a sentence, and nobody else notices."""

import json
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest

from croupier.door.admin import Admin
from croupier.runtime.identity import ENGINE_CONTROL_AUDIENCE, PLAYER_AUDIENCE, write_new_key_pair
from croupier_api.v1 import engine_pb2, lobby_pb2, scoring_pb2
from tests.door.conftest import House
from tests.door.doors import Answer, Door, opened_door, refused, tells_nothing_of_the_door
from tests.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.gateway
LIST_GAMES = "/croupier_api.v1.LobbyService/ListGames"
CONTROL = [
    f"/{service.full_name}/{method.name}"
    for file in (engine_pb2, lobby_pb2, scoring_pb2)
    for service in file.DESCRIPTOR.services_by_name.values()
    if "Control" in service.name
    for method in service.methods
]
REFLECTION = [f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo" for version in ("v1", "v1alpha")]


@pytest.fixture
def door(house: House) -> Door:
    return house.door


@pytest.fixture
def channel(house: House) -> Iterator[grpc.Channel]:
    assert house.endpoints.tls is not None
    with grpc.secure_channel(house.endpoints.lobby, house.endpoints.tls.credentials()) as channel:
        yield channel


def refused_over_grpc(call: Callable[..., object], token: str | None = None, request: Any = b"") -> grpc.StatusCode:
    """How a call with the native client is refused."""
    metadata = (("authorization", f"Bearer {token}"),) if token else ()
    with pytest.raises(grpc.RpcError) as fault:
        call(request, metadata=metadata, timeout=PATIENCE_SECONDS)
    assert isinstance(fault.value, grpc.Call)
    assert fault.value.details()
    return fault.value.code()


def test_without_a_good_token_nobody_comes_in(door: Door, channel: grpc.Channel, tmp_path: Path) -> None:
    write_new_key_pair(tmp_path / "other.pem", tmp_path / "other.pub")
    good = door.token()
    assert door.ask("GET", "/v1/games", token=good).status == 200
    for token in (
        None,
        "secret",
        door.token(age_seconds=3600),
        door.token(key=tmp_path / "other.pem"),
        good[:-8] + good[-16:-8],
        door.token(audience=ENGINE_CONTROL_AUDIENCE),
    ):
        refused(door.ask("GET", "/v1/games", token=token), 401, grpc.StatusCode.UNAUTHENTICATED, "access token")
        assert refused_over_grpc(channel.unary_unary(LIST_GAMES), token) is grpc.StatusCode.UNAUTHENTICATED


@pytest.mark.parametrize("scheme", ["bearer", "BEARER"])
def test_the_scheme_of_a_token_has_letters_of_any_size(door: Door, scheme: str) -> None:
    assert door.ask("GET", "/v1/games", headers={"authorization": f"{scheme} {door.token()}"}).status == 200


@pytest.mark.parametrize("form", ["Basic {}", "{}", "Bearer{}", "Basic Bearer {}"])
def test_a_token_in_another_form_is_none(door: Door, form: str) -> None:
    answer = door.ask("GET", "/v1/games", headers={"authorization": form.format(door.token())})
    refused(answer, 401, grpc.StatusCode.UNAUTHENTICATED, "access token")


@pytest.mark.parametrize("path", [*CONTROL, *REFLECTION])
def test_what_is_not_for_players_is_not_there(door: Door, channel: grpc.Channel, path: str) -> None:
    for audience in (PLAYER_AUDIENCE, ENGINE_CONTROL_AUDIENCE):
        is_guarded = path.startswith("/croupier_api.") and audience != PLAYER_AUDIENCE
        expected = grpc.StatusCode.UNAUTHENTICATED if is_guarded else grpc.StatusCode.UNIMPLEMENTED
        assert refused_over_grpc(channel.unary_unary(path), door.token(audience=audience)) is expected


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/"), ("GET", "/v1/nothing"), ("PUT", "/v1/games"), ("GET", "/stats"), ("POST", "/quitquitquit")],
)
def test_unknown_paths(door: Door, method: str, path: str) -> None:
    refused(door.ask(method, path, token=door.token()), 404, grpc.StatusCode.NOT_FOUND, "nothing here")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""])
@pytest.mark.parametrize("path", ["/v1/tables", "/croupier_api.v1.LobbyService/CreateTable"])
def test_wrong_content_types(door: Door, path: str, kind: str) -> None:
    answer = door.ask("POST", path, b'{"game": "thulla"}', token=door.token(), headers={"content-type": kind})
    refused(answer, 415, grpc.StatusCode.INVALID_ARGUMENT, "content-type: application/json")


@pytest.mark.parametrize("kind", ["application/grpcfoo", "application/grpc-web+json", "text/application/grpc"])
def test_what_only_looks_like_grpc(door: Door, kind: str) -> None:
    answer = door.ask("POST", LIST_GAMES, b"", token=door.token(), headers={"content-type": kind})
    refused(answer, 415, grpc.StatusCode.INVALID_ARGUMENT, "content type")


@pytest.mark.parametrize(
    ("method", "path", "kind", "code"),
    [
        ("GET", LIST_GAMES, "application/grpc", grpc.StatusCode.UNIMPLEMENTED),
        ("GET", "/v1/games", "application/grpc", grpc.StatusCode.UNIMPLEMENTED),
        ("POST", "/v1/tables", "application/grpc+proto", grpc.StatusCode.UNIMPLEMENTED),
        ("POST", LIST_GAMES, "application/grpc+thrift", grpc.StatusCode.INVALID_ARGUMENT),
        ("POST", f"{LIST_GAMES}%2f", "application/grpc", grpc.StatusCode.INVALID_ARGUMENT),
    ],
)
def test_what_the_door_refuses_has_the_same_code_over_grpc(
    door: Door, method: str, path: str, kind: str, code: grpc.StatusCode
) -> None:
    """Envoy's own codes for these are INTERNAL and UNKNOWN, after which clients try again."""
    answer = door.ask(method, path, token=door.token(), headers={"content-type": kind})
    assert (answer.status, answer.headers["grpc-status"]) == (200, str(code.value[0]))
    assert answer.headers["grpc-message"]


@pytest.mark.parametrize("kind", ["application/grpc", "application/grpc-web+proto", "application/grpc-web-text"])
def test_what_the_door_refuses_has_the_same_code_over_grpc_web(door: Door, kind: str) -> None:
    """A browser would take Envoy's guesses for a call that was not made, and make it again."""
    unknown = grpc.StatusCode.UNIMPLEMENTED
    for path, token, code in (
        (LIST_GAMES, None, grpc.StatusCode.UNAUTHENTICATED),
        (LIST_GAMES, door.token(audience=ENGINE_CONTROL_AUDIENCE), grpc.StatusCode.UNAUTHENTICATED),
        (f"{LIST_GAMES}2", door.token(), unknown),
    ):
        assert_refused_over_grpc(door.ask("POST", path, b"", token=token, headers={"content-type": kind}), code)


def test_base64_that_is_none(door: Door) -> None:
    headers = {"content-type": "application/grpc-web-text"}
    answer = door.ask("POST", LIST_GAMES, b"%%%%", token=door.token(), headers=headers)
    assert_refused_over_grpc(answer, grpc.StatusCode.INVALID_ARGUMENT)
    assert "base64" in answer.headers["grpc-message"]


def assert_refused_over_grpc(answer: Answer, code: grpc.StatusCode) -> None:
    assert (answer.status, answer.headers["grpc-status"], answer.body) == (200, str(code.value[0]), b"")
    assert answer.headers["content-type"].startswith("application/grpc")
    assert answer.headers["grpc-message"]


def test_a_content_type_in_capitals(door: Door) -> None:
    table, headers = {"game": "thulla", "seats": 4}, {"content-type": "Application/JSON; charset=UTF-8"}
    assert door.ask("POST", "/v1/tables", table, token=door.token(), headers=headers).status == 200


def test_json_that_fits_no_message(door: Door) -> None:
    token = door.token()
    for body, sentence in (
        (b"{", "end of string"),
        (b'{"seats": "many"}', "seats: invalid value"),
        (b"[]", "must be a message"),
        (b'{"options":' * 5000, "too deep"),
        (b'{"game": "\\ud800"}', "surrogate"),
    ):
        answer = door.ask("POST", "/v1/tables", body, token=token, headers={"content-type": "application/json"})
        refused(answer, 400, grpc.StatusCode.INVALID_ARGUMENT, sentence)
    refused(door.ask("GET", "/v1/games?x=1", token=token), 400, grpc.StatusCode.INVALID_ARGUMENT, 'field "x"')
    two_tables = door.ask("POST", "/v1/tables/a/actions", {"table_id": "b"}, token=token)
    refused(two_tables, 400, grpc.StatusCode.INVALID_ARGUMENT, "conflicting")


def test_what_a_service_refuses_keeps_its_reason(door: Door) -> None:
    answer = door.ask("POST", "/v1/tables", {"game": "poker", "seats": 4}, token=door.token())
    refused(answer, 400, grpc.StatusCode.INVALID_ARGUMENT, "there is no such game")
    assert answer.json["details"][0]["reason"] == "UNKNOWN_GAME"


def test_too_much(door: Door, channel: grpc.Channel) -> None:
    token, large = door.token(), "a" * 70_000
    headers = door.ask("GET", "/v1/games", token=token, headers={"x-large": large[:20_000]})
    refused(headers, 431, grpc.StatusCode.RESOURCE_EXHAUSTED, "headers are too large")
    many = door.ask("GET", "/v1/games", token=token, headers={f"x-{number}": "a" for number in range(100)})
    refused(many, 431, grpc.StatusCode.RESOURCE_EXHAUSTED, "headers are too large")
    body = door.ask("POST", "/v1/tables", {"game": large}, token=token)
    refused(body, 413, grpc.StatusCode.RESOURCE_EXHAUSTED, "body is too large")
    sign_in: Any = channel.unary_unary("/croupier_api.v1.LobbyService/SignIn")
    assert refused_over_grpc(sign_in, request=large.encode()) is grpc.StatusCode.RESOURCE_EXHAUSTED


def test_as_much_as_the_door_lets_through_is_taken_behind_it(door: Door) -> None:
    headers = {f"x-large-{number}": "a" * 1000 for number in range(15)}
    for _ in range(5):
        assert door.ask("GET", "/v1/games", token=door.token(), headers=headers).status == 200


def test_paths_that_could_be_read_in_two_ways(door: Door) -> None:
    token = door.token()
    assert door.ask("GET", "/v1/tables/a%2fb/view", token=token).status == 400
    assert door.ask("GET", "/v1/games", token=token, headers={"x_table_id": "a"}).status == 400
    assert door.ask("GET", "//v1/../v1/games").status == 401
    assert door.ask("GET", f"/v1/games?access_token={token}").status == 401


def test_an_address_that_asks_too_often(tmp_path: Path) -> None:
    with opened_door(tmp_path, "--address-requests-per-second=1", "--address-burst=5") as narrow:
        # He may say as often as he likes that he is somebody else.
        answers = [narrow.ask("GET", "/healthz", headers={"x-forwarded-for": f"10.0.0.{host}"}) for host in range(12)]
        assert [answer.status for answer in answers[:5]] == [200] * 5
        limited = [answer for answer in answers if answer.status != 200]
        assert limited
        refused(limited[0], 429, grpc.StatusCode.RESOURCE_EXHAUSTED, "too many requests")
        if sys.platform == "linux":
            # Only there is more than one loopback address.
            assert replace(narrow, caller="127.0.0.2").ask("GET", "/healthz").status == 200
        web = narrow.ask("POST", LIST_GAMES, b"", headers={"content-type": "application/grpc-web+proto"})
        assert_refused_over_grpc(web, grpc.StatusCode.RESOURCE_EXHAUSTED)
        metadata = (("authorization", f"Bearer {narrow.token()}"),)
        with grpc.insecure_channel(narrow.address) as channel:
            list_games: Any = channel.unary_unary(LIST_GAMES)
            calls = [list_games.future(b"", metadata=metadata, timeout=PATIENCE_SECONDS) for _ in range(12)]
            codes = {call.code() for call in calls}
        # Nobody stands behind this door: what is not limited is UNAVAILABLE.
        assert grpc.StatusCode.RESOURCE_EXHAUSTED in codes
        assert codes <= {grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.UNAVAILABLE}


def test_a_door_whose_memory_is_used_up_refuses_in_words(tmp_path: Path) -> None:
    flags = ("--memory-limit-mebibytes=1", "--metrics-listen=127.0.0.1:0", "--address-requests-per-second=0")
    with opened_door(tmp_path, *flags) as full:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (answer := full.ask("GET", "/healthz")).status == 200:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        refused(answer, 503, grpc.StatusCode.UNAVAILABLE, "does not answer at the moment")
        metrics = json.loads((tmp_path / "ready.json").read_text())["metrics"]
        assert urllib.request.urlopen(f"http://{metrics}/metrics", timeout=10).status == 200


async def test_a_door_that_drains_tells_load_balancers(tmp_path: Path) -> None:
    with opened_door(tmp_path) as leaving:
        well = leaving.ask("GET", "/healthz")
        tells_nothing_of_the_door(well)
        assert well.status == 200
        await Admin(json.loads((tmp_path / "ready.json").read_text())["admin"]).drain(0)
        refused(leaving.ask("GET", "/healthz"), 503, grpc.StatusCode.UNAVAILABLE, "does not answer at the moment")


def test_services_that_are_not_there(tmp_path: Path) -> None:
    with opened_door(tmp_path, "--lobby=127.0.0.1:1") as lonely:
        answer = lonely.ask("GET", "/v1/games", token=lonely.token())
        refused(answer, 503, grpc.StatusCode.UNAVAILABLE, "does not answer at the moment")
