"""`python -m benchmarks.footprint`: the CPU and memory of PostgreSQL, of a Locust master and worker, and of Jobs.

The memory of several processes is their proportional share (PSS in /proc), because PostgreSQL's processes share memory.
"""

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import psutil

from croupier_client import Endpoints
from croupier_loadtest.backend import started_backend
from croupier_loadtest.postgres import PostgresServer, postgres_server
from croupier_loadtest.scenarios import SCENARIOS

EVENING = SCENARIOS["evening"]
SETTINGS = {"shared_buffers": "128MB", "max_connections": "400"}
"""The settings of k8s/overlays/production; all others, and the first, are PostgreSQL's defaults."""
MODULE = (sys.executable, "-m")
LOCUST = (*MODULE, "croupier.cli", "load")
START_SECONDS = 10.0
SAMPLE_SECONDS = 2.0
MEBIBYTE = 2**20


@dataclass(slots=True)
class ProcessGroup:
    """A process with its descendants; the CPU of ended ones stays counted."""

    name: str
    pid: int
    samples: list[tuple[float, float]] = field(default_factory=list)
    """The time of each sample, and the CPU seconds until then."""
    peak: tuple[int, int] = (0, 0)
    """The maximum of memory in bytes, and the number of processes then."""
    _cpu: dict[int, float] = field(default_factory=dict)

    def sample(self) -> None:
        """Take a sample."""
        memory = found = 0
        with suppress(psutil.NoSuchProcess):
            own = psutil.Process(self.pid)
            for process in [own, *own.children(recursive=True)]:
                with suppress(psutil.NoSuchProcess):
                    memory += process.memory_full_info().pss
                    self._cpu[process.pid] = sum(process.cpu_times()[:2])
                    found += 1
        self.peak = max(self.peak, (memory, found))
        self.samples.append((time.monotonic(), sum(self._cpu.values())))

    def summary(self, per_second: float) -> str:
        """Return a line on all samples, during which this many entries a second were written."""
        (began, used_before), (ended, used) = self.samples[0], self.samples[-1]
        cores, (memory, processes) = (used - used_before) / (ended - began), self.peak
        return (
            f"{self.name:12}{memory / MEBIBYTE:4.0f} MiB at most, of {processes} processes; "
            f"{cores:.3f} cores, {1000 * cores / per_second:.2f} ms for an entry"
        )


def measure_command(name: str, command: Sequence[str]) -> str:
    """Run a command to its end, and return a line on its CPU and memory."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = used.ru_utime + used.ru_stime
    return f"{name:12}{used.ru_maxrss / 1024:4.0f} MiB at most; {seconds:.2f} s of CPU, exit code {process.returncode}"


def _free_port() -> int:
    """Return a free port that the system assigns to no other program for a minute: it is in TIME_WAIT."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        with socket.create_connection(listener.getsockname()) as caller:
            listener.accept()[0].close()
            caller.recv(1)
        return int(listener.getsockname()[1])


def measure_load(server: PostgresServer, url: str, options: argparse.Namespace, folder: str) -> list[str]:
    """Run a load test with a master and one worker, and return a line for each process at full load."""
    port = _free_port()
    master_of = ["--master", "--master-bind-host=127.0.0.1", f"--master-bind-port={port}", "--headless"]
    load_flags = [f"--tables={options.tables}", f"--think={options.think}", f"--seed={options.seed}", "--run-time=600"]
    load_flags += ["--tags=evening", f"--results={folder}/results"]
    users = sum(EVENING.users(options.tables).values())
    with (
        started_backend(url) as services,
        running([*LOCUST, *master_of, *load_flags, _host(services.endpoints)]) as master,
        running([*LOCUST, "--worker", "--master-host=127.0.0.1", f"--master-port={port}"]) as worker,
        running([*MODULE, "http.server", "--bind=127.0.0.1", f"--directory={folder}", str(_free_port())]) as reports,
    ):
        pids = {"PostgreSQL": server.pid, "master": master.pid, "worker": worker.pid, "reports": reports.pid}
        groups = [ProcessGroup(name, pid) for name, pid in pids.items()]
        time.sleep(START_SECONDS + users / EVENING.arrivals_per_second)
        began, entries = time.monotonic(), _entries(server)
        while time.monotonic() < began + options.seconds:
            for group in groups:
                group.sample()
            time.sleep(SAMPLE_SECONDS)
        rate = (_entries(server) - entries) / (time.monotonic() - began)
    return [f"written     {rate:.0f} entries a second", *(one.summary(rate) for one in groups)]


@contextmanager
def running(command: Sequence[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program until the end of the block."""
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
    """Print the footprint of each process."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.footprint", description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=90)
    parser.add_argument("--think", type=float, default=1.5, metavar="SECONDS", help="median think time")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with postgres_server(SETTINGS) as server, tempfile.TemporaryDirectory(prefix="croupier-footprint-") as folder:
        url = server.create_database("croupier")
        public = f"{folder}/lobby.public.pem"
        for name, command in {
            "migrate": ["migrate", "--database", url],
            "schema": ["migrate", "--service", "engine", "--wait", "60", "--database", url],
            "keys": ["keys", folder],
            "gateway": ["gateway", "config", "--lobby-public-key", public, "--output", folder, "--check"],
        }.items():
            print(measure_command(name, [*MODULE, "croupier.cli", *command]))
        print(*measure_load(server, url, options, folder), sep="\n")
        size = server.run_sql("croupier", "SELECT pg_size_pretty(pg_database_size(current_database()))")
        print(f"database    {size}")


if __name__ == "__main__":
    main()
