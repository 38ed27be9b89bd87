"""Children end when their parent is killed: programs of croupier, other programs, and those of multiprocessing."""

import asyncio
import subprocess
import sys

import pytest

from croupier.runtime.server.child_process import ending_with_parent
from tests.processes import is_alive
from tests.waiting import TIMEOUT_SECONDS, until

PROGRAM = """
import time
from croupier.runtime.server.child_process import end_with_parent
end_with_parent()
print("ready", flush=True)
time.sleep(3600)
"""
STUBBORN = """
import signal
from croupier.runtime.server import child_process
child_process.GRACE_SECONDS = 0.1
signal.signal(signal.SIGTERM, signal.SIG_IGN)
"""
STARTS = """
import subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)
print(child.pid, flush=True)
child.wait()
"""
STARTS_ANOTHER = """
import subprocess, sys
from croupier.runtime.server.child_process import ending_with_parent
child = subprocess.Popen(ending_with_parent(sys.argv[1:]), stdin=subprocess.PIPE)
print(child.pid, flush=True)
child.wait()
"""
STARTS_POOL = """
import os, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from croupier.runtime.server.child_process import end_with_parent
pool = ProcessPoolExecutor(1, get_context("spawn"), end_with_parent)
print(pool.submit(os.getpid).result(), flush=True)
print("ready", flush=True)
pool.submit(time.sleep, 3600).result()
"""
OTHER = ("sh", "-c", "echo ready; exec sleep 3600")


@pytest.mark.parametrize(
    ("parent", "child"),
    [
        pytest.param(STARTS, (sys.executable, "-c", PROGRAM), id="a program of croupier"),
        pytest.param(STARTS, (sys.executable, "-c", STUBBORN + PROGRAM), id="one that ignores SIGTERM"),
        pytest.param(STARTS_ANOTHER, OTHER, id="another program"),
        pytest.param(STARTS_POOL, (), id="a process of multiprocessing"),
    ],
)
def test_a_child_ends_when_its_parent_is_killed(parent: str, child: tuple[str, ...]) -> None:
    with subprocess.Popen([sys.executable, "-c", parent, *child], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            # Both processes write to the pipe, in any order.
            number, ready = sorted(process.stdout.readline() for _ in range(2))
            assert ready == "ready\n"
            pid = int(number)
            assert is_alive(pid)
        finally:
            process.kill()
    asyncio.run(until(lambda: not is_alive(pid)))


def test_another_program_keeps_its_exit_code_and_reads_nothing() -> None:
    with subprocess.Popen(ending_with_parent(["sh", "-c", "cat; exit 7"]), stdin=subprocess.PIPE) as process:
        assert process.wait(TIMEOUT_SECONDS) == 7
