"""Logs of bounded size: a full log is copied to NAME.log.1 and emptied while its process writes.

A rename would not do: the processes keep their open file. They append, so the next line is the first one again. Lines
that are written between copy and truncation are lost.
"""

import asyncio
import os
from contextlib import suppress
from pathlib import Path

from croupier.runtime.identity.permissions import open_private

MAX_LOG_BYTES = 16 * 1024 * 1024
CHECK_SECONDS = 1.0


async def keep_rotated(folder: Path) -> None:
    """Rotate the logs of a folder for ever: each takes twice MAX_LOG_BYTES and what is written in CHECK_SECONDS."""
    while True:
        await asyncio.to_thread(_rotate_all, folder)
        await asyncio.sleep(CHECK_SECONDS)


def _rotate_all(folder: Path) -> None:
    for log_file in folder.glob("*.log"):
        # It may be on a disk that fails.
        with suppress(OSError):
            rotate(log_file)


def rotate(log_file: Path) -> None:
    """Keep the end of a log that is full as NAME.log.1, and empty it; raises OSError if that fails."""
    size = log_file.stat().st_size if log_file.exists() else 0
    if size <= MAX_LOG_BYTES:
        return
    # On a full disk the log is emptied all the same.
    with suppress(OSError), log_file.open("rb") as old, open_private(log_file.with_name(f"{log_file.name}.1")) as kept:
        old.seek(size - MAX_LOG_BYTES)
        kept.write(old.read(MAX_LOG_BYTES))
    os.truncate(log_file, 0)
