"""Services get whole requests: one that does not end is refused in time, and costs them nothing."""

import threading
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from tests.gateway.conftest import GatewayDeployment
from tests.gateway.harness import refused
from tests.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.gateway
CALLS = (
    "LobbyService/SignIn",
    "LobbyService/ListTables",
    "LobbyService/WatchTables",
    "LobbyService/FindMatch",
    "EngineService/WatchTable",
    "ScoringService/GetLeaderboard",
)


def test_calls_whose_message_does_not_come_are_refused(deployment: GatewayDeployment) -> None:
    ended = threading.Event()

    def nothing() -> Iterator[Any]:
        ended.wait()
        yield from ()

    assert deployment.endpoints.tls is not None
    metadata = (("authorization", f"Bearer {deployment.gateway.token()}"),)
    with grpc.secure_channel(deployment.endpoints.lobby, deployment.endpoints.tls.credentials()) as channel:
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


def test_a_body_that_does_not_end_is_refused(deployment: GatewayDeployment) -> None:
    head = b"POST /v1/sign-in HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"
    answer = deployment.gateway.send_raw(head)
    assert answer is not None
    refused(answer, 408, grpc.StatusCode.DEADLINE_EXCEEDED, "took too long to arrive")
