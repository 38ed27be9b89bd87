"""Addresses are parsed, and free ports are found without listening on them for long."""

import errno
import socket

import pytest

from croupier.runtime.server.addresses import (
    addresses_of,
    host_and_port,
    is_address,
    is_loopback,
    listen_fault,
    listening_host,
    with_port,
)
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


@pytest.mark.parametrize(
    "address",
    ["10.0.0.1:80", "[::1]:80", "[fd00::7]:65535", "lobby:7710", "dns:///lobby:7710", "dns://[::1]:53/lobby:7710"],
)
def test_a_valid_address_is_split_into_host_and_port(address: str) -> None:
    assert is_address(address)
    assert address.startswith("dns:") or with_port(*host_and_port(address)) == address


@pytest.mark.parametrize(
    "text",
    [
        *("::1:80", "fd00::7:80", "::1", "[::1]", "[::1:80", "::1]:80", "[lobby]:80", "[10.0.0.1]:80"),
        *("", "a", ":80", "a:0", "a:65536", "a:http", "a,b:1"),
    ],
)
def test_an_address_has_a_host_and_a_port_and_ipv6_needs_brackets(text: str) -> None:
    assert not is_address(text)
    with pytest.raises(ValueError, match=r"expected host:port, IPv6 as \[host\]:port"):
        addresses_of(f"a:1, {text}")


@pytest.mark.parametrize(
    ("host", "has_ipv6", "expected"),
    [("[::]", True, "::"), ("::", False, ".".join("0000")), ("[::1]", False, "::1"), ("10.0.0.1", False, "10.0.0.1")],
)
def test_all_addresses_are_those_of_ipv4_on_a_machine_without_ipv6(host: str, has_ipv6: bool, expected: str) -> None:
    assert listening_host(host, lambda: has_ipv6) == expected


def test_a_port_of_ipv4_is_in_use_for_all_addresses_of_ipv6() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert listen_fault(f"[::]:{server.getsockname()[1]}") == "is in use"
    with reserved_port() as port:
        assert listen_fault(f"[::]:{port}") == ""
