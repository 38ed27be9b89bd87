"""Locks between processes, which the operating system releases at the end of their process."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from croupier.runtime.identity.permissions import open_private


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Hold the lock of a file, which is made if it is missing, for the block.

    Raises BlockingIOError if another process has it, and any other OSError if there can be no such file.
    """
    with open_private(path, flags=0) as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
