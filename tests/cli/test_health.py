"""`croupier health` against a real health service in each of its states."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from croupier.cli.faults import FAILED, MISUSED
from tests.cli.conftest import Command

SERVING = health_pb2.HealthCheckResponse.SERVING
NONSENSE = ("7710", "localhost:", "localhost:port", "127.0.0.1:1,127.0.0.1:2", "")
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


@pytest.fixture
def address() -> Iterator[str]:
    server = grpc.server(ThreadPoolExecutor(1))
    servicer = health.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    servicer.set("", NOT_SERVING)
    servicer.set("live", SERVING)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(None).wait()


def test_a_service_that_serves(croupier: Command, address: str) -> None:
    assert croupier("health", address, "--service", "live").code == 0


@pytest.mark.parametrize(
    ("asked", "service", "message", "code"),
    [
        (None, "", "{} reports NOT_SERVING", FAILED),
        (None, "lively", "{} does not report its health: NOT_FOUND", FAILED),
        ("127.0.0.1:1", "", "{} does not report its health: UNAVAILABLE", FAILED),
        *(
            (nonsense, "", "invalid address {!r}: expected HOST:PORT, IPv6 as [HOST]:PORT", MISUSED)
            for nonsense in NONSENSE
        ),
    ],
)
def test_a_service_that_does_not_serve(
    croupier: Command, address: str, asked: str | None, service: str, message: str, code: int
) -> None:
    asked = address if asked is None else asked
    ended = croupier("health", asked, "--service", service)
    assert (ended.code, ended.error_line()) == (code, f"croupier: {message.format(asked)}\n")
