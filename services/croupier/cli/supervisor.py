"""The services, and a front door, as child processes: started in order, again when they die, drained in order."""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from croupier.cli.addresses import Addresses, addresses_from, check_free, service_flags
from croupier.cli.data_folder import DataFolder, prepare_data_folder, sole_use
from croupier.cli.faults import CommandFault, misused
from croupier.cli.replicas import DOOR, ONE_OF_EACH, START_ORDER, Replicas, service_of
from croupier.cli.service_process import ending, start_service, stop_process

START_SECONDS = 60.0
GRACE_SECONDS = 15.0
FAST_FAILURE_SECONDS = 10.0
MOST_FAST_FAILURES = 12
"""Tried for more than half a minute: so long a database may be away."""
FIRST_BACKOFF_SECONDS = 0.1
LONGEST_BACKOFF_SECONDS = 5.0
DATABASE_VARIABLE = "CROUPIER_DATABASE"

Note = Callable[[str], None]
"""Hears, in one line each, what people who watch should know."""


def silent(_line: str) -> None:
    """Note nothing."""


@dataclass(frozen=True, slots=True)
class Manner:
    """How services are run: the command that runs one, what fixes the shuffles (for demonstrations), who hears of it.

    Each service is given `grace_seconds` to drain at the end; 0 is for folders of which nothing is kept. `database` is
    the URL of one that is up to date and that all share; None gives each its own in the folder, which is brought up to
    date first. With `mutual_tls` they prove themselves to each other, and callers must do so too, by certificates that
    are made in the folder. `door` gives the flags of a front door, besides those that say where everything is; None is
    for no door. `extra_flags` are for tests, by instance.
    """

    command: Sequence[str] = (sys.executable, "-m", "croupier.cli.child")
    shuffle_seed: str | None = None
    note: Note = silent
    grace_seconds: float = GRACE_SECONDS
    database: str | None = field(default=None, repr=False)
    replicas: Replicas = ONE_OF_EACH
    extra_flags: Mapping[str, Sequence[str]] = field(default_factory=dict)
    migrates: bool = True
    mutual_tls: bool = False
    door: Callable[[DataFolder], Sequence[str]] | None = None


class Services:
    """The services of a data folder by instance: where they listen, their process ids, how often each was restarted."""

    def __init__(self, folder: DataFolder, wanted: dict[str, Addresses], manner: Manner) -> None:
        self.folder = folder
        self.addresses = wanted
        self.restarts = dict.fromkeys(wanted, 0)
        self.fault: CommandFault | None = None
        self._manner = manner
        self._note = manner.note
        self._processes: dict[str, asyncio.subprocess.Process] = {}
        self._watches: list[asyncio.Task[None]] = []
        self._is_told = asyncio.Event()

    @property
    def pids(self) -> dict[str, int]:
        """The process id of each instance that was started last."""
        return {instance: process.pid for instance, process in self._processes.items()}

    @property
    def are_running(self) -> bool:
        """Whether no instance has ended and is still to be started again."""
        return all(process.returncode is None for process in self._processes.values())

    def kill(self, instance: str, number: int = signal.SIGKILL) -> None:
        """Send a signal to an instance; it is started again on the same addresses."""
        self._processes[instance].send_signal(number)

    async def restart(self, instance: str) -> None:
        """Let an instance drain and end, and wait until it was started again on the same addresses: a deploy of one.

        Raises CommandFault if that takes too long.
        """
        before = self._processes[instance]
        await stop_process(before, GRACE_SECONDS)
        try:
            async with asyncio.timeout(START_SECONDS):
                while self._processes[instance] is before:
                    await self._is_told.wait()
        except TimeoutError:
            raise CommandFault(f"the {instance} was not back within {START_SECONDS:g} seconds") from None

    async def start(self) -> None:
        """Start every instance; raises CommandFault if one does not become ready."""
        for service in START_ORDER:
            await _together(self._start(instance) for instance in self._manner.replicas.of(service))
        if DOOR in self.addresses:
            await self._start(DOOR)
        self._tell()

    async def _start(self, instance: str) -> None:
        manner = self._manner
        flags = service_flags(instance, self.folder, self.addresses, manner.shuffle_seed, manner.mutual_tls)
        service = service_of(instance)
        if service == DOOR and manner.door is not None:
            flags += manner.door(self.folder)
        command = (*manner.command, service, *flags, *manner.extra_flags.get(instance, ()))
        environment = {**os.environ, DATABASE_VARIABLE: self._manner.database or self.folder.database_url(service)}
        self._processes[instance], self.addresses[instance] = await start_service(
            instance, command, environment, self.folder, START_SECONDS
        )

    def _tell(self) -> None:
        services = {name: {"pid": self.pids[name], **addresses} for name, addresses in self.addresses.items()}
        partial = self.folder.services_file.with_suffix(".partial")
        told = {"pid": os.getpid(), "mutual_tls": self._manner.mutual_tls, "services": services}
        partial.write_text(json.dumps(told, indent=1))
        partial.replace(self.folder.services_file)
        self._is_told.set()
        self._is_told = asyncio.Event()

    def watch(self, on_fault: Callable[[], object]) -> None:
        """Start again whatever ends from now on; `on_fault` is called when that is given up, with `fault` set."""
        self._watches = [asyncio.create_task(self._keep_running(instance, on_fault)) for instance in self.addresses]

    async def _keep_running(self, instance: str, on_fault: Callable[[], object]) -> None:
        failures = 0
        while failures <= MOST_FAST_FAILURES:
            ready_at = time.monotonic()
            code = await self._processes[instance].wait()
            has_lasted = time.monotonic() - ready_at >= FAST_FAILURE_SECONDS
            # One that ended as it was told to is at once to be there again: that is a deploy.
            failures = 0 if code == 0 else 1 if has_lasted else failures + 1
            self._note(f"the {instance} {ending(code)}; it is started again")
            failures = await self._start_again(instance, failures)
        why = f"the {instance} ended {failures} times in a row within seconds of its start"
        self.fault = CommandFault(f"{why}: see {self.folder.log_file(instance)}")
        on_fault()

    async def _start_again(self, instance: str, failures: int) -> int:
        """Start an instance until it is ready or has failed too often in a row; gives how often it did."""
        while failures <= MOST_FAST_FAILURES:
            await asyncio.sleep(backoff_seconds(failures))
            try:
                await self._start(instance)
            except CommandFault as fault:
                failures += 1
                self._note(fault.message)
                continue
            self.restarts[instance] += 1
            self._tell()
            self._note(f"the {instance} listens on {self.addresses[instance]['listen']} again")
            break
        return failures

    async def stop(self) -> None:
        """Drain the services in order: the lobby forms no more tables, the engine reports, scoring hears it."""
        self.folder.services_file.unlink(missing_ok=True)
        try:
            await self._end_watches()
            await self._end_processes(self._manner.grace_seconds)
        except asyncio.CancelledError:
            # Whoever is impatient cancels the drain.
            await self._end_processes(grace_seconds=0)

    async def _end_watches(self) -> None:
        for watch in self._watches:
            watch.cancel()
        await asyncio.gather(*self._watches, return_exceptions=True)

    async def _end_processes(self, grace_seconds: float) -> None:
        door = self._processes.get(DOOR)
        if door is not None and door.returncode is None and grace_seconds > 0:
            # It lets nobody in any more, and ends once the services have said their last word through it.
            door.terminate()
        for service in reversed(START_ORDER):
            ending = [process for name, process in self._processes.items() if service_of(name) == service]
            await _together(stop_process(process, grace_seconds) for process in ending)
        if door is not None:
            await stop_process(door, grace_seconds)


async def _together(work: Iterable[Coroutine[None, None, None]]) -> None:
    """Do all of it at once; where one fails the others are cancelled, and its error is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            for each in work:
                group.create_task(each)
    except BaseExceptionGroup as faults:
        raise faults.exceptions[0] from None


def backoff_seconds(failures: int) -> float:
    """How long to wait before the next start, after so many failures in a row."""
    if failures == 0:
        return 0.0
    return float(min(LONGEST_BACKOFF_SECONDS, FIRST_BACKOFF_SECONDS * 2 ** (failures - 1)))


@asynccontextmanager
async def running_services(folder: Path, *, first_port: int = 0, manner: Manner = Manner()) -> AsyncIterator[Services]:
    """Run the three services, and a door if the manner has one, on loopback in a folder for as long as the body takes.

    With `first_port` 0 each instance chooses free ports, and keeps them when it is started again. Raises CommandFault
    if they cannot be started, and in place of the body, which is then cancelled, if one keeps dying.
    """
    _check_many_can_write(manner)
    wanted = addresses_from(first_port, manner.replicas, with_door=manner.door is not None)
    data = prepare_data_folder(folder, certificates=manner.mutual_tls)
    with sole_use(data):
        check_free(wanted)
        if manner.migrates and manner.database is None:
            await _migrate(data)
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


def _check_many_can_write(manner: Manner) -> None:
    if manner.replicas.most > 1 and (manner.database or "sqlite").startswith("sqlite"):
        raise misused(
            "SQLite serves one instance of each service: for more name a PostgreSQL database, "
            "--database postgresql://USER:PASSWORD@HOST/NAME, or leave --engines, --lobbies and --scorings out"
        )


async def _migrate(folder: DataFolder) -> None:
    # Imported here: it brings SQLAlchemy, for which nobody should wait who speaks with services that run already.
    from croupier.runtime.schema_versions import migrate_database

    try:
        for service in START_ORDER:
            await migrate_database(folder.database_url(service), [f"croupier.{service}"])
    except ValueError as fault:
        raise CommandFault(str(fault)) from None
