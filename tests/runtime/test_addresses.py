"""Addresses are parsed, and free ports are found without listening on them for long."""

import errno
import socket

import pytest

from croupier.runtime.addresses import addresses_of, is_loopback, listen_fault
from tests.ports import reserved_port


def test_a_port_is_free_until_a_program_listens_on_it() -> None:
    with reserved_port() as port:
        assert listen_fault(f"127.0.0.1:{port}") == ""
        with socket.create_server(("127.0.0.1", port)):
            assert listen_fault(f"127.0.0.1:{port}") == "is in use"


@pytest.mark.parametrize(
    ("address", "fault"),
    [
        ("192.0.2.1:1", "is no address of this machine"),
        ("127.0.0.1:many", "has no port from 1 to 65535"),
        ("127.0.0.1:99999", "has no port from 1 to 65535"),
        ("127.0.0.1", "has no port from 1 to 65535"),
        ("here:1", "cannot be listened on (Name or service not known)"),
    ],
)
def test_the_reason_why_no_server_can_listen_is_named(address: str, fault: str) -> None:
    assert listen_fault(address) == fault


def test_a_port_that_is_not_permitted_is_not_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(socket.socket, "bind", refuse)
    assert listen_fault("127.0.0.1:80") == "is not permitted for this user"


def test_loopback_is_this_machine_only() -> None:
    assert all(map(is_loopback, ("127.0.0.1:80", "127.8.8.8:80", "localhost:80", "[::1]:80")))
    assert not any(map(is_loopback, ("0.0.0.0:80", "[::]:80", "10.0.0.1:80", "example.org:80", "80")))


def test_several_addresses_are_separated_by_commas() -> None:
    assert addresses_of("a:1, b:2") == ("a:1", "b:2")
