"""Locks between processes, which the operating system releases at the end of their process."""

import fcntl
from pathlib import Path
from typing import BinaryIO

from croupier.runtime.identity.permissions import open_private


def lock_file(path: Path) -> BinaryIO:
    """Return a file, made if it is missing, that is locked until it is closed.

    Raises BlockingIOError if another process has the lock, and any other OSError if there can be no such file.
    """
    file = open_private(path, flags=0)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise
    return file
