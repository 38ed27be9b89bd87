"""`python -m benchmarks.footprint`: what PostgreSQL, a Locust master, its worker and what runs before them take.

The memory of several processes is their proportional share (PSS in /proc), since those of PostgreSQL share most of it.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from croupier.runtime.addresses import free_port
from croupier_client import Endpoints
from loadtest.backend import own_backend
from loadtest.postgres import PostgresServer, postgres_server
from loadtest.scenarios import SCENARIOS

EVENING = SCENARIOS["evening"]
SETTINGS = {"shared_buffers": "128MB", "max_connections": "400"}
"""What k8s/overlays/production asks for; the first is PostgreSQL's own default, as are fsync and the rest."""
LOCUST = (sys.executable, "-m", "locust", "-f", "loadtest/locustfile.py")
START_SECONDS = 10.0
SAMPLE_SECONDS = 2.0
TICKS = os.sysconf("SC_CLK_TCK")
MEBIBYTE = 2**20


@dataclass(frozen=True, slots=True)
class Reading:
    """Processor seconds and memory of a group of processes at a moment."""

    at: float
    cpu_seconds: float
    memory_bytes: int
    processes: int


@dataclass(slots=True)
class Group:
    """A process with all that it started; what one has used that is gone stays counted."""

    name: str
    pid: int
    readings: list[Reading] = field(default_factory=list)
    _cpu: dict[int, float] = field(default_factory=dict)

    def look(self, children: Mapping[int, Sequence[int]]) -> None:
        """Read once more."""
        memory = found = 0
        for pid in _below(self.pid, children):
            with suppress(OSError, IndexError):
                memory += _shared_out_bytes(pid)
                self._cpu[pid] = _cpu_seconds(pid)
                found += 1
        if found:
            self.readings.append(Reading(time.time(), sum(self._cpu.values()), memory, found))

    def told(self, per_second: float) -> str:
        """A line on all the time that was looked at, in which so many entries a second were written."""
        first, last = self.readings[0], self.readings[-1]
        cores = (last.cpu_seconds - first.cpu_seconds) / (last.at - first.at)
        most = max(self.readings, key=lambda one: one.memory_bytes)
        return (
            f"{self.name:12}{most.memory_bytes / MEBIBYTE:4.0f} MiB at most, of {most.processes} processes; "
            f"{cores:.3f} cores, {1000 * cores / per_second:.2f} ms for an entry"
        )


def _below(pid: int, children: Mapping[int, Sequence[int]]) -> Iterator[int]:
    yield pid
    for child in children.get(pid, ()):
        yield from _below(child, children)


def _children() -> Mapping[int, Sequence[int]]:
    found: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with suppress(OSError, IndexError):
                found.setdefault(int(_fields(int(folder.name))[1]), []).append(int(folder.name))
    return found


def _fields(pid: int) -> list[str]:
    """Those of /proc/PID/stat behind the program's name."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _cpu_seconds(pid: int) -> float:
    fields = _fields(pid)
    return (int(fields[11]) + int(fields[12])) / TICKS


def _shared_out_bytes(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def _module(*arguments: str) -> list[str]:
    return [sys.executable, "-m", *arguments]


def told_of_one(name: str, command: Sequence[str]) -> str:
    """Run a command to its end; gives a line on what it took."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = used.ru_utime + used.ru_stime
    return f"{name:12}{used.ru_maxrss / 1024:4.0f} MiB at most; {seconds:.2f} s of CPU, exit code {process.returncode}"


def told_of_load(server: PostgresServer, url: str, options: argparse.Namespace, folder: str) -> list[str]:
    """Play, with a master and one worker; gives a line for each that was looked at once everybody had come."""
    port = free_port()
    master_of = ["--master", "--master-bind-host=127.0.0.1", f"--master-bind-port={port}", "--headless"]
    asked = [f"--tables={options.tables}", f"--think={options.think}", f"--seed={options.seed}", "--run-time=600"]
    users = sum(EVENING.people(options.tables).values())
    with (
        own_backend(url) as services,
        _until_done(
            [*LOCUST, *master_of, *asked, f"--results={folder}/results", _host(services.endpoints), "--tags=evening"]
        ) as master,
        _until_done([*LOCUST, "--worker", "--master-host=127.0.0.1", f"--master-port={port}"]) as worker,
        _until_done(_module("http.server", "--bind=127.0.0.1", f"--directory={folder}", str(free_port()))) as reports,
    ):
        groups = [
            Group("PostgreSQL", server.pid),
            Group("master", master.pid),
            Group("worker", worker.pid),
            Group("reports", reports.pid),
        ]
        time.sleep(START_SECONDS + users / EVENING.arrivals_per_second)
        began, entries = time.time(), _entries(server)
        while time.time() < began + options.seconds:
            children = _children()
            for group in groups:
                group.look(children)
            time.sleep(SAMPLE_SECONDS)
        rate = (_entries(server) - entries) / (time.time() - began)
    return [f"written     {rate:.0f} entries a second", *(one.told(rate) for one in groups)]


@contextmanager
def _until_done(command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A program, for as long as the body takes."""
    with subprocess.Popen(command, stdout=sys.stderr) as process:
        try:
            yield process
        finally:
            process.kill()


def _host(endpoints: Endpoints) -> str:
    return f"--host=lobby={endpoints.lobby},engine={endpoints.engine},scoring={endpoints.scoring}"


def _entries(server: PostgresServer) -> int:
    return int(server.run_sql("croupier", "SELECT count(*) FROM entries"))


def main() -> None:
    """Print what each takes."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.footprint", description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=90)
    parser.add_argument("--think", type=float, default=1.5, metavar="SECONDS", help="the median of thinking time")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with postgres_server(SETTINGS) as server, tempfile.TemporaryDirectory(prefix="croupier-footprint-") as folder:
        url = server.create_database("croupier")
        for name, command in _before(url, folder).items():
            print(told_of_one(name, _module("croupier.cli", *command)))
        for line in told_of_load(server, url, options, folder):
            print(line)
        size = server.run_sql("croupier", "SELECT pg_size_pretty(pg_database_size(current_database()))")
        print(f"database    {size}")


def _before(url: str, folder: str) -> Mapping[str, Sequence[str]]:
    """What runs before services and door do."""
    public = f"{folder}/lobby.public.pem"
    return {
        "migrate": ["migrate", "--database", url],
        "schema": ["migrate", "--service", "engine", "--wait", "60", "--database", url],
        "keys": ["keys", folder],
        "door": ["door", "config", "--lobby-public-key", public, "--output", folder, "--check"],
    }


if __name__ == "__main__":
    main()
