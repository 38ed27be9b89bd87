"""Malformed HTTP is answered with a sentence or by closing the connection, and a request that does not end in time.

Services get whole requests: one that does not end costs them nothing.
"""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from tests.gateway.conftest import GatewayDeployment
from tests.gateway.harness import Answer, Gateway, refused
from tests.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.gateway
INVALID = grpc.StatusCode.INVALID_ARGUMENT
HEAD = b"GET /v1/games HTTP/1.1\r\nhost: x\r\n"
SIGN_IN = b"POST /v1/sign-in HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
SWITCH = b"connection: upgrade\r\nupgrade: websocket\r\n\r\n"
INVALID_HTTP, AMBIGUOUS = "invalid HTTP", "ambiguous path"
CHUNKED = SIGN_IN + b"transfer-encoding: chunked"
UNREADABLE = [
    (b"\x00\xffhello\r\n\r\n", INVALID_HTTP),
    (b"FOO /v1/games HTTP/1.1\r\nhost: x\r\n\r\n", INVALID_HTTP),
    (HEAD + b"a b: c\r\n\r\n", INVALID_HTTP),
    (SIGN_IN + b"content-length: -1\r\n\r\n", INVALID_HTTP),
    (SIGN_IN + b"content-length: 2\r\ncontent-length: 3\r\n\r\n{}", INVALID_HTTP),
    (CHUNKED + b"\r\ncontent-length: 2\r\n\r\n0\r\n\r\n", INVALID_HTTP),
    (CHUNKED + b"\r\n\r\nzz\r\n", INVALID_HTTP),
    (SIGN_IN + b"content-encoding: gzip\r\ncontent-length: 4\r\n\r\n\x1f\x8b\x08\x00", "invalid request: "),
    (b"GET /v1/games HTTP/1.1\r\n\r\n", "missing header 'host'"),
    (b"GET /v1/games HTTP/1.1\r\nhost: a b<>\r\n\r\n", "invalid header 'host'"),
    (HEAD + b"a: \x00\r\n\r\n", "invalid character"),
    (HEAD + b"a_b: c\r\n\r\n", "'_' is not allowed"),
    *(
        (b"GET /v1/%b HTTP/1.1\r\nhost: x\r\n\r\n" % path, AMBIGUOUS)
        for path in (b"games#a", b"tables/a%2fb", b"tables/a%00b", b"tables/a%5Cb")
    ),
]


def send_checked(deployment: GatewayDeployment, request: bytes) -> Answer:
    answer = deployment.gateway.send_raw(request)
    assert answer is not None
    return answer


@pytest.mark.parametrize(("request_bytes", "sentence"), UNREADABLE)
def test_a_malformed_request_gets_its_fault(deployment: GatewayDeployment, request_bytes: bytes, sentence: str) -> None:
    refused(send_checked(deployment, request_bytes), 400, INVALID, sentence)


@pytest.mark.parametrize("coding", [b"xchunked", b"gzip, chunked", b"chunked\r\ntransfer-encoding: identity"])
def test_transfer_codings_other_than_chunked(deployment: GatewayDeployment, coding: bytes) -> None:
    answer = send_checked(deployment, SIGN_IN + b"transfer-encoding: " + coding + b"\r\n\r\n0\r\n\r\n")
    refused(answer, 501, INVALID, "in chunks")


def with_token(gateway: Gateway, request: bytes) -> bytes:
    return request + b"authorization: Bearer " + gateway.token().encode() + b"\r\n"


@pytest.mark.parametrize("head", [HEAD, b"CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n"], ids=["upgrade", "connect"])
def test_a_connection_is_not_upgraded(deployment: GatewayDeployment, head: bytes) -> None:
    refused(
        send_checked(deployment, with_token(deployment.gateway, head) + SWITCH), 400, INVALID, "Upgrade and CONNECT"
    )


def test_an_old_version_of_http(deployment: GatewayDeployment) -> None:
    refused(send_checked(deployment, b"GET /v1/games HTTP/1.0\r\n\r\n"), 426, INVALID, "HTTP/1.1 or HTTP/2")


@pytest.mark.parametrize("begun", [SIGN_IN, SIGN_IN + b"content-length: 100\r\n\r\n{"], ids=["headers", "body"])
def test_a_request_that_does_not_end_is_refused(deployment: GatewayDeployment, begun: bytes) -> None:
    refused(send_checked(deployment, begun), 408, grpc.StatusCode.DEADLINE_EXCEEDED, "took too long to arrive")


CALLS = (
    *("LobbyService/SignIn", "LobbyService/ListTables", "LobbyService/WatchTables", "LobbyService/FindMatch"),
    *("EngineService/WatchTable", "ScoringService/GetLeaderboard"),
)


def test_calls_whose_message_does_not_come_are_refused(deployment: GatewayDeployment, channel: grpc.Channel) -> None:
    ended = threading.Event()

    def nothing() -> Iterator[Any]:
        ended.wait()
        yield from ()

    metadata = (("authorization", f"Bearer {deployment.gateway.token()}"),)
    opened: list[Any] = [
        channel.stream_stream(f"/croupier_api.v1.{call}")(nothing(), metadata=metadata, timeout=TIMEOUT_SECONDS)
        for call in CALLS
    ]
    try:
        answers = {name: refusal_of(call) for name, call in zip(CALLS, opened, strict=True)}
    finally:
        ended.set()
    assert answers == dict.fromkeys(CALLS, (grpc.StatusCode.DEADLINE_EXCEEDED, "SERVICE_TIMEOUT", "gateway"))


def refusal_of(call: Any) -> tuple[grpc.StatusCode, str, str]:
    """Return code, reason and source with which a call ends."""
    with pytest.raises(grpc.RpcError):
        next(call)
    status, info = rpc_status.from_call(call), error_details_pb2.ErrorInfo()
    assert status is not None, call
    assert status.details[0].Unpack(info)
    return call.code(), info.reason, info.metadata["source"]


def test_a_path_that_is_a_url(deployment: GatewayDeployment) -> None:
    """The gateway is no forward proxy: it ignores the URL's host and routes by its path."""
    request = with_token(deployment.gateway, b"GET http://127.0.0.1:1/v1/games HTTP/1.1\r\nhost: x\r\n")
    assert send_checked(deployment, request + b"\r\n").json["games"]


def test_plain_text_at_a_gateway_with_tls(deployment: GatewayDeployment) -> None:
    with socket.create_connection(("127.0.0.1", deployment.gateway.port), 20) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        with suppress(ConnectionResetError):
            assert plain.recv(4096) == b""
    assert deployment.gateway.ask("GET", "/healthz").status == 200


def test_a_header_that_is_not_text_is_not_logged(deployment: GatewayDeployment) -> None:
    assert (
        send_checked(deployment, with_token(deployment.gateway, HEAD) + b"x-table-id: secret\xff\r\n\r\n").status == 200
    )
    log = deployment.services.folder.log_file("lobby").read_text()
    assert "Traceback" not in log
    assert "secret" not in log


@pytest.mark.parametrize("request_id", ["é".encode(), b"\xe9"], ids=["utf-8", "latin-1"])
def test_an_invalid_request_id_is_replaced(deployment: GatewayDeployment, request_id: bytes) -> None:
    """The lobby sends it on to the engine, and gRPC sends no such header."""
    body = b'{"game": "one_ten", "seat_count": 2}'
    head = b"POST /v1/tables HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nx-request-id: %b\r\n" % request_id
    request = with_token(deployment.gateway, head) + b"content-length: %d\r\n\r\n%b" % (len(body), body)
    answer = send_checked(deployment, request)
    assert answer.status == 200, answer
    assert "Traceback" not in deployment.services.folder.log_file("lobby").read_text()
