"""The services and a gateway as child processes: started in order, restarted when they die, drained in order."""

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

from croupier.cli.faults import CommandFault, misused
from croupier.cli.launcher.addresses import HOST, UNPACED, Addresses, addresses_from, check_free, service_flags
from croupier.cli.launcher.data_folder import DataFolder, prepare_data_folder, sole_use
from croupier.cli.launcher.environment import child_environment
from croupier.cli.launcher.log_rotation import keep_rotated
from croupier.cli.launcher.replicas import GATEWAY, ONE_OF_EACH, START_ORDER, Replicas, service_of
from croupier.cli.launcher.service_process import ending, start_service, stop_process
from croupier.runtime.identity.permissions import replace_private
from croupier.runtime.server.program import DatabaseUnreachable, SettingsError

START_SECONDS = 60.0
GRACE_SECONDS = 15.0
FAST_FAILURE_SECONDS = 10.0
MAX_FAST_FAILURES = 12
"""Retried for more than half a minute, since a database may be away for so long."""
FIRST_BACKOFF_SECONDS = 0.1
MAX_BACKOFF_SECONDS = 5.0

Note = Callable[[str], None]
"""Receives messages for people, one line each."""


def silent(_line: str) -> None:
    """Note nothing."""


@dataclass(frozen=True, slots=True)
class SupervisorSettings:
    """Settings of the supervisor, such as the command that runs a service.

    `note` receives messages for people. Each service has `grace_seconds` to drain at the end; 0 is for folders that are
    deleted afterwards. `database` is the URL of a migrated database that all services share; with None each has its own
    in the folder, which is migrated first. With `mutual_tls` services and their callers identify themselves
    by certificates, which are made in the folder. `gateway` returns the flags of a gateway besides its addresses, None
    is for no gateway; `gateway_host` is the IP address at which players reach it. Tables are played at any speed unless
    `is_paced`. `extra_flags`, by instance, are for tests and demonstrations.
    """

    command: Sequence[str] = (sys.executable, "-m", "croupier.cli.launcher.child")
    note: Note = silent
    grace_seconds: float = GRACE_SECONDS
    database: str | None = field(default=None, repr=False)
    replicas: Replicas = ONE_OF_EACH
    extra_flags: Mapping[str, Sequence[str]] = field(default_factory=dict)
    mutual_tls: bool = False
    gateway: Callable[[DataFolder], Sequence[str]] | None = None
    gateway_host: str = HOST
    is_paced: bool = True


class Services:
    """The services of a data folder by instance: their addresses, process ids and numbers of restarts."""

    def __init__(self, folder: DataFolder, wanted: dict[str, Addresses], settings: SupervisorSettings) -> None:
        self.folder = folder
        self.addresses = wanted
        self.restarts = dict.fromkeys(wanted, 0)
        self.fault: CommandFault | None = None
        self._settings = settings
        self._note = settings.note
        self._processes: dict[str, asyncio.subprocess.Process] = {}
        self._watches: list[asyncio.Task[None]] = []
        self._has_changed = asyncio.Event()

    @property
    def pids(self) -> dict[str, int]:
        """The process id of each instance at its last start."""
        return {instance: process.pid for instance, process in self._processes.items()}

    @property
    def are_running(self) -> bool:
        """Whether no instance has ended and is still to be started again."""
        return all(process.returncode is None for process in self._processes.values())

    def kill(self, instance: str, number: int = signal.SIGKILL) -> None:
        """Send a signal to an instance, which is then restarted on the same addresses."""
        self._processes[instance].send_signal(number)

    async def restart(self, instance: str) -> None:
        """Drain and end an instance, and wait until it was restarted on the same addresses, as in a deploy.

        Raises CommandFault if that takes too long.
        """
        before = self._processes[instance]
        await stop_process(before, GRACE_SECONDS)
        try:
            async with asyncio.timeout(START_SECONDS):
                while self._processes[instance] is before:
                    await self._has_changed.wait()
        except TimeoutError:
            raise CommandFault(f"the {instance} was not back within {START_SECONDS:g} seconds") from None

    async def start(self) -> None:
        """Start every instance; raises CommandFault if one does not become ready."""
        for service in START_ORDER:
            await _together(self._start(instance) for instance in self._settings.replicas.of(service))
        if GATEWAY in self.addresses:
            await self._start(GATEWAY)
        self._publish()

    async def _start(self, instance: str) -> None:
        settings = self._settings
        flags = service_flags(instance, self.folder, self.addresses, settings.mutual_tls)
        service = service_of(instance)
        if service == GATEWAY and settings.gateway is not None:
            flags += settings.gateway(self.folder)
        if service == "engine" and not settings.is_paced:
            flags += UNPACED
        command = (*settings.command, service, *flags, *settings.extra_flags.get(instance, ()))
        environment = child_environment(os.environ, service, settings.database or self.folder.database_url(service))
        self._processes[instance], self.addresses[instance] = await start_service(
            instance, command, environment, self.folder, START_SECONDS
        )

    def _publish(self) -> None:
        services = {name: {"pid": self.pids[name], **addresses} for name, addresses in self.addresses.items()}
        running = {"pid": os.getpid(), "mutual_tls": self._settings.mutual_tls, "services": services}
        replace_private(self.folder.services_file, json.dumps(running, indent=1))
        self._has_changed.set()
        self._has_changed = asyncio.Event()

    def watch(self, on_fault: Callable[[], object]) -> None:
        """Restart each instance that ends from now on; when one fails too often, set `fault` and call `on_fault`."""
        self._watches = [asyncio.create_task(self._keep_running(instance, on_fault)) for instance in self.addresses]
        self._watches.append(asyncio.create_task(keep_rotated(self.folder.logs)))

    async def _keep_running(self, instance: str, on_fault: Callable[[], object]) -> None:
        failures = 0
        while failures <= MAX_FAST_FAILURES:
            ready_at = time.monotonic()
            code = await self._processes[instance].wait()
            has_lasted = time.monotonic() - ready_at >= FAST_FAILURE_SECONDS
            # After a regular end, as in a deploy, it is restarted at once.
            failures = 0 if code == 0 else 1 if has_lasted else failures + 1
            self._note(f"the {instance} {ending(code)}")
            failures = await self._start_again(instance, failures)
        log_file = self.folder.log_file(instance)
        self.fault = CommandFault(f"the {instance} failed {failures} times in a row: see {log_file}")
        on_fault()

    async def _start_again(self, instance: str, failures: int) -> int:
        """Start an instance until it is ready or has failed too often in a row; returns the number of failures."""
        while failures <= MAX_FAST_FAILURES:
            await asyncio.sleep(backoff_seconds(failures))
            try:
                await self._start(instance)
            except CommandFault as fault:
                failures += 1
                self._note(fault.message)
                continue
            self.restarts[instance] += 1
            self._publish()
            self._note(f"the {instance} listens on {self.addresses[instance]['listen']} again")
            break
        return failures

    async def stop(self) -> None:
        """Drain the services in order: the lobby forms no more tables, the engine reports, scoring records it."""
        self.folder.services_file.unlink(missing_ok=True)
        try:
            for watch in self._watches:
                watch.cancel()
            await asyncio.gather(*self._watches, return_exceptions=True)
            await self._end_processes(self._settings.grace_seconds)
        except asyncio.CancelledError:
            # A second signal cancels the drain.
            await self._end_processes(grace_seconds=0)

    async def _end_processes(self, grace_seconds: float) -> None:
        gateway = self._processes.get(GATEWAY)
        if gateway is not None and gateway.returncode is None and grace_seconds > 0:
            # It accepts no more players, and ends once the services have sent their last messages through it.
            gateway.terminate()
        for service in reversed(START_ORDER):
            processes = [process for name, process in self._processes.items() if service_of(name) == service]
            await _together(stop_process(process, grace_seconds) for process in processes)
        if gateway is not None:
            await stop_process(gateway, grace_seconds)


async def _together(work: Iterable[Coroutine[None, None, None]]) -> None:
    """Run all at once; if one fails the others are cancelled, and its error is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            for each in work:
                group.create_task(each)
    except BaseExceptionGroup as faults:
        raise faults.exceptions[0] from None


def backoff_seconds(failures: int) -> float:
    """Return the time before the next start, after so many failures in a row."""
    if failures == 0:
        return 0.0
    return float(min(MAX_BACKOFF_SECONDS, FIRST_BACKOFF_SECONDS * 2 ** (failures - 1)))


@asynccontextmanager
async def running_services(
    folder: Path, *, port: int = 0, settings: SupervisorSettings = SupervisorSettings()
) -> AsyncIterator[Services]:
    """Run the three services, and a gateway if the settings ask for one, in a folder while the body runs.

    `port` is that of the gateway, as for `addresses_from`; with 0 each instance chooses free ports, and keeps them when
    it is started again. Raises CommandFault if they cannot be started, and in place of the body, which is then
    cancelled, if one keeps dying.
    """
    is_sqlite = settings.database is None or settings.database.startswith("sqlite")
    if settings.replicas.most > 1 and is_sqlite:
        raise misused(
            "SQLite serves one instance of each service: for more name a PostgreSQL database, "
            "--database postgresql://USER:PASSWORD@HOST/NAME, or leave --engines, --lobbies and --scorings out"
        )
    has_gateway = settings.gateway is not None
    wanted = addresses_from(port, settings.replicas, with_gateway=has_gateway, gateway_host=settings.gateway_host)
    data = prepare_data_folder(folder, certificates=settings.mutual_tls)
    with sole_use(data):
        check_free(wanted)
        if settings.database is None:
            await _migrate(data)
        services = Services(data, wanted, settings)
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


async def _migrate(folder: DataFolder) -> None:
    # Imported here: it imports SQLAlchemy, for which commands should not wait whose services run already.
    from croupier.runtime.database.schema_versions import migrate_database

    try:
        for service in START_ORDER:
            await migrate_database(folder.database_url(service), [f"croupier.{service}"])
    except (SettingsError, DatabaseUnreachable) as fault:
        raise CommandFault(str(fault)) from None
