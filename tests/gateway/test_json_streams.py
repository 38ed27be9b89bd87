"""The end of a JSON stream: a last line with the reason, or a body that is cut."""

import http.client
import json
import signal
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, TypeAlias

import pytest
from google.api import annotations_pb2
from google.rpc.status_pb2 import Status

from croupier.gateway.bindings import SERVICES
from croupier_api.v1.engine_pb2 import WatchTableResponse
from tests.gateway.conftest import REQUEST_SECONDS, GatewayDeployment
from tests.gateway.harness import Gateway
from tests.gateway.raw_http2 import DATA, END_STREAM, RawHttp2
from tests.waiting import TIMEOUT_SECONDS, until

pytestmark = pytest.mark.gateway
Follow: TypeAlias = Callable[[Gateway, str, str], Iterator[Any]]
CUT = "cut"
"""What a stream ends with if its body does not end as HTTP requires."""


def over_http_1(gateway: Gateway, path: str, token: str) -> Iterator[Any]:
    """Yield the lines of a stream, and CUT if its last chunk is missing."""
    with closing(gateway.connection()) as connection:
        connection.request("GET", path, headers={"authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        assert answer.headers["content-type"] == "application/x-ndjson"
        assert answer.status == 200
        text = b""
        try:
            while part := answer.read1():
                *lines, text = (text + part).split(b"\n")
                yield from map(json.loads, lines)
        except (http.client.IncompleteRead, ConnectionError):
            yield CUT


def over_http_2(gateway: Gateway, path: str, token: str) -> Iterator[Any]:
    """Yield the lines of a stream, and CUT if it is reset."""
    context = ssl.create_default_context(cafile=gateway.authority)
    context.set_alpn_protocols(["h2"])
    with (
        socket.create_connection(("127.0.0.1", gateway.port), TIMEOUT_SECONDS) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as connection,
    ):
        reader, text, has_ended = RawHttp2(connection), b"", False
        reader.get(path, {"authorization": f"Bearer {token}"})
        for frame in reader.frames():
            text += frame.payload if frame.kind == DATA else b""
            has_ended = bool(frame.flags & END_STREAM)
            *lines, text = text.split(b"\n")
            yield from map(json.loads, lines)
        if not has_ended:
            yield CUT


@pytest.fixture(params=[over_http_1, over_http_2])
def follow(request: pytest.FixtureRequest) -> Follow:
    found: Follow = request.param
    return found


def open_table(gateway: Gateway) -> str:
    """Return the id of a public table of two players, the player of the gateway's tokens and a bot.

    A service that an earlier test has restarted may not be reached yet.
    """
    token, deadline = gateway.token(), time.monotonic() + TIMEOUT_SECONDS
    while (answer := gateway.ask("POST", "/v1/tables", {"game": "thulla", "seat_count": 2}, token=token)).status != 200:
        assert time.monotonic() < deadline, answer
        time.sleep(0.1)
    table_id: str = answer.json["table"]["table_id"]
    assert gateway.ask("POST", f"/v1/tables/{table_id}/bots", token=token).status == 200
    return table_id


def test_a_stream_lasts_longer_than_a_call_and_has_the_reason_of_an_expired_token(
    deployment: GatewayDeployment, follow: Follow
) -> None:
    gateway = deployment.gateway
    path = f"/v1/tables:watch?table_id={open_table(gateway)}"
    first, *_, last = follow(gateway, path, gateway.token(age_seconds=60 - REQUEST_SECONDS - 3))
    assert "error" not in first
    assert (last["error"]["code"], last["error"]["details"][0]["reason"]) == (16, "INVALID_ACCESS_TOKEN")


async def test_a_stream_whose_service_stops_has_the_reason(deployment: GatewayDeployment, follow: Follow) -> None:
    gateway, services = deployment.gateway, deployment.services
    lines = follow(gateway, f"/v1/tables:watch?table_id={open_table(gateway)}", gateway.token())
    next(lines)
    stopped = services.pids["lobby"]
    services.kill("lobby", signal.SIGTERM)
    *_, last = lines
    await until(lambda: services.pids["lobby"] != stopped)
    assert (last["error"]["code"], last["error"]["details"][0]["reason"]) == (14, "SERVER_STOPPING")
    assert last["error"]["details"][1]["@type"].endswith("RetryInfo")


async def test_a_stream_whose_service_is_lost_is_cut(deployment: GatewayDeployment, follow: Follow) -> None:
    gateway = deployment.gateway
    table_id = open_table(gateway)
    ready = gateway.ask("POST", f"/v1/tables/{table_id}:ready", {}, token=gateway.token())
    assert ready.status == 200
    await until(lambda: gateway.ask("GET", f"/v1/tables/{table_id}/view", token=gateway.token()).status == 200)
    lines = follow(gateway, f"/v1/tables/{table_id}/events", gateway.token())
    assert "snapshot" in next(lines)["table_event"]
    killed = deployment.services.pids["engine"]
    deployment.services.kill("engine")
    *_, last = lines
    assert last == CUT
    await until(lambda: deployment.services.pids["engine"] != killed)
    await until(lambda: gateway.ask("GET", f"/v1/tables/{table_id}/view", token=gateway.token()).status == 200)


def test_every_stream_for_http_has_its_error_in_the_same_field() -> None:
    expected = WatchTableResponse.DESCRIPTOR.fields_by_name["error"]
    assert expected.message_type is Status.DESCRIPTOR
    for service in SERVICES:
        for method in service.methods:
            if method.server_streaming and method.GetOptions().HasExtension(annotations_pb2.http):
                found = method.output_type.fields_by_name["error"]
                assert (found.number, found.message_type) == (expected.number, expected.message_type), method.name
