"""The services for programs that are not asynchronous, such as load tests: `croupier up` as a process of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from croupier.cli.addresses import START_ORDER, Addresses
from croupier.cli.data_folder import DataFolder, prepare_data_folder
from croupier.cli.faults import CommandFault
from croupier.cli.service_process import last_lines
from croupier.cli.supervisor import GRACE_SECONDS, START_SECONDS

POLL_SECONDS = 0.05
STOP_SECONDS = GRACE_SECONDS * len(START_ORDER) + 5.0


@dataclass(frozen=True, slots=True)
class BackgroundServices:
    """Services that `croupier up` runs in another process."""

    folder: DataFolder
    process: subprocess.Popen[bytes]

    @property
    def addresses(self) -> dict[str, Addresses]:
        """Where each service listens, host:port by "listen", "metrics" and, for engine and scoring, "control"."""
        return {name: {kind: at for kind, at in known.items() if kind != "pid"} for name, known in self._known.items()}

    @property
    def pids(self) -> dict[str, int]:
        """The process id of each service that was ready last."""
        return {name: known["pid"] for name, known in self._known.items()}

    @property
    def _known(self) -> Mapping[str, Any]:
        services: Mapping[str, Any] = json.loads(self.folder.services_file.read_text())["services"]
        return services

    def kill(self, service: str, number: int = signal.SIGKILL) -> None:
        """Send a signal to a service; it is started again on the same addresses."""
        os.kill(self.pids[service], number)


@contextmanager
def started_services(
    path: Path, *, first_port: int = 0, shuffle_seed: str | None = None
) -> Iterator[BackgroundServices]:
    """Run the services in a data folder for as long as the body takes; raises CommandFault if they do not start."""
    folder = prepare_data_folder(path)
    command = [sys.executable, "-m", "croupier.cli", "up", f"--data-dir={folder.path}", f"--port={first_port}"]
    if shuffle_seed is not None:
        command.append(f"--shuffle-seed={shuffle_seed}")
    with folder.log_file("up").open("wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        _await_services(folder, process)
        yield BackgroundServices(folder, process)
    finally:
        _stop(process)


def _await_services(folder: DataFolder, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS * len(START_ORDER)
    while not _are_of(folder, process):
        if process.poll() is not None or time.monotonic() > deadline:
            raise CommandFault("\n".join(["the services did not start:", *last_lines(folder.log_file("up"))]))
        time.sleep(POLL_SECONDS)


def _are_of(folder: DataFolder, process: subprocess.Popen[bytes]) -> bool:
    try:
        return bool(json.loads(folder.services_file.read_text())["pid"] == process.pid)
    except OSError:
        return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
