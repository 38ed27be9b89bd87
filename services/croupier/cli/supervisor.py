"""The three services as child processes: started in order, started again when they die, drained in order."""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from croupier.cli.addresses import START_ORDER, Addresses, addresses_from, check_free, service_flags
from croupier.cli.data_folder import DataFolder, prepare_data_folder, sole_use
from croupier.cli.faults import CommandFault
from croupier.cli.service_process import ending, start_service, stop_process

START_SECONDS = 60.0
GRACE_SECONDS = 15.0
FAST_FAILURE_SECONDS = 10.0
MOST_FAST_FAILURES = 5
FIRST_BACKOFF_SECONDS = 0.1
LONGEST_BACKOFF_SECONDS = 5.0

Note = Callable[[str], None]
"""Hears, in one line each, what people who watch should know."""


def silent(_line: str) -> None:
    """Note nothing."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How services are run: the command that runs one, what fixes the shuffles (for demonstrations), who hears of it.

    Each service is given `grace_seconds` to drain at the end; 0 is for folders of which nothing is kept.
    """

    command: Sequence[str] = (sys.executable, "-m", "croupier.cli.child")
    shuffle_seed: str | None = None
    note: Note = silent
    grace_seconds: float = GRACE_SECONDS


class Services:
    """The services that run in a data folder: where they listen, their process ids, how often each was restarted."""

    def __init__(self, folder: DataFolder, wanted: dict[str, Addresses], manner: Manner) -> None:
        self.folder = folder
        self.addresses = wanted
        self.restarts = dict.fromkeys(START_ORDER, 0)
        self.fault: CommandFault | None = None
        self._manner = manner
        self._note = manner.note
        self._processes: dict[str, asyncio.subprocess.Process] = {}
        self._watches: list[asyncio.Task[None]] = []

    @property
    def pids(self) -> dict[str, int]:
        """The process id of each service that was started last."""
        return {service: process.pid for service, process in self._processes.items()}

    def kill(self, service: str, number: int = signal.SIGKILL) -> None:
        """Send a signal to a service; it is started again on the same addresses."""
        self._processes[service].send_signal(number)

    async def start(self) -> None:
        """Start every service; raises CommandFault if one does not become ready."""
        for service in START_ORDER:
            await self._start(service)
        self._tell()

    async def _start(self, service: str) -> None:
        flags = service_flags(service, self.folder, self.addresses, self._manner.shuffle_seed)
        command = (*self._manner.command, service, *flags)
        process, self.addresses[service] = await start_service(service, command, self.folder, START_SECONDS)
        self._processes[service] = process

    def _tell(self) -> None:
        services = {name: {"pid": self.pids[name], **self.addresses[name]} for name in START_ORDER}
        partial = self.folder.services_file.with_suffix(".partial")
        partial.write_text(json.dumps({"pid": os.getpid(), "services": services}, indent=1))
        partial.replace(self.folder.services_file)

    def watch(self, on_fault: Callable[[], object]) -> None:
        """Start again whatever dies from now on; `on_fault` is called when that is given up, with `fault` set."""
        self._watches = [asyncio.create_task(self._keep_running(service, on_fault)) for service in START_ORDER]

    async def _keep_running(self, service: str, on_fault: Callable[[], object]) -> None:
        fast_failures = 0
        ready_at = time.monotonic()
        while True:
            code = await self._processes[service].wait()
            fast_failures = fast_failures + 1 if time.monotonic() - ready_at < FAST_FAILURE_SECONDS else 1
            if fast_failures > MOST_FAST_FAILURES:
                why = f"the {service} {ending(code)} {fast_failures} times in a row within seconds of its start"
                self.fault = CommandFault(f"{why}: see {self.folder.log_file(service)}")
                on_fault()
                return
            self._note(f"the {service} {ending(code)}; it is started again")
            await asyncio.sleep(_backoff_seconds(fast_failures))
            await self._restart(service)
            ready_at = time.monotonic()

    async def _restart(self, service: str) -> None:
        self.restarts[service] += 1
        try:
            await self._start(service)
        except CommandFault as fault:
            # The process that is remembered has ended, so that this counts as one more fast failure.
            self._note(fault.message)
            return
        self._tell()
        self._note(f"the {service} listens on {self.addresses[service]['listen']} again")

    async def stop(self) -> None:
        """Drain the services in order: the lobby forms no more tables, the engine reports, scoring hears it."""
        self.folder.services_file.unlink(missing_ok=True)
        try:
            await self._end_watches()
            await self._end_processes(self._manner.grace_seconds)
        finally:
            # Whoever is impatient cancels the drain.
            await self._end_processes(grace_seconds=0)

    async def _end_watches(self) -> None:
        for watch in self._watches:
            watch.cancel()
        await asyncio.gather(*self._watches, return_exceptions=True)

    async def _end_processes(self, grace_seconds: float) -> None:
        for service in reversed(START_ORDER):
            if service in self._processes:
                await stop_process(self._processes[service], grace_seconds)


def _backoff_seconds(failures: int) -> float:
    return float(min(LONGEST_BACKOFF_SECONDS, FIRST_BACKOFF_SECONDS * 2 ** (failures - 1)))


@asynccontextmanager
async def running_services(folder: Path, *, first_port: int = 0, manner: Manner = Manner()) -> AsyncIterator[Services]:
    """Run the three services on loopback in a data folder for as long as the body takes.

    With `first_port` 0 each chooses a free port, and keeps it when it is started again. Raises CommandFault if they
    cannot be started, and in place of the body, which is then cancelled, if one keeps dying.
    """
    data = prepare_data_folder(folder)
    with sole_use(data):
        wanted = addresses_from(first_port)
        check_free(wanted)
        services = Services(data, wanted, manner)
        body = asyncio.current_task()
        assert body is not None  # noqa: S101 - an asynchronous context manager always runs in a task
        try:
            await services.start()
            services.watch(on_fault=body.cancel)
            yield services
        except asyncio.CancelledError:
            if services.fault is None:
                raise
            body.uncancel()
            raise services.fault from None
        finally:
            await services.stop()
