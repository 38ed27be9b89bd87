"""`croupier health` against a real health service in each of its states."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from croupier.cli.faults import FAILED, MISUSED, CommandFault
from croupier.cli.health import check_health

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


@pytest.fixture
def address() -> Iterator[str]:
    """A service that runs but is not ready."""
    server = grpc.server(ThreadPoolExecutor(1))
    servicer = health.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    servicer.set("", NOT_SERVING)
    servicer.set("live", SERVING)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"127.0.0.1:{port}"
    server.stop(None).wait()


def refusal(address: str, service: str = "") -> CommandFault:
    with pytest.raises(CommandFault) as refused:
        check_health(address, service)
    return refused.value


def test_a_service_that_serves(address: str) -> None:
    check_health(address, "live")


def test_a_service_that_does_not(address: str) -> None:
    fault = refusal(address)
    assert (fault.message, fault.exit_code) == (f"{address} says NOT_SERVING", FAILED)


def test_a_name_that_nobody_has(address: str) -> None:
    assert refusal(address, "lively").message == f"{address} gives no answer about its health: NOT_FOUND"


def test_nobody_there() -> None:
    fault = refusal("127.0.0.1:1")
    assert (fault.message, fault.exit_code) == ("127.0.0.1:1 gives no answer about its health: UNAVAILABLE", FAILED)


@pytest.mark.parametrize("nonsense", ["7710", "localhost:", "localhost:port", "127.0.0.1:1,127.0.0.1:2", ""])
def test_what_is_no_address(nonsense: str) -> None:
    fault = refusal(nonsense)
    assert (fault.message, fault.exit_code) == (f"{nonsense} cannot be asked: write HOST:PORT", MISUSED)
