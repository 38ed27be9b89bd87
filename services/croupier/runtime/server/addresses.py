"""Addresses, host:port with IPv6 in brackets: parsed from settings, and checked before a program listens on them."""

import errno
import ipaddress
import re
import socket
from collections.abc import Callable, Mapping
from types import MappingProxyType

EXPECTED = "host:port, IPv6 as [host]:port"
_NAME_PREFIX = re.compile(r"^dns:(//[^/]*/)?")
"""What gRPC has before a name that stands for all its addresses: with the address of a DNS server, or without."""
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
            raise ValueError(f"expected {EXPECTED}, or several separated by commas, not {address!r}")
    return addresses


def check_address(text: str) -> None:
    """Raise ValueError unless a text is one host:port."""
    if not is_address(text):
        raise ValueError(f"{text!r} is not an address: expected {EXPECTED}")


def is_address(text: str, min_port: int = 1) -> bool:
    """Return whether a text is one host:port with a port from `min_port` to 65535."""
    host, _, port = text.rpartition(":")
    return _is_host(host) and port.isascii() and port.isdigit() and min_port <= int(port) < 65_536


def _is_host(host: str) -> bool:
    if host.startswith("["):
        return host.endswith("]") and isinstance(ip_of(f"{host}:"), ipaddress.IPv6Address)
    return bool(host) and not {",", ":"} & {*_NAME_PREFIX.sub("", host, count=1)}


def host_and_port(address: str) -> tuple[str, int]:
    """Split host:port, IPv6 without its brackets; raises ValueError if the port is no number."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def with_port(host: str, port: int | str) -> str:
    """Return host:port, an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


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


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM):
            return True
    except OSError:
        return False


def listening_host(host: str, has_ipv6: Callable[[], bool] = _has_ipv6) -> str:
    """Return the IP address at which a server for a host listens, without brackets.

    It is the host itself, except for "::", all addresses of IPv6 and IPv4, on a machine without IPv6: there it is
    "0.0.0.0".
    """
    name = host.strip("[]")
    return "0.0.0.0" if name == "::" and not has_ipv6() else name  # noqa: S104 - the operator chose all addresses


def listen_fault(address: str) -> str:
    """Return the reason why no server can listen on host:port now, such as "is in use"; empty if one can.

    A port whose last connections are in TIME_WAIT counts as free.
    """
    try:
        host, port = host_and_port(address)
        name = listening_host(host)
        with socket.socket(socket.AF_INET6 if ":" in name else socket.AF_INET, socket.SOCK_STREAM) as listener:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((name, port))
        return ""
    except OSError as fault:
        return _LISTEN_FAULTS.get(fault.errno, f"cannot be listened on ({fault.strerror})")
    except (ValueError, OverflowError):
        return "has no port from 1 to 65535"
