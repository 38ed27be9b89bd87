"""Addresses of running services on the load test's command line."""

import socket

import pytest

from croupier_client import Endpoints
from loadtest.backend import BackendMissing, check_reachable
from loadtest.options import read_options


def test_several_replicas_may_be_named() -> None:
    given = read_options(["--lobby=10.0.0.1:1", "--engine=10.0.0.1:2,10.0.0.2:2,10.0.0.3:2", "--scoring=10.0.0.1:3"])
    assert given.endpoints == Endpoints("10.0.0.1:1", "10.0.0.1:2,10.0.0.2:2,10.0.0.3:2", "10.0.0.1:3")


def test_several_names_are_refused_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        read_options(["--lobby=a:1", "--engine=a:2,b:2", "--scoring=a:3"])
    assert "a:2,b:2 cannot be used" in capsys.readouterr().err.splitlines()[-1]


def test_a_replica_that_is_not_there_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as there, socket.create_server(("127.0.0.1", 0)) as gone:
        first, second = (f"127.0.0.1:{it.getsockname()[1]}" for it in (there, gone))
        check_reachable(Endpoints.single(first))
        gone.close()
        with pytest.raises(BackendMissing, match=f"no lobby service answers at {second}"):
            check_reachable(Endpoints.single(f"{first},{second}"))
    with pytest.raises(BackendMissing, match="localhost is not an address: write HOST:PORT"):
        check_reachable(Endpoints.single("localhost"))
