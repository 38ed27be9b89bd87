"""Databases whose tables are those of any version of a service."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, MetaData, create_engine, event
from sqlalchemy.ext.asyncio import AsyncEngine

from croupier.runtime.database import open_database
from croupier.runtime.schema_versions import alembic_config, check_schema, migrate


def migrated(path: Path, package: str, *revisions: str) -> None:
    """Let an SQLite file go to one revision after the other: +0002 is up, -0001 is back."""
    engine = create_engine(f"sqlite:///{path}")
    event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA foreign_keys=ON"))
    for revision in revisions:
        with engine.begin() as connection:
            go = command.upgrade if revision.startswith("+") else command.downgrade
            go(alembic_config(connection, package), revision[1:])
    engine.dispose()


@asynccontextmanager
async def up_to_date(url: str, package: str) -> AsyncIterator[AsyncEngine]:
    """A database with the tables that the code expects."""
    database = open_database(url)
    await migrate(database, package)
    await check_schema(database, package)
    yield database
    await database.dispose()


def differences(connection: Connection, metadata: MetaData, version_table: str) -> list[object]:
    """Where the tables of a database are not as code has them."""
    context = MigrationContext.configure(connection, opts={"compare_type": True, "version_table": version_table})
    return list(compare_metadata(context, metadata))
