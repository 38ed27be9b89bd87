"""Bytes that no client of ours would send: each is answered in words, or the connection is closed, and that is all."""

import socket
from contextlib import suppress

import grpc
import pytest

from tests.door.conftest import House
from tests.door.doors import Answer, Door, refused

pytestmark = pytest.mark.gateway
INVALID = grpc.StatusCode.INVALID_ARGUMENT
HEAD = b"GET /v1/games HTTP/1.1\r\nhost: x\r\n"
SIGN_IN = b"POST /v1/sign-in HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
SWITCH = b"connection: upgrade\r\nupgrade: websocket\r\n\r\n"
BREAKS_A_RULE, READ_IN_TWO_WAYS = "it breaks a rule of HTTP", "read in two ways"
CHUNKED = SIGN_IN + b"transfer-encoding: chunked"
UNREADABLE = [
    (b"\x00\xffhello\r\n\r\n", BREAKS_A_RULE),
    (b"FOO /v1/games HTTP/1.1\r\nhost: x\r\n\r\n", BREAKS_A_RULE),
    (HEAD + b"a b: c\r\n\r\n", BREAKS_A_RULE),
    (SIGN_IN + b"content-length: -1\r\n\r\n", BREAKS_A_RULE),
    (SIGN_IN + b"content-length: 2\r\ncontent-length: 3\r\n\r\n{}", BREAKS_A_RULE),
    (CHUNKED + b"\r\ncontent-length: 2\r\n\r\n0\r\n\r\n", BREAKS_A_RULE),
    (CHUNKED + b"\r\n\r\nzz\r\n", BREAKS_A_RULE),
    (SIGN_IN + b"content-encoding: gzip\r\ncontent-length: 4\r\n\r\n\x1f\x8b\x08\x00", "the request cannot be read: "),
    (b"GET /v1/games HTTP/1.1\r\n\r\n", "'host' is missing"),
    (b"GET /v1/games HTTP/1.1\r\nhost: a b<>\r\n\r\n", "'host' is neither a name nor an address"),
    (HEAD + b"a: \x00\r\n\r\n", "a character that is not allowed"),
    (HEAD + b"a_b: c\r\n\r\n", "cannot have '_'"),
    *(
        (b"GET /v1/%b HTTP/1.1\r\nhost: x\r\n\r\n" % path, READ_IN_TWO_WAYS)
        for path in (b"games#a", b"tables/a%2fb", b"tables/a%00b", b"tables/a%5Cb")
    ),
]


def said(house: House, request: bytes) -> Answer:
    answer = house.door.say(request)
    assert answer is not None
    return answer


@pytest.mark.parametrize(("request_bytes", "sentence"), UNREADABLE)
def test_it_is_said_what_cannot_be_read(house: House, request_bytes: bytes, sentence: str) -> None:
    refused(said(house, request_bytes), 400, INVALID, sentence)


@pytest.mark.parametrize("coding", [b"xchunked", b"gzip, chunked", b"chunked\r\ntransfer-encoding: identity"])
def test_bodies_in_other_pieces_than_chunks(house: House, coding: bytes) -> None:
    answer = said(house, SIGN_IN + b"transfer-encoding: " + coding + b"\r\n\r\n0\r\n\r\n")
    refused(answer, 501, grpc.StatusCode.UNIMPLEMENTED, "in chunks")


def with_token(door: Door, request: bytes) -> bytes:
    return request + b"authorization: Bearer " + door.token().encode() + b"\r\n"


@pytest.mark.parametrize("head", [HEAD, b"CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n"], ids=["upgrade", "connect"])
def test_a_connection_stays_what_it_is(house: House, head: bytes) -> None:
    refused(said(house, with_token(house.door, head) + SWITCH), 400, INVALID, "neither Upgrade nor CONNECT")


def test_http_of_another_time(house: House) -> None:
    refused(said(house, b"GET /v1/games HTTP/1.0\r\n\r\n"), 426, INVALID, "HTTP/1.1 and HTTP/2")


def test_headers_that_do_not_come_to_an_end(house: House) -> None:
    refused(said(house, SIGN_IN), 408, grpc.StatusCode.DEADLINE_EXCEEDED, "took too long to arrive")


def test_a_path_that_is_an_address(house: House) -> None:
    """A door is no proxy: it does not go where the request names, but asks the service that the path stands for."""
    request = with_token(house.door, b"GET http://127.0.0.1:1/v1/games HTTP/1.1\r\nhost: x\r\n")
    assert said(house, request + b"\r\n").json["games"]


def test_words_in_the_clear_at_a_door_with_tls(house: House) -> None:
    with socket.create_connection(("127.0.0.1", house.door.port), 20) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        with suppress(ConnectionResetError):
            assert plain.recv(4096) == b""
    assert house.door.ask("GET", "/healthz").status == 200


def test_what_is_no_text_in_a_header_stands_in_no_log(house: House) -> None:
    assert said(house, with_token(house.door, HEAD) + b"x-table-id: secret\xff\r\n\r\n").status == 200
    log = house.services.folder.log_file("lobby").read_text()
    assert "Traceback" not in log
    assert "secret" not in log
