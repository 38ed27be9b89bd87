"""Processes of the system, by their ids."""

import subprocess
import time
from pathlib import Path

import psutil

from tests.waiting import TIMEOUT_SECONDS

POLL_SECONDS = 0.02


def is_alive(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def children(pid: int) -> list[int]:
    """Return the ids of the child processes of a process."""
    return [child.pid for child in psutil.Process(pid).children()]


def mapped_files(pid: int) -> list[str]:
    """Return the files that a process has mapped, none where the system does not report them."""
    process = psutil.Process(pid)
    return [mapped.path for mapped in process.memory_maps()] if hasattr(process, "memory_maps") else []


def wait_for_file(file: Path, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until a process has written a file; raises AssertionError with its log if it ends before, or is late."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not file.exists():
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < deadline, log.read_text()
        time.sleep(POLL_SECONDS)
