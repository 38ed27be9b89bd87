"""Addresses, host:port: read from settings, and of this machine looked at before somebody listens there."""

import ipaddress
import socket


def addresses_of(text: str) -> tuple[str, ...]:
    """The addresses of host:port, or of several with commas between; raises ValueError for what is no address."""
    addresses = tuple(part.strip() for part in text.split(","))
    for address in addresses:
        if not is_address(address):
            raise ValueError(f"expected host:port, several with commas between, and {address!r} is none")
    return addresses


def check_address(text: str) -> None:
    """Raises ValueError for what is not one address, host:port."""
    if not is_address(text):
        raise ValueError(f"{text!r} is not an address: one host:port is expected")


def is_address(text: str) -> bool:
    """Whether a text is one host:port with a port from 1 to 65535."""
    host, _, port = text.rpartition(":")
    return bool(host) and "," not in host and port.isascii() and port.isdigit() and 0 < int(port) < 65_536


def host_and_port(address: str) -> tuple[str, int]:
    """The parts of host:port, IPv6 without its brackets; raises ValueError for a port that is no number."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def ip_of(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The IP address of host:port, None if the host is a name."""
    try:
        return ipaddress.ip_address(address.rpartition(":")[0].strip("[]"))
    except ValueError:
        return None


def is_loopback(address: str) -> bool:
    """Whether host:port is on this machine only."""
    ip = ip_of(address)
    return address.rpartition(":")[0] == "localhost" if ip is None else ip.is_loopback


def is_free(address: str) -> bool:
    """Whether one could listen at host:port now; not at what is no IP address and port of this machine.

    A port whose last connections are still being forgotten counts as free.
    """
    try:
        with _bound(*host_and_port(address)):
            return True
    except (OSError, ValueError, OverflowError):
        return False


def free_port(host: str = "127.0.0.1") -> int:
    """A port to listen on soon, given to nobody else meanwhile; raises OSError for what is no address of this machine.

    The system remembers a connection for a minute where it was ended first, and gives such a port to who names it only.
    """
    with _bound(host, 0) as listener:
        listener.listen(1)
        here, port = listener.getsockname()[:2]
        with socket.create_connection((here, port)) as caller:
            listener.accept()[0].close()
            caller.recv(1)
        return int(port)


def _bound(host: str, port: int) -> socket.socket:
    name = host.strip("[]")
    probe = socket.socket(socket.AF_INET6 if ":" in name else socket.AF_INET, socket.SOCK_STREAM)
    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        probe.bind((name, port))
    except BaseException:
        probe.close()
        raise
    return probe
