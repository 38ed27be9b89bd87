"""What becomes of a database and of folders with keys when the rehearsal is killed and cannot end them itself."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_WATCHES = """
import os, shutil, signal, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
if not sys.stdin.read():
    try:
        os.kill(int(sys.argv[1]), signal.SIGQUIT)
        time.sleep(2)
    finally:
        for folder in sys.argv[2:]:
            shutil.rmtree(folder, ignore_errors=True)
"""
"""Told to go it goes; if instead its input ends without a word, whoever started it was killed.

A database lets go of everything at once by SIGQUIT. It cannot be leashed as others are: it runs as another user.
"""


@contextmanager
def cleared_away(database: int, *folders: Path) -> Iterator[None]:
    """Have the database (a process id) ended and the folders removed if this process is killed within the body."""
    command = [sys.executable, "-I", "-S", "-c", _WATCHES, str(database), *map(str, folders)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True) as watcher:
        try:
            yield
        finally:
            watcher.communicate(b"go")
