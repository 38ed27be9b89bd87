"""Web pages may call from configured origins and from the gateway's own only, by JSON and by gRPC-Web."""

from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from croupier.gateway.bindings import call_path, json_bindings
from croupier.runtime.identity.tokens import ENGINE_CONTROL_AUDIENCE
from croupier_api.v1 import lobby_pb2
from tests.gateway.conftest import ORIGIN, GatewayDeployment
from tests.gateway.harness import UPGRADE, Gateway, opened_gateway, refused, refused_over_grpc, reveals_no_gateway

pytestmark = pytest.mark.gateway
BY_GRPC_WEB = call_path(lobby_pb2.DESCRIPTOR.services_by_name["LobbyService"].methods_by_name["CreateTable"])
OTHER_ORIGINS = ["https://evil.example", f"{ORIGIN}.evil.example", ORIGIN.replace("https", "http"), "null"]
PATHS = ["/v1/tables", BY_GRPC_WEB]
ALLOWED, DISALLOWED = {"origin": ORIGIN}, {"origin": "https://evil.example"}
PREFLIGHT = {"access-control-request-method": "POST", "access-control-request-headers": "authorization,x-table-id"}
NO_SERVICES = [f"--{name}=127.0.0.1:9" for name in ("lobby", "engine", "engine-websocket", "scoring")]
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


@pytest.mark.parametrize(
    ("origin", "host", "is_own"),
    [
        ("http://127.0.0.1:7700", "127.0.0.1:7700", True),
        ("http://localhost:7700", "localhost:7700", True),
        ("http://[2001:db8::7]:7700", "[2001:db8::7]:7700", True),
        ("http://192.0.2.7", "192.0.2.7", True),
        # A load balancer has ended TLS.
        ("https://play.example", "play.example", True),
        ("https://play.example:8443", "play.example:8443", True),
        # The page of a foreign name that points to this machine.
        ("http://evil.example:7700", "evil.example:7700", False),
        ("http://127.0.0.1.evil.example:7700", "127.0.0.1.evil.example:7700", False),
        ("http://localhost.evil.example", "localhost.evil.example", False),
        # The page of another server, also on the same machine.
        ("http://127.0.0.1:8000", "127.0.0.1:7700", False),
        ("http://127.0.0.1", "127.0.0.1:7700", False),
        ("https://evil.example", "play.example", False),
        ("https://play.example.evil.example", "play.example", False),
        ("https://evil.play.example", "play.example", False),
        ("https://play.example", "evil.play.example", False),
        ("https://play.example:8443", "play.example", False),
        ("https://play.example", "play.example:8443", False),
        ("HTTPS://play.example", "play.example", False),
        ("ftp://play.example", "play.example", False),
        ("play.example", "play.example", False),
        ("null", "null", False),
        ("", "", False),
        ("https://", "play.example", False),
        ("https://play.example, https://play.example", "play.example", False),
    ],
)
def test_a_page_of_the_gateway_itself_may_call(own_gateway: Gateway, origin: str, host: str, is_own: bool) -> None:
    """No service is here, so that calls and handshakes that the gateway accepts are answered with UNAVAILABLE."""
    headers = {"origin": origin, "host": host}
    web = {"content-type": "application/grpc-web+proto"}
    token = own_gateway.token()
    answers = [
        own_gateway.ask("POST", "/v1/sign-in", {}, headers=headers),
        own_gateway.ask("GET", "/v1/games", token=token, headers=headers),
        own_gateway.ask("POST", BY_GRPC_WEB, bytes(5), token=token, headers=headers | web),
        own_gateway.ask("GET", "/v1/tables/t/play", headers={**UPGRADE, **headers}),
        own_gateway.ask("GET", "/", headers=headers),
    ]
    statuses = [answer.headers.get("grpc-status", str(answer.status)) for answer in answers]
    assert statuses == (["14", "14", "14", "14", "200"] if is_own else ["7"] * 5)
    assert not any(name.startswith("access-control") for answer in answers for name in answer.headers)


@pytest.fixture(scope="module")
def own_gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with opened_gateway(tmp_path_factory.mktemp("own_origin"), *NO_SERVICES) as gateway:
        yield gateway


def test_two_origins_are_none_of_the_gateways(own_gateway: Gateway) -> None:
    own = f"127.0.0.1:{own_gateway.port}"
    lines = [f"POST /v1/sign-in HTTP/1.1\r\nhost: {own}", f"origin: http://{own}", "origin: https://evil.example"]
    for order in (lines, [lines[0], lines[2], lines[1]]):
        answer = own_gateway.send_raw("\r\n".join([*order, "content-length: 2", "", "{}"]).encode())
        assert answer is not None
        refused(answer, *FORBIDDEN)
