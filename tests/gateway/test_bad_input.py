"""Bad requests get the right status and a sentence, and affect no other caller."""

import json
import sys
import time
import urllib.request
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_status import rpc_status

from croupier.gateway.admin import Admin
from croupier.runtime.identity.tokens import ENGINE_CONTROL_AUDIENCE, write_new_key_pair
from tests.gateway.conftest import GatewayDeployment
from tests.gateway.harness import Gateway, has_reason, opened_gateway, refused, refused_over_grpc, reveals_no_gateway
from tests.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.gateway
LIST_GAMES, CREATE_TABLE = (f"/croupier_api.v1.LobbyService/{method}" for method in ("ListGames", "CreateTable"))


@pytest.fixture
def gateway(deployment: GatewayDeployment) -> Gateway:
    return deployment.gateway


def refused_natively(call: Callable[..., object], token: str | None = None) -> grpc.StatusCode:
    """Return the refusal of a call over gRPC."""
    metadata = (("authorization", f"Bearer {token}"),) if token else ()
    with pytest.raises(grpc.RpcError) as fault:
        call(b"", metadata=metadata, timeout=TIMEOUT_SECONDS)
    assert isinstance(fault.value, grpc.Call)
    status = rpc_status.from_call(fault.value)
    assert status is not None
    has_reason(status)
    return fault.value.code()


def test_calls_without_a_valid_token_are_refused(gateway: Gateway, channel: grpc.Channel, tmp_path: Path) -> None:
    write_new_key_pair(tmp_path / "other.pem", tmp_path / "other.pub")
    good = gateway.token()
    assert gateway.ask("GET", "/v1/games", token=good).status == 200
    for token in (
        None,
        "secret",
        gateway.token(age_seconds=3600),
        gateway.token(key=tmp_path / "other.pem"),
        good[:-8] + good[-16:-8],
        gateway.token(audience=ENGINE_CONTROL_AUDIENCE),
    ):
        refused(gateway.ask("GET", "/v1/games", token=token), 401, grpc.StatusCode.UNAUTHENTICATED, "access token")
        assert refused_natively(channel.unary_unary(LIST_GAMES), token) is grpc.StatusCode.UNAUTHENTICATED


FORMS = {"bearer {}": 200, "BEARER {}": 200, "Basic {}": 401, "{}": 401, "Bearer{}": 401, "Basic Bearer {}": 401}


@pytest.mark.parametrize(("form", "status"), FORMS.items())
def test_the_scheme_of_a_token_is_bearer_in_any_case(gateway: Gateway, form: str, status: int) -> None:
    headers = {"authorization": form.format(gateway.token())}
    assert gateway.ask("GET", "/v1/games", headers=headers).status == status


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/index.html"), ("GET", "/v1/nothing"), ("GET", "/stats"), ("POST", "/quitquitquit")],
)
def test_unknown_paths(gateway: Gateway, method: str, path: str) -> None:
    answer = gateway.ask(method, path, token=gateway.token())
    refused(answer, 404, grpc.StatusCode.UNIMPLEMENTED, "unknown path or method")


@pytest.mark.parametrize("kind", [None, "", "text/plain", "application/x-www-form-urlencoded", "application/json"])
def test_no_body_is_an_empty_message(gateway: Gateway, kind: str | None) -> None:
    """Browsers send content-length 0 and no content type, other clients a content type of theirs."""
    token, headers = gateway.token(), {} if kind is None else {"content-type": kind}
    table = gateway.ask("POST", "/v1/tables", {"game": "thulla", "seat_count": 4}, token=token).json["table"]
    path = f"/v1/tables/{table['table_id']}:join"
    assert gateway.ask("POST", path, b"", token=token, headers=headers).status == 200


@pytest.mark.parametrize("end", [b"\r\n", b"transfer-encoding: chunked\r\n\r\n0\r\n\r\n"], ids=["none", "chunked"])
def test_no_body_needs_no_length(gateway: Gateway, end: bytes) -> None:
    head = f"POST /v1/tables HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {gateway.token()}\r\n"
    answer = gateway.send_raw(head.encode() + end)
    assert answer is not None
    refused(answer, 400, grpc.StatusCode.INVALID_ARGUMENT, "invalid game")


@pytest.mark.parametrize("headers", [{}, {"content-type": "Application/JSON; charset=UTF-8"}], ids=["none", "capitals"])
def test_a_body_is_taken_for_json_without_content_type_and_by_one_in_capitals(
    gateway: Gateway, headers: dict[str, str]
) -> None:
    body = json.dumps({"game": "thulla", "seat_count": 4}).encode()
    assert gateway.ask("POST", "/v1/tables", body, token=gateway.token(), headers=headers).status == 200


PLAIN = ("text/plain", "application/x-www-form-urlencoded", "application/jsonp", "")
LIKE_GRPC = ("application/grpcfoo", "application/grpc-web+json", "text/application/grpc")


@pytest.mark.parametrize(
    ("path", "kind"), [*product(("/v1/tables", CREATE_TABLE), PLAIN), *product((LIST_GAMES,), LIKE_GRPC)]
)
def test_wrong_content_types(gateway: Gateway, path: str, kind: str) -> None:
    answer = gateway.ask("POST", path, b'{"game": "thulla"}', token=gateway.token(), headers={"content-type": kind})
    refused(answer, 415, grpc.StatusCode.INVALID_ARGUMENT, "content-type: application/json")


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
def test_refusals_of_the_gateway_have_the_same_code_over_grpc(
    gateway: Gateway, method: str, path: str, kind: str, code: grpc.StatusCode
) -> None:
    """Envoy's own codes for these are INTERNAL and UNKNOWN, after which clients retry."""
    refused_over_grpc(gateway.ask(method, path, token=gateway.token(), headers={"content-type": kind}), code)


@pytest.mark.parametrize("kind", ["application/grpc", "application/grpc-web+proto", "application/grpc-web-text"])
def test_refusals_of_the_gateway_have_the_same_code_over_grpc_web(gateway: Gateway, kind: str) -> None:
    """A browser would read Envoy's own codes as a call that was not made, and retry it."""
    unknown = grpc.StatusCode.UNIMPLEMENTED
    for path, token, code in (
        (LIST_GAMES, None, grpc.StatusCode.UNAUTHENTICATED),
        (LIST_GAMES, gateway.token(audience=ENGINE_CONTROL_AUDIENCE), grpc.StatusCode.UNAUTHENTICATED),
        (f"{LIST_GAMES}2", gateway.token(), unknown),
    ):
        refused_over_grpc(gateway.ask("POST", path, b"", token=token, headers={"content-type": kind}), code)


def test_invalid_base64(gateway: Gateway) -> None:
    headers = {"content-type": "application/grpc-web-text"}
    answer = gateway.ask("POST", LIST_GAMES, b"%%%%", token=gateway.token(), headers=headers)
    refused_over_grpc(answer, grpc.StatusCode.INVALID_ARGUMENT)
    assert "base64" in answer.headers["grpc-message"]


def test_json_that_fits_no_message(gateway: Gateway) -> None:
    token = gateway.token()
    for body, sentence in (
        (b"{", "end of string"),
        (b'{"seat_count": -1}', "seat_count: invalid value"),
        (b"[]", "invalid body: expected an object"),
        (b"null", "invalid body: expected an object"),
        (b"\xef\xbb\xbf{}", "invalid body: expected an object"),
        (b'{"options":' * 5000, "too deep"),
        (b'{"game": "\\ud800"}', "surrogate"),
    ):
        answer = gateway.ask("POST", "/v1/tables", body, token=token, headers={"content-type": "application/json"})
        refused(answer, 400, grpc.StatusCode.INVALID_ARGUMENT, sentence)
    refused(gateway.ask("GET", "/v1/games?x=1", token=token), 400, grpc.StatusCode.INVALID_ARGUMENT, 'field "x"')
    two_tables = gateway.ask("POST", "/v1/tables/a/actions", {"table_id": "b"}, token=token)
    refused(two_tables, 400, grpc.StatusCode.INVALID_ARGUMENT, "conflicting")
    two_targets = gateway.ask("POST", "/v1/tables/a:join", {"invite_code": "b"}, token=token)
    refused(two_targets, 400, grpc.StatusCode.INVALID_ARGUMENT, "oneof field 'target' is already set")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/tables/a/view?table_id=b"),
        ("GET", "/v1/tables/a/view?tableId=b"),
        ("GET", "/v1/tables/a/view?table%5Fid=b"),
        ("GET", "/v1/tables/a/view?link=c&table_id=b"),
        ("GET", "/v1/tables/a?table_id="),
        ("GET", "/v1/tables/a?invite_code=b"),
        ("GET", "/v1/invites/a?tableId=b"),
        ("GET", "/v1/tables/a/events?table_id=b"),
        ("DELETE", "/v1/tables/a/seats/1?seat=2"),
        ("GET", "/v1/players/a/statistics?player_id=b"),
        ("GET", "/v1/players/me?player_id=b"),
        ("GET", "/v1/games/thulla/leaderboard?game=solo"),
    ],
)
def test_a_query_cannot_repeat_a_field_of_the_path(gateway: Gateway, method: str, path: str) -> None:
    answer = gateway.ask(method, path, token=gateway.token())
    refused(answer, 400, grpc.StatusCode.INVALID_ARGUMENT, "ambiguous query")


def test_a_query_may_have_any_value(gateway: Gateway) -> None:
    """Only names may not be escaped; the answer is that of the engine."""
    answer = gateway.ask("GET", "/v1/tables/a/view?link=%5F%26table_id%3Db", token=gateway.token())
    assert "source" not in answer.json["details"][0].get("metadata", {}), answer


def test_no_answer_is_stored_in_a_cache(gateway: Gateway) -> None:
    token = gateway.token()
    answers = [
        gateway.ask("GET", "/v1/games", token=token),
        gateway.ask("GET", "/v1/games"),
        gateway.ask("GET", "/nothing", token=token),
        gateway.ask("GET", "/v1/tables/none", token=token),
        gateway.ask("POST", LIST_GAMES, bytes(5), token=token, headers={"content-type": "application/grpc"}),
        gateway.send_raw(b"GET /v1/games HTTP/1.0\r\n\r\n"),
    ]
    assert [answer.headers.get("cache-control") for answer in answers if answer] == ["no-store"] * 6


def test_refusals_of_a_service_keep_their_reason(gateway: Gateway) -> None:
    answer = gateway.ask("POST", "/v1/tables", {"game": "poker", "seat_count": 4}, token=gateway.token())
    refused(answer, 400, grpc.StatusCode.INVALID_ARGUMENT, "invalid game 'poker': expected ")
    assert answer.json["details"][0]["reason"] == "UNKNOWN_GAME"


def test_too_large_requests(gateway: Gateway, channel: grpc.Channel) -> None:
    token, large = gateway.token(), "a" * 70_000
    headers = gateway.ask("GET", "/v1/games", token=token, headers={"x-large": large[:20_000]})
    refused(headers, 431, grpc.StatusCode.RESOURCE_EXHAUSTED, "headers are too large")
    many = gateway.ask("GET", "/v1/games", token=token, headers={f"x-{number}": "a" for number in range(100)})
    refused(many, 431, grpc.StatusCode.RESOURCE_EXHAUSTED, "headers are too large")
    body = gateway.ask("POST", "/v1/tables", {"game": large}, token=token)
    refused(body, 413, grpc.StatusCode.RESOURCE_EXHAUSTED, "body is too large")
    for call in ("LobbyService/SignIn", "EngineService/WatchTable"):
        native: Any = channel.unary_stream(f"/croupier_api.v1.{call}")
        refusal = refused_natively(lambda _, call=native, **given: list(call(large.encode(), **given)), token)
        assert refusal is grpc.StatusCode.RESOURCE_EXHAUSTED
    framed = b"\0" + len(large).to_bytes(4, "big") + large.encode()
    web = gateway.ask("POST", LIST_GAMES, framed, token=token, headers={"content-type": "application/grpc-web+proto"})
    refused_over_grpc(web, grpc.StatusCode.RESOURCE_EXHAUSTED)


def test_the_largest_request_of_the_gateway_is_accepted_by_services(gateway: Gateway) -> None:
    headers = {f"x-large-{number}": "a" * 1000 for number in range(15)}
    for _ in range(5):
        assert gateway.ask("GET", "/v1/games", token=gateway.token(), headers=headers).status == 200


def test_no_path_and_no_query_stand_for_a_token(gateway: Gateway) -> None:
    for path in ("//v1/../v1/games", f"/v1/games?access_token={gateway.token()}"):
        assert gateway.ask("GET", path).status == 401


def test_an_address_that_calls_too_often(tmp_path: Path) -> None:
    with opened_gateway(tmp_path, "--address-requests-per-second=1", "--address-burst=5") as narrow:
        # The limit ignores the address that a client claims.
        answers = [narrow.ask("GET", "/healthz", headers={"x-forwarded-for": f"10.0.0.{host}"}) for host in range(12)]
        assert [answer.status for answer in answers[:5]] == [200] * 5
        limited = [answer for answer in answers if answer.status != 200]
        assert limited
        refused(limited[0], 429, grpc.StatusCode.RESOURCE_EXHAUSTED, "too many requests")
        if sys.platform == "linux":
            # Only Linux has more than one loopback address.
            assert replace(narrow, caller="127.0.0.2").ask("GET", "/healthz").status == 200
        for kind in ("application/grpc", "application/grpc-web+proto"):
            answer = narrow.ask("POST", LIST_GAMES, b"", headers={"content-type": kind})
            refused_over_grpc(answer, grpc.StatusCode.RESOURCE_EXHAUSTED)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has more than one loopback address")
def test_a_network_that_calls_too_often(tmp_path: Path) -> None:
    with opened_gateway(tmp_path, "--network-requests-per-second=1", "--network-request-burst=5") as narrow:
        neighbours = [replace(narrow, caller=f"127.0.0.{host}") for host in range(1, 13)]
        answers = [neighbour.ask("GET", "/healthz") for neighbour in neighbours]
        assert [answer.status for answer in answers[:5]] == [200] * 5
        limited = [answer for answer in answers if answer.status != 200]
        assert limited
        refused(limited[0], 429, grpc.StatusCode.RESOURCE_EXHAUSTED, "too many requests")
        assert replace(narrow, caller="127.0.1.1").ask("GET", "/healthz").status == 200


def test_a_gateway_whose_memory_is_used_up_refuses_with_a_sentence(tmp_path: Path) -> None:
    unlimited = ("--address-requests-per-second=0", "--network-requests-per-second=0")
    flags = ("--memory-limit-mebibytes=1", "--metrics-listen=127.0.0.1:0", *unlimited)
    with opened_gateway(tmp_path, *flags) as full:
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while (answer := full.ask("GET", "/healthz")).status == 200:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        refused(answer, 503, grpc.StatusCode.UNAVAILABLE, "is not available")
        native = full.ask("POST", LIST_GAMES, b"", headers={"content-type": "application/grpc"})
        refused_over_grpc(native, grpc.StatusCode.UNAVAILABLE)
        metrics = json.loads((tmp_path / "ready.json").read_text())["metrics"]
        assert urllib.request.urlopen(f"http://{metrics}/metrics", timeout=10).status == 200


async def test_a_draining_gateway_is_unhealthy_for_load_balancers(tmp_path: Path) -> None:
    with opened_gateway(tmp_path) as leaving:
        well = leaving.ask("GET", "/healthz")
        reveals_no_gateway(well)
        assert well.status == 200
        await Admin(Path(json.loads((tmp_path / "ready.json").read_text())["admin"])).drain(0)
        refused(leaving.ask("GET", "/healthz"), 503, grpc.StatusCode.UNAVAILABLE, "is not available")


def test_services_that_do_not_run(tmp_path: Path) -> None:
    with opened_gateway(tmp_path, "--lobby=127.0.0.1:1") as lonely:
        answer = lonely.ask("GET", "/v1/games", token=lonely.token())
        refused(answer, 503, grpc.StatusCode.UNAVAILABLE, "is not available")
        for kind in ("application/grpc", "application/grpc-web+proto"):
            answer = lonely.ask("POST", LIST_GAMES, b"", token=lonely.token(), headers={"content-type": kind})
            refused_over_grpc(answer, grpc.StatusCode.UNAVAILABLE)
