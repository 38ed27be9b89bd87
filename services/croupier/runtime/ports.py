"""Ports of this machine, looked at before somebody listens on them."""

import socket


def is_free(address: str) -> bool:
    """Whether one could listen at host:port now; not at what is no IP address and port of this machine.

    A port whose last connections are still being forgotten counts as free.
    """
    host, _, port = address.rpartition(":")
    try:
        with _bound(host, int(port)):
            return True
    except (OSError, ValueError, OverflowError):
        return False


def free_port(host: str = "127.0.0.1") -> int:
    """A port that nobody listens on at the moment; raises OSError for what is no address of this machine."""
    with _bound(host, 0) as probe:
        port: int = probe.getsockname()[1]
        return port


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
