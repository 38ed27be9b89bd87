"""`croupier migrate`: brings the tables of services up to date, in one database or in a data folder."""

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from croupier.cli.data_folder import prepare_data_folder, sole_use
from croupier.cli.faults import FAILED, MISUSED, CommandFault, misused
from croupier.cli.serve import SERVICES
from croupier.runtime.database import open_database
from croupier.runtime.schema_versions import DatabaseUnreachable, SchemaOutdated, check_schema, migrate_database

Say = Callable[[str], None]
PAUSE_SECONDS = 0.5


def checked_services(names: Sequence[str]) -> Sequence[str]:
    """The services that are named, or all; raises CommandFault for an unknown one."""
    for name in names:
        if name not in SERVICES:
            raise misused(f"there is no service {name!r}: choose among {', '.join(SERVICES)}")
    return names or SERVICES


async def migrate_shared(url: str, services: Sequence[str], say: Say) -> None:
    """Bring services up to date in one database; raises CommandFault if that cannot be."""
    for service in services:
        await _migrate(service, url, say)


async def migrate_folder(path: Path, services: Sequence[str], say: Say) -> None:
    """Bring services up to date in a data folder that nobody uses; raises CommandFault if that cannot be."""
    folder = prepare_data_folder(path)
    with sole_use(folder):
        for service in services:
            await _migrate(service, folder.database_url(service), say)


async def wait_for_others(url: str, services: Sequence[str], seconds: float, say: Say) -> None:
    """Wait until somebody else has brought services up to date in one database, and change nothing.

    Raises CommandFault if that has not happened in time, or never will.
    """
    ends = time.monotonic() + seconds
    for service in services:
        try:
            await _until_current(service, url, ends)
        except (DatabaseUnreachable, SchemaOutdated) as fault:
            raise CommandFault(f"{fault} (waited for {seconds:g} seconds)", FAILED) from None
        except ValueError as fault:
            raise CommandFault(str(fault), MISUSED) from None
        say(f"{service}: is up to date")


async def _until_current(service: str, url: str, ends: float) -> None:
    database = open_database(url)
    try:
        while True:
            try:
                return await check_schema(database, f"croupier.{service}")
            except (DatabaseUnreachable, SchemaOutdated):
                if time.monotonic() >= ends:
                    raise
            await asyncio.sleep(PAUSE_SECONDS)
    finally:
        await database.dispose()


async def _migrate(service: str, url: str, say: Say) -> None:
    try:
        changed = await migrate_database(url, [f"croupier.{service}"])
    except ValueError as fault:
        raise CommandFault(str(fault), FAILED if isinstance(fault, DatabaseUnreachable) else MISUSED) from None
    say(f"{service}: {'brought up to date' if changed else 'was up to date'}")
