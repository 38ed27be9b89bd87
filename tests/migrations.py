"""Databases with the current schema of a service, and their differences from the code."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, MetaData, TextClause

from croupier.runtime.database.alembic_migrations import alembic_config
from croupier.runtime.database.database import Database, open_database
from croupier.runtime.database.schema_versions import check_schema, migrate
from tests.databases import execute


@asynccontextmanager
async def up_to_date(url: str, package: str) -> AsyncIterator[Database]:
    """Migrate a database to the current schema and open it."""
    database = open_database(url)
    await migrate(database, package)
    await check_schema(database, package)
    yield database
    await database.close()


async def migrate_to(database: Database, package: str, revision: str) -> None:
    """Migrate a database to a revision."""
    await database.write(lambda connection: command.upgrade(alembic_config(connection, package), revision))


@asynccontextmanager
async def migrated_from(
    url: str, package: str, revision: str, statement: TextClause, rows: Sequence[Mapping[str, Any]]
) -> AsyncIterator[Database]:
    """Migrate a database to a revision, store rows there by a statement, and open it with the current schema."""
    old = open_database(url)
    await migrate_to(old, package, revision)
    await execute(old, statement, rows)
    await old.close()
    async with up_to_date(url, package) as database:
        yield database


def differences(connection: Connection, metadata: MetaData, version_table: str) -> list[object]:
    """Return the differences between the schema of a database and that of the code."""
    context = MigrationContext.configure(connection, opts={"compare_type": True, "version_table": version_table})
    return list(compare_metadata(context, metadata))
