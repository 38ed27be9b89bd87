"""Addresses, host:port: parsed from settings, and checked before a program listens on them."""

import errno
import ipaddress
import socket
from collections.abc import Mapping
from types import MappingProxyType

_LISTEN_FAULTS: Mapping[int | None, str] = MappingProxyType(
    {
        errno.EADDRINUSE: "is in use",
        errno.EACCES: "is not permitted for this user",
        errno.EADDRNOTAVAIL: "is no address of this machine",
    }
)


def addresses_of(text: str) -> tuple[str, ...]:
    """Parse host:port, or several separated by commas; raises ValueError for an invalid address."""
    addresses = tuple(part.strip() for part in text.split(","))
    for address in addresses:
        if not is_address(address):
            raise ValueError(f"expected host:port, or several separated by commas, not {address!r}")
    return addresses


def check_address(text: str) -> None:
    """Raise ValueError unless a text is one host:port."""
    if not is_address(text):
        raise ValueError(f"{text!r} is not an address: one host:port is expected")


def is_address(text: str) -> bool:
    """Return whether a text is one host:port with a port from 1 to 65535."""
    host, _, port = text.rpartition(":")
    return bool(host) and "," not in host and port.isascii() and port.isdigit() and 0 < int(port) < 65_536


def host_and_port(address: str) -> tuple[str, int]:
    """Split host:port, IPv6 without its brackets; raises ValueError if the port is no number."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def ip_of(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return the IP address of host:port, None if the host is a name."""
    try:
        return ipaddress.ip_address(address.rpartition(":")[0].strip("[]"))
    except ValueError:
        return None


def is_loopback(address: str) -> bool:
    """Return whether host:port can be reached from this machine only."""
    ip = ip_of(address)
    return address.rpartition(":")[0] == "localhost" if ip is None else ip.is_loopback


def listen_fault(address: str) -> str:
    """Return the reason why no server can listen on host:port now, such as "is in use"; empty if one can.

    A port whose last connections are in TIME_WAIT counts as free.
    """
    try:
        with _bound(*host_and_port(address)):
            return ""
    except OSError as fault:
        return _LISTEN_FAULTS.get(fault.errno, f"cannot be listened on ({fault.strerror})")
    except (ValueError, OverflowError):
        return "has no port from 1 to 65535"


def _bound(host: str, port: int) -> socket.socket:
    name = host.strip("[]")
    bound = socket.socket(socket.AF_INET6 if ":" in name else socket.AF_INET, socket.SOCK_STREAM)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((name, port))
    except BaseException:
        bound.close()
        raise
    return bound
