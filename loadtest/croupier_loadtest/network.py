"""Breaks connections as the loss of a network does."""

import os
import socket
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path


def break_connections(ports: Collection[int]) -> int:
    """Shut down every connection of this process to these ports; returns their number.

    Closing a channel would not do: a client that closes its own channel gets no error.
    """
    broken = 0
    for descriptor in [int(path.name) for path in Path("/dev/fd").iterdir() if path.is_socket()]:
        # A duplicate descriptor, since the other one is gRPC's to close.
        with socket.socket(fileno=os.dup(descriptor)) as connection, suppress(OSError):
            if connection.family in (socket.AF_INET, socket.AF_INET6) and connection.getpeername()[1] in ports:
                connection.shutdown(socket.SHUT_RDWR)
                broken += 1
    return broken
