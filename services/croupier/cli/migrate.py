"""`croupier migrate`: brings the tables of services up to date, in one database or in a data folder."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

from croupier.cli.data_folder import prepare_data_folder, sole_use
from croupier.cli.faults import FAILED, MISUSED, CommandFault, misused
from croupier.cli.serve import SERVICES
from croupier.runtime.database import open_database
from croupier.runtime.schema_versions import DatabaseUnreachable, SchemaOutdated, check_schema, migrate_database

Say = Callable[[str], None]
Task = Callable[[str], Awaitable[str]]
"""What is done for a service; gives what came of it."""
PAUSE_SECONDS = 0.5


def checked_services(names: Sequence[str]) -> Sequence[str]:
    """The services that are named, or all; raises CommandFault for an unknown one."""
    for name in names:
        if name not in SERVICES:
            raise misused(f"there is no service {name!r}: choose among {', '.join(SERVICES)}")
    return names or SERVICES


async def migrate_shared(url: str, services: Sequence[str], say: Say, retry_seconds: float = 0) -> None:
    """Bring services up to date in one database; raises CommandFault if that cannot be.

    While no database answers there it is tried again, for so many seconds; what waiting does not mend is told at once.
    """
    await _each(services, partial(_migrate, lambda _: url), say, retry_seconds)


async def migrate_folder(path: Path, services: Sequence[str], say: Say) -> None:
    """Bring services up to date in a data folder that nobody uses; raises CommandFault if that cannot be."""
    folder = prepare_data_folder(path)
    with sole_use(folder):
        await _each(services, partial(_migrate, folder.database_url), say)


async def wait_for_others(url: str, services: Sequence[str], seconds: float, say: Say) -> None:
    """Wait until somebody else has brought services up to date in one database, and change nothing.

    Raises CommandFault if that has not happened in time, or never will.
    """
    await _each(services, partial(_look, url), say, seconds)


async def _each(services: Sequence[str], task: Task, say: Say, seconds: float = 0) -> None:
    """Do something for each service, within so many seconds where it passes by itself that it cannot be done."""
    ends = time.monotonic() + seconds
    waited = f" (waited for {seconds:g} seconds)" if seconds else ""
    for service in services:
        try:
            say(f"{service}: {await _patiently(partial(task, service), ends, lambda why: say(f'waits: {why}'))}")
        except (DatabaseUnreachable, SchemaOutdated) as fault:
            raise CommandFault(f"{fault}{waited}", FAILED) from None
        except ValueError as fault:
            raise CommandFault(str(fault), MISUSED) from None


async def _patiently(task: Callable[[], Awaitable[str]], ends: float, tell: Say) -> str:
    """Try until it succeeds or time is up; each new reason to wait is told once."""
    told = ""
    while True:
        try:
            return await task()
        except (DatabaseUnreachable, SchemaOutdated) as fault:
            if time.monotonic() >= ends:
                raise
            if str(fault) != told:
                told = str(fault)
                tell(told)
        await asyncio.sleep(PAUSE_SECONDS)


async def _look(url: str, service: str) -> str:
    database = open_database(url)
    try:
        await check_schema(database, f"croupier.{service}")
    finally:
        await database.dispose()
    return "is up to date"


async def _migrate(url_of: Callable[[str], str], service: str) -> str:
    changed = await migrate_database(url_of(service), [f"croupier.{service}"])
    return "brought up to date" if changed else "was up to date"
