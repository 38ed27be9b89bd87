"""Addresses are parsed, and free ports are found without listening on them for long."""

import socket

import pytest

from croupier.runtime.addresses import addresses_of, free_port, is_free, is_loopback


def test_a_port_is_free_until_a_program_listens_on_it() -> None:
    port = free_port()
    assert is_free(f"127.0.0.1:{port}")
    with socket.create_server(("127.0.0.1", port)):
        assert not is_free(f"127.0.0.1:{port}")


def test_a_free_port_is_reserved_for_a_server_that_names_it() -> None:
    port = free_port()
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        # The system checks a port in this way before it returns it as a free one.
        other.bind(("127.0.0.1", port))
    with socket.create_server(("127.0.0.1", port)):
        assert not is_free(f"127.0.0.1:{port}")


@pytest.mark.parametrize("address", ["here:1", "192.0.2.1:0", "127.0.0.1:many", "127.0.0.1:99999", "127.0.0.1"])
def test_an_address_that_is_not_of_this_machine_is_not_free(address: str) -> None:
    assert not is_free(address)


def test_loopback_is_this_machine_only() -> None:
    assert all(map(is_loopback, ("127.0.0.1:80", "127.8.8.8:80", "localhost:80", "[::1]:80")))
    assert not any(map(is_loopback, ("0.0.0.0:80", "[::]:80", "10.0.0.1:80", "example.org:80", "80")))


def test_several_addresses_are_separated_by_commas() -> None:
    assert addresses_of("a:1, b:2") == ("a:1", "b:2")
