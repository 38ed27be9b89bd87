"""Ports for programs that are told where to listen."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def reserved_port(host: str = "127.0.0.1") -> Iterator[int]:
    """A port that the system assigns to nobody else for as long as the block takes.

    A program that is told the port can listen on it meanwhile, again and again: the reservation itself does not listen,
    and both allow the address to be reused.
    """
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind((host, 0))
        yield holder.getsockname()[1]
