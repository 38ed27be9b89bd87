"""Web pages may call from origins that the operator has named, by JSON and by gRPC-Web, and from no others."""

from pathlib import Path

import grpc
import pytest

from croupier.door.bindings import call_path
from croupier_api.v1 import lobby_pb2
from tests.door.conftest import ORIGIN, House
from tests.door.doors import opened_door, refused, tells_nothing_of_the_door

pytestmark = pytest.mark.gateway
BY_GRPC_WEB = call_path(lobby_pb2.DESCRIPTOR.services_by_name["LobbyService"].methods_by_name["CreateTable"])
STRANGERS = ["https://evil.example", f"{ORIGIN}.evil.example", ORIGIN.replace("https", "http"), "null"]
PATHS = ["/v1/tables", BY_GRPC_WEB]
OURS, FOREIGN = {"origin": ORIGIN}, {"origin": "https://evil.example"}
QUESTION = {"access-control-request-method": "POST", "access-control-request-headers": "authorization,x-table-id"}
FORBIDDEN = (403, grpc.StatusCode.PERMISSION_DENIED, "web pages of this origin")


@pytest.mark.parametrize("path", PATHS)
def test_a_browser_is_told_what_a_page_of_ours_may_do(house: House, path: str) -> None:
    allowed = house.door.ask("OPTIONS", path, headers=OURS | QUESTION)
    assert allowed.status == 200
    assert allowed.headers["access-control-allow-origin"] == ORIGIN
    assert "POST" in allowed.headers["access-control-allow-methods"]
    for header in ("authorization", "content-type", "x-table-id", "x-grpc-web"):
        assert header in allowed.headers["access-control-allow-headers"]
    assert "access-control-allow-credentials" not in allowed.headers
    tells_nothing_of_the_door(allowed)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("origin", STRANGERS)
def test_a_browser_is_told_that_pages_of_others_may_not_call(house: House, path: str, origin: str) -> None:
    answer = house.door.ask("OPTIONS", path, headers={"origin": origin} | QUESTION)
    refused(answer, *FORBIDDEN)
    assert not any(header.startswith("access-control") for header in answer.headers)


def test_pages_of_others_are_refused_whatever_they_send(house: House) -> None:
    """Not every request is asked about before: some a page may send at once, and only the answer would be hidden."""
    token = house.door.token()
    refused(house.door.ask("GET", "/v1/games", token=token, headers=FOREIGN), *FORBIDDEN)
    refused(house.door.ask("POST", "/v1/sign-in", {}, headers=FOREIGN), *FORBIDDEN)
    answer = house.door.ask("GET", "/v1/games", token=token, headers=OURS)
    assert (answer.status, answer.headers["access-control-allow-origin"]) == (200, ORIGIN)


def test_a_page_of_ours_may_read_why_it_was_refused(house: House) -> None:
    answer = house.door.ask("GET", "/v1/games", headers=OURS)
    refused(answer, 401, grpc.StatusCode.UNAUTHENTICATED, "access token")
    assert answer.headers["access-control-allow-origin"] == ORIGIN


def test_unless_told_otherwise_no_page_may_call(tmp_path: Path) -> None:
    with opened_door(tmp_path) as door:
        for path in PATHS:
            refused(door.ask("OPTIONS", path, headers=OURS | QUESTION), *FORBIDDEN)
        refused(door.ask("GET", "/v1/games", headers=OURS), *FORBIDDEN)
