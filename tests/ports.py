"""Reserved ports for programs with a port as option."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def reserved_port(host: str = "127.0.0.1") -> Iterator[int]:
    """Reserve a port that the system assigns to no other program until the end of the block.

    A program with this port as a setting can listen on it meanwhile, repeatedly: the reservation does not listen,
    and both allow the address to be reused.
    """
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind((host, 0))
        yield holder.getsockname()[1]
