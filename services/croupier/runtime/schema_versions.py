"""Schemas and their versions: `croupier migrate` brings them up to date, services check and refuse."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, MetaData, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.runtime.database import database_name, open_database
from croupier.runtime.database_faults import in_words, is_unreachable
from croupier.runtime.logs import Logger
from croupier.runtime.program import DatabaseUnreachable, SettingsError

MIGRATION_LOCK = 0x63726F7570696572
"""Held in PostgreSQL by whoever migrates: "croupier" in ASCII."""
MIGRATION_SECONDS = 3600.0


class SchemaOutdated(SettingsError):
    """The tables are missing or older than this version needs: `croupier migrate` puts that right."""


async def migrate_database(url: str, packages: Sequence[str]) -> tuple[str, ...]:
    """Bring the schemas of services' packages in one database up to date, one by one; gives those that were not.

    Raises SettingsError for a database that cannot be used, DatabaseUnreachable while it does not answer.
    """
    database = open_database(url, command_seconds=MIGRATION_SECONDS)
    try:
        return tuple([package for package in packages if await migrate(database, package)])
    finally:
        await database.dispose()


async def migrate(database: AsyncEngine, package: str) -> bool:
    """Bring the schema up to date with the migrations of a service's package, such as "croupier.engine".

    Gives whether it was not yet. Of several that do so at once in a PostgreSQL one goes first, and the others find it
    done. Raises SettingsError for a database that cannot be used, DatabaseUnreachable while it does not answer.
    """
    try:
        async with database.connect() as connection:
            changed = await connection.run_sync(_upgrade, package)
            await connection.commit()
            return changed
    except (SQLAlchemyError, OSError) as fault:
        raise unusable(database, fault) from None


def _upgrade(connection: Connection, package: str) -> bool:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL statement_timeout = 0"))
        connection.execute(text("SET LOCAL lock_timeout = 0"))
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
        # A table that a service uses without end is a fault to be told.
        connection.execute(text("SET LOCAL lock_timeout = '60s'"))
    state = _state(connection, package)
    if state.is_newer:
        raise SettingsError(f"the database cannot be brought up to date: {_newer(package)}")
    command.upgrade(alembic_config(connection, package), "head")
    return not state.is_current


async def check_schema(database: AsyncEngine, package: str) -> None:
    """Look whether a service can use a database; raises SettingsError with what to do.

    Raises SchemaOutdated, which is one, and DatabaseUnreachable, which may pass without anything being put right here.

    The schema has to be the one that this version of the service's package knows, and the user has to have the rights
    to use its tables.
    """
    try:
        async with database.connect() as connection:
            state = await connection.run_sync(_state, package)
            if state.is_current and database.dialect.name == "postgresql":
                await connection.run_sync(_check_rights, state.tables)
    except (SQLAlchemyError, OSError) as fault:
        raise unusable(database, fault) from None
    name = database_name(database)
    if state.is_newer:
        raise SettingsError(f"the database {name} cannot be used: {_newer(package)}")
    if not state.is_current:
        what = "are older than this version needs" if state.revisions else "are missing"
        raise SchemaOutdated(
            f"the tables of croupier's {_service(package)} in the database {name} {what}:"
            f' run "{_remedy(database, package)}"'
        )


async def check_durability(database: AsyncEngine, logger: Logger) -> None:
    """Look whether a commit survives what may happen to the server; raises SettingsError where it does not.

    A server that would lose commits together with its machine only is warned of.
    """
    if database.dialect.name != "postgresql":
        return
    try:
        async with database.connect() as connection:
            commits = (await connection.execute(text("SHOW synchronous_commit"))).scalar_one()
            writes = (await connection.execute(text("SHOW fsync"))).scalar_one()
    except (SQLAlchemyError, OSError) as fault:
        raise unusable(database, fault) from None
    if commits == "off":
        raise SettingsError(
            f"the database {database_name(database)} would forget moves that were acknowledged (synchronous_commit is"
            " off): set it to on for the server, the database or the user"
        )
    if writes == "off":
        logger.warning("the database would lose what is committed if its machine stopped: fsync is off")


@dataclass(frozen=True, slots=True)
class SchemaState:
    """Which revisions a database has of a service's schema, which one the code wants, and the tables of that."""

    revisions: tuple[str, ...]
    known: frozenset[str]
    head: str
    tables: tuple[str, ...]

    @property
    def is_current(self) -> bool:
        return self.revisions == (self.head,)

    @property
    def is_newer(self) -> bool:
        return not self.known.issuperset(self.revisions)


def _state(connection: Connection, package: str) -> SchemaState:
    config = alembic_config(connection, package)
    script = ScriptDirectory.from_config(config)
    found: list[tuple[tuple[str, ...], MetaData]] = []

    def note(revisions: tuple[str, ...], context: MigrationContext) -> list[Any]:
        found.append((revisions, context.opts["target_metadata"]))
        return []

    # As `alembic current` does: the environment of the migrations knows where the version is written down.
    with EnvironmentContext(config, script, fn=note, dont_mutate=True):
        script.run_env()
    revisions, metadata = found[0]
    known = frozenset(revision.revision for revision in script.walk_revisions())
    return SchemaState(tuple(revisions), known, script.get_current_head() or "", tuple(metadata.tables))


def alembic_config(connection: Connection, package: str) -> Config:
    config = Config()
    config.set_main_option("script_location", str(files(package) / "migrations").replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _check_rights(connection: Connection, tables: Sequence[str]) -> None:
    for table in tables:
        for right in ("SELECT", "INSERT", "UPDATE", "DELETE"):
            asked = {"table": table, "right": right}
            if not connection.execute(text("SELECT has_table_privilege(:table, :right)"), asked).scalar_one():
                raise SettingsError(
                    f"the user {connection.engine.url.username} of the database may not {right} in the table {table}:"
                    " grant SELECT, INSERT, UPDATE and DELETE in all tables of this schema, or use the owner's URL"
                )


def unusable(database: AsyncEngine, fault: Exception) -> SettingsError | DatabaseUnreachable:
    """A database's fault as one line; a DatabaseUnreachable if there is nothing to be put right in the settings."""
    kind = DatabaseUnreachable if is_unreachable(fault) else SettingsError
    return kind(f"the database {database_name(database)} cannot be used, {in_words(fault)}")


def _newer(package: str) -> str:
    return f"its tables of croupier's {_service(package)} are newer than this version: use the newer version"


def _service(package: str) -> str:
    return package.rpartition(".")[2]


def _remedy(database: AsyncEngine, package: str) -> str:
    # Services on SQLite have files of their own, so that there the tables of one are wanted only.
    only = f" --service {_service(package)}" if database.dialect.name == "sqlite" else ""
    return f"croupier migrate{only} --database {database_name(database)}"
