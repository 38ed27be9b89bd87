"""`croupier migrate`: brings the tables of services up to date, in one database or in a data folder."""

from collections.abc import Callable, Sequence
from pathlib import Path

from croupier.cli.data_folder import prepare_data_folder, sole_use
from croupier.cli.faults import FAILED, MISUSED, CommandFault, misused
from croupier.cli.serve import SERVICES
from croupier.runtime.schema_versions import DatabaseUnreachable, migrate_database

Say = Callable[[str], None]


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


async def _migrate(service: str, url: str, say: Say) -> None:
    try:
        changed = await migrate_database(url, [f"croupier.{service}"])
    except ValueError as fault:
        raise CommandFault(str(fault), FAILED if isinstance(fault, DatabaseUnreachable) else MISUSED) from None
    say(f"{service}: {'brought up to date' if changed else 'was up to date'}")
