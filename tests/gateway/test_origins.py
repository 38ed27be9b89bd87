"""Web pages may call from configured origins only, by JSON and by gRPC-Web."""

from pathlib import Path

import grpc
import pytest

from croupier.gateway.bindings import call_path, json_bindings
from croupier.runtime.identity.tokens import ENGINE_CONTROL_AUDIENCE
from croupier_api.v1 import lobby_pb2
from tests.gateway.conftest import ORIGIN, GatewayDeployment
from tests.gateway.harness import opened_gateway, refused, refused_over_grpc, reveals_no_gateway

pytestmark = pytest.mark.gateway
BY_GRPC_WEB = call_path(lobby_pb2.DESCRIPTOR.services_by_name["LobbyService"].methods_by_name["CreateTable"])
OTHER_ORIGINS = ["https://evil.example", f"{ORIGIN}.evil.example", ORIGIN.replace("https", "http"), "null"]
PATHS = ["/v1/tables", BY_GRPC_WEB]
ALLOWED, DISALLOWED = {"origin": ORIGIN}, {"origin": "https://evil.example"}
PREFLIGHT = {"access-control-request-method": "POST", "access-control-request-headers": "authorization,x-table-id"}
FORBIDDEN = (403, grpc.StatusCode.PERMISSION_DENIED, "web pages of this origin")


@pytest.mark.parametrize("path", PATHS)
def test_a_preflight_of_an_allowed_origin_is_answered(deployment: GatewayDeployment, path: str) -> None:
    allowed = deployment.gateway.ask("OPTIONS", path, headers=ALLOWED | PREFLIGHT)
    assert allowed.status == 200
    assert allowed.headers["access-control-allow-origin"] == ORIGIN
    methods = set(allowed.headers["access-control-allow-methods"].split(", "))
    assert methods == {"OPTIONS", *(binding.verb for binding in json_bindings())}
    for header in ("authorization", "content-type", "x-table-id", "x-grpc-web"):
        assert header in allowed.headers["access-control-allow-headers"]
    assert "access-control-allow-credentials" not in allowed.headers
    reveals_no_gateway(allowed)


@pytest.mark.parametrize("verb", sorted({binding.verb for binding in json_bindings()}))
def test_each_path_has_a_preflight_for_each_of_its_methods(deployment: GatewayDeployment, verb: str) -> None:
    for binding in json_bindings():
        if binding.verb == verb:
            path = binding.path.replace("{", "").replace("}", "")
            wanted = ALLOWED | PREFLIGHT | {"access-control-request-method": verb}
            answer = deployment.gateway.ask("OPTIONS", path, headers=wanted)
            assert (answer.status, answer.headers["access-control-allow-origin"]) == (200, ORIGIN), path
            assert verb in answer.headers["access-control-allow-methods"].split(", ")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("origin", OTHER_ORIGINS)
def test_a_preflight_of_another_origin_is_refused(deployment: GatewayDeployment, path: str, origin: str) -> None:
    answer = deployment.gateway.ask("OPTIONS", path, headers={"origin": origin} | PREFLIGHT)
    refused(answer, *FORBIDDEN)
    assert not any(header.startswith("access-control") for header in answer.headers)


def test_requests_of_another_origin_are_refused_also_without_a_preflight(deployment: GatewayDeployment) -> None:
    """A browser sends simple requests without a preflight and hides only their answer from the page."""
    token = deployment.gateway.token()
    refused(deployment.gateway.ask("GET", "/v1/games", token=token, headers=DISALLOWED), *FORBIDDEN)
    refused(deployment.gateway.ask("POST", "/v1/sign-in", {}, headers=DISALLOWED), *FORBIDDEN)
    web = {"content-type": "application/grpc-web+proto"}
    refused(deployment.gateway.ask("POST", BY_GRPC_WEB, b"", headers=DISALLOWED | web), *FORBIDDEN)
    native = {"content-type": "application/grpc"}
    refused_over_grpc(deployment.gateway.ask("POST", BY_GRPC_WEB, b"", headers=DISALLOWED | native), FORBIDDEN[1])
    answer = deployment.gateway.ask("GET", "/v1/games", token=token, headers=ALLOWED)
    assert (answer.status, answer.headers["access-control-allow-origin"]) == (200, ORIGIN)


def test_a_page_of_an_allowed_origin_may_read_a_refusal(deployment: GatewayDeployment) -> None:
    answer = deployment.gateway.ask("GET", "/v1/games", headers=ALLOWED)
    refused(answer, 401, grpc.StatusCode.UNAUTHENTICATED, "access token")
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    other = deployment.gateway.token(audience=ENGINE_CONTROL_AUDIENCE)
    answer = deployment.gateway.ask("GET", "/v1/games", token=other, headers=ALLOWED)
    refused(answer, 401, grpc.StatusCode.UNAUTHENTICATED, "access token")


def test_no_page_may_call_by_default(tmp_path: Path) -> None:
    with opened_gateway(tmp_path) as gateway:
        for path in PATHS:
            refused(gateway.ask("OPTIONS", path, headers=ALLOWED | PREFLIGHT), *FORBIDDEN)
        refused(gateway.ask("GET", "/v1/games", headers=ALLOWED), *FORBIDDEN)
