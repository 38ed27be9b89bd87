"""Breaks connections as a lost network does."""

import os
import socket
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path


def break_connections(ports: Collection[int]) -> int:
    """Shut every connection of this process to these ports; gives how many those were.

    Closing channels would be something else: whoever closes his own channel is not told that it broke.
    """
    sockets = [int(path.name) for path in Path("/dev/fd").iterdir() if path.is_socket()]
    return sum(_is_broken(descriptor, ports) for descriptor in sockets)


def _is_broken(descriptor: int, ports: Collection[int]) -> bool:
    # A descriptor of our own for the same connection, since the other one is gRPC's to close.
    with socket.socket(fileno=os.dup(descriptor)) as connection, suppress(OSError):
        if connection.family in (socket.AF_INET, socket.AF_INET6) and connection.getpeername()[1] in ports:
            connection.shutdown(socket.SHUT_RDWR)
            return True
    return False
