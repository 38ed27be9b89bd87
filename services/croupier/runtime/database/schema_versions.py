"""Versions of schemas: `croupier migrate` brings them up to date, and services refuse any other."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.resources import files
from itertools import product
from types import MappingProxyType

from sqlalchemy import Connection, String, TableClause, column, inspect, select, text
from sqlalchemy.exc import SQLAlchemyError

from croupier.runtime.database.database import Database, database_name, open_database
from croupier.runtime.database.faults import describe, is_unreachable
from croupier.runtime.observation.logs import Logger
from croupier.runtime.server.program import DatabaseUnreachable, SettingsError

MIGRATION_LOCK = 0x63726F7570696572
"""The key of the advisory lock for migrations: "croupier" in ASCII."""
MIGRATION_SECONDS = 3600.0
RIGHTS = ("SELECT", "INSERT", "UPDATE", "DELETE")
"""What a service needs in its own tables."""


class SchemaOutdated(SettingsError):
    """The tables are missing or older than this version needs: the remedy is `croupier migrate`."""


async def migrate_database(
    url: str, packages: Sequence[str], roles: Mapping[str, str] = MappingProxyType({})
) -> tuple[str, ...]:
    """Bring the schemas of services' packages in one database up to date; returns the packages that were migrated.

    `roles` are the roles of PostgreSQL, by package, that get the rights which the service needs. Raises SettingsError
    for a database that cannot be used, DatabaseUnreachable while it does not answer.
    """
    database = open_database(url, command_seconds=MIGRATION_SECONDS)
    try:
        return tuple([package for package in packages if await migrate(database, package, roles.get(package))])
    finally:
        await database.close()


async def migrate(database: Database, package: str, role: str | None = None) -> bool:
    """Bring the schema of a service's package, such as "croupier.engine", up to date; returns whether it changed.

    In PostgreSQL an advisory lock lets one of several migrations run, and the others find it done. A role then gets the
    rights that the service needs. Raises SettingsError for a database that cannot be used or has no such role,
    DatabaseUnreachable while it does not answer.
    """
    if role and database.dialect != "postgresql":
        raise SettingsError(f"the database {database_name(database)} has no roles: leave --grant-to out")

    def change(connection: Connection) -> bool:
        changed = _upgrade(connection, package)
        if role:
            _grant(connection, package, role)
        return changed

    try:
        # Not `database.write`, which has a deadline.
        return await database.connections.write(change)
    except (SQLAlchemyError, OSError) as fault:
        raise database_error(database, fault) from None


def _upgrade(connection: Connection, package: str) -> bool:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL statement_timeout = 0"))
        connection.execute(text("SET LOCAL lock_timeout = 0"))
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})
        # A table that a service locks for longer is reported as a fault.
        connection.execute(text("SET LOCAL lock_timeout = '60s'"))
    state = _state(connection, package)
    if state.is_newer:
        raise SettingsError(f"the database cannot be brought up to date: {_newer(package)}")
    # Imported here: services only check their schema, and Alembic with its templates takes over 6 MiB of each process.
    from croupier.runtime.database.alembic_migrations import upgrade

    upgrade(connection, package)
    return not state.is_current


def _grant(connection: Connection, package: str, role: str) -> None:
    """Grant a role what the service needs: to read and change rows of its own tables, and to read their version."""
    quote = connection.dialect.identifier_preparer.quote_identifier
    state = _state(connection, package)
    tables = ", ".join(map(quote, state.tables))
    # Not as text(), for which a colon within a name begins a parameter.
    connection.exec_driver_sql(f"GRANT {', '.join(RIGHTS)} ON {tables} TO {quote(role)}")
    connection.exec_driver_sql(f"GRANT SELECT ON {quote(state.version_table)} TO {quote(role)}")


async def check_schema(database: Database, package: str) -> None:
    """Check that a database has the schema of this version, and the user the privileges on its tables.

    Raises SettingsError with the remedy, its subclass SchemaOutdated, and DatabaseUnreachable.
    """
    try:
        state = await database.connections.read(partial(_usable_state, package=package))
    except (SQLAlchemyError, OSError) as fault:
        raise database_error(database, fault) from None
    name = database_name(database)
    if state.is_newer:
        raise SettingsError(f"the database {name} cannot be used: {_newer(package)}")
    if not state.is_current:
        lack = "are older than this version needs" if state.revisions else "are missing"
        # On SQLite each service has its own file, with its own tables only.
        only = f" --service {_service(package)}" if database.dialect == "sqlite" else ""
        raise SchemaOutdated(
            f"the tables of croupier's {_service(package)} in the database {name} {lack}:"
            f' run "croupier migrate{only} --database {shlex.quote(name)}"'
        )


async def check_durability(database: Database, logger: Logger) -> None:
    """Check that a commit survives a crash of the server; raises SettingsError otherwise.

    A server that loses commits only if its machine crashes is a warning in the log.
    """
    if database.dialect != "postgresql":
        return
    try:
        commits, writes = await database.connections.read(_durability)
    except (SQLAlchemyError, OSError) as fault:
        raise database_error(database, fault) from None
    if commits == "off":
        raise SettingsError(
            f"the database {database_name(database)} loses acknowledged actions in a crash (synchronous_commit is"
            " off): set it to on for the server, the database or the user"
        )
    if writes == "off":
        logger.warning("the database loses commits if its machine crashes: fsync is off")


def _durability(connection: Connection) -> tuple[str, str]:
    commits = connection.execute(text("SHOW synchronous_commit")).scalar_one()
    return commits, connection.execute(text("SHOW fsync")).scalar_one()


@dataclass(frozen=True, slots=True)
class SchemaState:
    """The revisions of a service's schema in a database, those that the code knows, and its tables.

    `version_table` has the revisions.
    """

    revisions: tuple[str, ...]
    known: frozenset[str]
    tables: tuple[str, ...]
    version_table: str

    @property
    def is_current(self) -> bool:
        return self.revisions == (max(self.known),)

    @property
    def is_newer(self) -> bool:
        return not self.known.issuperset(self.revisions)


def _state(connection: Connection, package: str) -> SchemaState:
    schema = import_module(f"{package}.migrations")
    revisions: Sequence[str] = ()
    if inspect(connection).has_table(schema.VERSION_TABLE):
        version = column("version_num", String)
        revisions = connection.scalars(select(version).select_from(TableClause(schema.VERSION_TABLE, version))).all()
    return SchemaState(tuple(revisions), known_revisions(package), tuple(schema.METADATA.tables), schema.VERSION_TABLE)


def _usable_state(connection: Connection, package: str) -> SchemaState:
    """Return the state; raises SettingsError if the user lacks a privilege."""
    state = _state(connection, package)
    if state.is_current and connection.dialect.name == "postgresql":
        for table, right in product(state.tables, RIGHTS):
            asked = {"table": table, "right": right}
            if not connection.execute(text("SELECT has_table_privilege(:table, :right)"), asked).scalar_one():
                raise SettingsError(
                    f"the user {connection.engine.url.username} of the database may not {right} in the table {table}:"
                    " croupier migrate --grant-to grants it what it needs"
                )
    return state


def known_revisions(package: str) -> frozenset[str]:
    """Return the revisions of a service's schema, which are in one line: the numbers that its migrations begin with."""
    names = [migration.name for migration in files(package).joinpath("migrations", "versions").iterdir()]
    return frozenset(name.partition("_")[0] for name in names if name.endswith(".py"))


def database_error(database: Database, fault: Exception) -> SettingsError | DatabaseUnreachable:
    """Return an error of the driver as one line; it is DatabaseUnreachable if the settings may be right."""
    kind = DatabaseUnreachable if is_unreachable(fault) else SettingsError
    return kind(f"the database {database_name(database)} cannot be used, {describe(fault)}")


def _newer(package: str) -> str:
    return f"its tables of croupier's {_service(package)} are newer than this version: use the newer version"


def _service(package: str) -> str:
    return package.rpartition(".")[2]
