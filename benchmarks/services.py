"""The services under test, and the cores of servers and players."""

import os
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import psutil

from croupier.cli.launcher.background import BackgroundServices, started_services
from croupier.runtime.database.schema_versions import migrate_database
from croupier_loadtest.postgres import postgres_server

NO_LIMITS = ("--player-calls-per-second=0", "--network-units-per-second=0", "--log-level=error")
FLAGS = {
    "lobby": (*NO_LIMITS, "--max-player-tables=10000", "--sign-ins-per-second=0", "--max-network-tables=10000"),
    "engine": (*NO_LIMITS, "--table-entries-per-second=0"),
    "gateway": (
        "--address-requests-per-second=0",
        "--network-requests-per-second=0",
        "--max-streams-per-connection=1000",
    ),
}
PACKAGES = ("croupier.lobby", "croupier.engine", "croupier.scoring")
CORES = sorted(os.sched_getaffinity(0))
SERVER_CORES, DRIVER_CORES = CORES[:1], CORES[1:] or CORES


def pin(pid: int, cores: Sequence[int]) -> None:
    """Let all threads of a process run on these cores only; one that has ended is left out."""
    with suppress(FileNotFoundError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(ProcessLookupError):
                os.sched_setaffinity(int(thread.name), cores)


@contextmanager
def free_server_cores() -> Iterator[None]:
    """Leave the core of servers to those that are pinned to it: this process and all others that it started move."""
    _pin_all(DRIVER_CORES)
    try:
        yield
    finally:
        _pin_all(CORES)


def _pin_all(cores: Sequence[int]) -> None:
    own = psutil.Process()
    for process in [own, *own.children(recursive=True)]:
        pin(process.pid, cores)


@contextmanager
def services(database: str = "", gateway: Sequence[str] | None = None) -> Iterator[BackgroundServices]:
    """Run new services, on SQLite unless a database is named."""
    with (
        tempfile.TemporaryDirectory() as folder,
        started_services(Path(folder), database=database, extra_flags=FLAGS, gateway=gateway) as started,
    ):
        yield started


@asynccontextmanager
async def services_on_postgres() -> AsyncIterator[BackgroundServices]:
    """Run new services on a new PostgreSQL with fsync."""
    with postgres_server(settings={}) as postgres:
        url = postgres.create_database("croupier")
        await migrate_database(url, PACKAGES)
        with services(url) as started:
            yield started
