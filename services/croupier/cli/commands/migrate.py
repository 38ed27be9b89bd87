"""`croupier migrate`: migration of the schemas of services, in one database or in a data folder."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType

from croupier.cli.commands.serve import SERVICES
from croupier.cli.faults import FAILED, MISUSED, CommandFault, misused
from croupier.cli.launcher.data_folder import DataFolder, prepare_data_folder, sole_use
from croupier.engine.storage.unknown_rules import UnknownTable, tables_with_unknown_rules
from croupier.runtime.database.database import open_database
from croupier.runtime.database.schema_versions import SchemaOutdated, check_schema, migrate_database
from croupier.runtime.server.program import DatabaseUnreachable, SettingsError

Say = Callable[[str], None]
Task = Callable[[str], Awaitable[str]]
"""Work for a service, which returns its result in words."""
PAUSE_SECONDS = 0.5


def checked_services(names: Sequence[str]) -> Sequence[str]:
    """Return the named services, by default all; raises CommandFault for an unknown one."""
    for name in names:
        if name not in SERVICES:
            raise misused(f"there is no service {name!r}: choose among {', '.join(SERVICES)}")
    return names or SERVICES


def checked_roles(grants: Sequence[str], services: Sequence[str]) -> Mapping[str, str]:
    """Return the roles of --grant-to by service; raises CommandFault unless each is SERVICE=ROLE of one to migrate."""
    roles = dict(grant.partition("=")[::2] for grant in grants)
    if wrong := [grant for grant in grants if not grant.partition("=")[2]]:
        raise misused(f"--grant-to {wrong[0]} cannot be read: write SERVICE=ROLE")
    checked_services([*roles])
    if left_out := [service for service in roles if service not in services]:
        grant = f"{left_out[0]}={roles[left_out[0]]}"
        raise misused(f"--grant-to {grant} has no effect: --service leaves {left_out[0]} out")
    return roles


async def migrate_shared(
    url: str,
    services: Sequence[str],
    say: Say,
    retry_seconds: float = 0,
    roles: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Migrate services in one database; raises CommandFault if that fails.

    While no database answers, it is retried for `retry_seconds`; any other fault is raised at once. `roles` are the
    roles of PostgreSQL that get the rights of a service, by service.
    """
    await _each(services, partial(_migrate, lambda _: url, roles), say, retry_seconds)


async def migrate_folder(path: Path, services: Sequence[str], say: Say) -> None:
    """Migrate services in a data folder that is not in use; raises CommandFault if that fails."""
    folder = prepare_data_folder(path)
    with sole_use(folder):
        await _each(services, partial(_migrate, folder.database_url, {}), say)


async def wait_for_others(url: str, services: Sequence[str], seconds: float, say: Say) -> None:
    """Wait until another process has migrated services in one database, and change nothing.

    Raises CommandFault if that does not happen in time, or cannot happen.
    """
    await _each(services, partial(_check, url), say, seconds)


def engine_url(path: Path) -> str | None:
    """Return the URL of the engine's database in a data folder, None if there is none."""
    folder = DataFolder(path.expanduser().absolute())
    return folder.database_url("engine") if (folder.path / "engine.db").exists() else None


async def check_games(url: str | None, say: Say) -> None:
    """Name the unfinished tables of a database whose rules are not installed here; None has no tables.

    Raises CommandFault if there are any, or the database cannot be read.
    """
    unknown = await _tables_with_unknown_rules(url) if url else []
    for table in unknown:
        of = f" of {table.package}" if table.package else ""
        say(f"table {table.table_id}: the rules of {table.game}, version {table.rules_version}{of}, are not installed")
    if unknown:
        count = f"{len(unknown)} unfinished {'table has' if len(unknown) == 1 else 'tables have'}"
        raise CommandFault(f"{count} rules that are not installed here: install their packages before services start")
    say("the rules of all unfinished tables are installed")


async def _tables_with_unknown_rules(url: str) -> Sequence[UnknownTable]:
    try:
        database = open_database(url)
        try:
            return await tables_with_unknown_rules(database)
        finally:
            await database.close()
    except (SettingsError, DatabaseUnreachable) as fault:
        raise CommandFault(str(fault), MISUSED if isinstance(fault, SettingsError) else FAILED) from None


async def _each(services: Sequence[str], task: Task, say: Say, seconds: float = 0) -> None:
    """Do the work for each service; retry for so many seconds after faults that pass."""
    ends = time.monotonic() + seconds
    waited = f" (waited for {seconds:g} seconds)" if seconds else ""
    for service in services:
        try:
            say(f"{service}: {await _retried(partial(task, service), ends, lambda why: say(f'waits: {why}'))}")
        except (DatabaseUnreachable, SchemaOutdated) as fault:
            raise CommandFault(f"{fault}{waited}", FAILED) from None
        except SettingsError as fault:
            raise CommandFault(str(fault), MISUSED) from None


async def _retried(task: Callable[[], Awaitable[str]], ends: float, say: Say) -> str:
    """Try until the task succeeds or time is up; each new reason to wait is reported once."""
    reported = ""
    while True:
        try:
            return await task()
        except (DatabaseUnreachable, SchemaOutdated) as fault:
            if time.monotonic() >= ends:
                raise
            if str(fault) != reported:
                reported = str(fault)
                say(reported)
        await asyncio.sleep(PAUSE_SECONDS)


async def _check(url: str, service: str) -> str:
    database = open_database(url)
    try:
        await check_schema(database, f"croupier.{service}")
    finally:
        await database.close()
    return "is up to date"


async def _migrate(url_of: Callable[[str], str], roles: Mapping[str, str], service: str) -> str:
    role = {f"croupier.{service}": roles[service]} if service in roles else {}
    changed = await migrate_database(url_of(service), [f"croupier.{service}"], role)
    return "brought up to date" if changed else "was up to date"
