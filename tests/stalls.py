"""Runs a command while its processes stand still now and then, as on a machine that does much besides.

`python -m tests.stalls .venv/bin/pytest tests/client`: a test that fails so has a limit of time that is too narrow, and
fails by chance elsewhere. Only on Linux.
"""

import os
import secrets
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random

SHORTEST_SECONDS, LONGEST_SECONDS = 0.1, 1.0
"""How long a process stands still, and how long nobody does in between."""


def running(root: int) -> list[int]:
    """A process and all below it, but for those that somebody has stopped already."""
    children: defaultdict[int, list[tuple[int, bool]]] = defaultdict(list)
    for pid, parent, runs in _processes():
        children[parent].append((pid, runs))
    found = [(root, True)]
    for pid, _ in found:
        found += children[pid]
    return [pid for pid, runs in found if runs]


def _processes() -> Iterator[tuple[int, int, bool]]:
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
            yield int(stat.parent.name), int(parent), state not in "TZ"


def stall(pid: int, seconds: float) -> None:
    """Let a process stand still for so long."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)
        try:
            time.sleep(seconds)
        finally:
            os.kill(pid, signal.SIGCONT)


def main(command: Sequence[str]) -> int:
    """Run a command to its end; gives its exit code."""
    seed = os.environ.get("CROUPIER_TEST_SEED") or str(secrets.randbelow(1_000_000))
    print(f"much the same again: CROUPIER_TEST_SEED={seed} python -m tests.stalls {' '.join(command)}", flush=True)
    random = Random(seed)
    with subprocess.Popen(command) as process:
        while process.poll() is None:
            time.sleep(random.uniform(SHORTEST_SECONDS, LONGEST_SECONDS))
            stall(random.choice(running(process.pid)), random.uniform(SHORTEST_SECONDS, LONGEST_SECONDS))
    return process.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
