"""The services for programs without asyncio, such as load tests: `croupier up` as a process of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from croupier.cli.faults import CommandFault
from croupier.cli.launcher.addresses import Addresses
from croupier.cli.launcher.data_folder import DataFolder, prepare_data_folder
from croupier.cli.launcher.environment import DATABASE_VARIABLE
from croupier.cli.launcher.replicas import ONE_OF_EACH, START_ORDER, Replicas
from croupier.cli.launcher.service_process import last_lines
from croupier.cli.launcher.supervisor import GRACE_SECONDS, START_SECONDS
from croupier.runtime.identity.permissions import open_private

POLL_SECONDS = 0.05
STOP_SECONDS = GRACE_SECONDS * len(START_ORDER) + 5.0


@dataclass(frozen=True, slots=True)
class BackgroundServices:
    """Services that `croupier up` runs in another process."""

    folder: DataFolder
    process: subprocess.Popen[bytes]

    @property
    def addresses(self) -> dict[str, Addresses]:
        """The addresses of each instance, host:port by kind; see `Addresses`."""
        return {name: {kind: at for kind, at in known.items() if kind != "pid"} for name, known in self._known.items()}

    @property
    def pids(self) -> dict[str, int]:
        """The process id of each instance that became ready last."""
        return {name: known["pid"] for name, known in self._known.items()}

    @property
    def _known(self) -> Mapping[str, Any]:
        services: Mapping[str, Any] = json.loads(self.folder.services_file.read_text())["services"]
        return services

    def kill(self, instance: str, number: int = signal.SIGKILL) -> None:
        """Send a signal to an instance, which is then restarted on the same addresses."""
        os.kill(self.pids[instance], number)


@contextmanager
def started_services(
    path: Path,
    *,
    port: int = 0,
    database: str | None = None,
    replicas: Replicas = ONE_OF_EACH,
    extra_flags: Mapping[str, Sequence[str]] = MappingProxyType({}),
    mutual_tls: bool = False,
    gateway: Sequence[str] | None = None,
    is_paced: bool = False,
) -> Iterator[BackgroundServices]:
    """Run the services in a data folder while the body runs; raises CommandFault if they do not start.

    `gateway` are flags of `croupier up`; the other settings are those of `SupervisorSettings`.
    """
    folder = prepare_data_folder(path)
    command = [sys.executable, "-m", "croupier.cli", "up", f"--data-dir={folder.path}", f"--port={port}"]
    command += ["--no-gateway"] if gateway is None else gateway
    command += [f"--engines={replicas.engine}", f"--lobbies={replicas.lobby}", f"--scorings={replicas.scoring}"]
    command += [f"--extra-flag={instance}={flag}" for instance, flags in extra_flags.items() for flag in flags]
    if mutual_tls:
        command.append("--mutual-tls")
    if not is_paced:
        command.append("--unpaced")
    environment = {**os.environ, DATABASE_VARIABLE: database or ""}
    with open_private(folder.log_file("up"), os.O_TRUNC | os.O_APPEND) as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)
    try:
        _await_services(folder, process)
        yield BackgroundServices(folder, process)
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _await_services(folder: DataFolder, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS * len(START_ORDER)
    while True:
        with suppress(OSError):
            if json.loads(folder.services_file.read_text())["pid"] == process.pid:
                return
        if process.poll() is not None or time.monotonic() > deadline:
            raise CommandFault("the services did not start:", details=last_lines(folder.log_file("up")))
        time.sleep(POLL_SECONDS)
