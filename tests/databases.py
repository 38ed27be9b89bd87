"""Databases of tests: copies of SQLite files, tests on both kinds of database, and failovers."""

import sqlite3
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Executable, NullPool, Row, text
from sqlalchemy.ext.asyncio import AsyncConnection, create_async_engine

from croupier.runtime.database.database import Database
from croupier_loadtest.postgres import PostgresServer

POSTGRESQL = pytest.param("postgresql", marks=pytest.mark.postgres)
on_postgresql = pytest.mark.parametrize("database_url", [POSTGRESQL], indirect=True)
on_both_databases = pytest.mark.parametrize("database_url", ["sqlite", POSTGRESQL], indirect=True)
"""For tests of stores: the layers above do not depend on the database."""


def copy_database(source: Path, target: Path) -> Path:
    """Copy a database with its write-ahead log, which a copy of the file alone would leave out."""
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)
    target.chmod(0o600)
    return target


async def execute(
    database: Database,
    statement: str | Executable,
    parameters: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
) -> list[Row[Any]]:
    """Execute a statement in a transaction of its own, and return its rows."""

    def executed(connection: Connection) -> list[Row[Any]]:
        result = connection.execute(text(statement) if isinstance(statement, str) else statement, parameters)
        return list(result) if result.returns_rows else []

    return await database.write(executed)


@asynccontextmanager
async def held_transaction(database: Database) -> AsyncIterator[AsyncConnection]:
    """Open a transaction of PostgreSQL, on a connection of its own, until the end of the block."""
    engine = create_async_engine(database.url, poolclass=NullPool)
    try:
        async with engine.begin() as connection:
            yield connection
    finally:
        await engine.dispose()


@contextmanager
def failed_over(server: PostgresServer, *, has_primary: bool = True) -> Iterator[None]:
    """Make the open sessions of a private server read-only within the block, and new ones only without a primary.

    So does a failover that leaves sessions open at the demoted primary.
    """
    if has_primary:
        server.run_sql("postgres", "ALTER ROLE CURRENT_USER SET default_transaction_read_only = off")
    server.run_sql("postgres", "ALTER SYSTEM SET default_transaction_read_only = on")
    server.run_sql("postgres", "SELECT pg_reload_conf()")
    try:
        yield
    finally:
        server.run_sql("postgres", "ALTER SYSTEM RESET default_transaction_read_only")
        server.run_sql("postgres", "SELECT pg_reload_conf()")
        if has_primary:
            server.run_sql("postgres", "ALTER ROLE CURRENT_USER RESET default_transaction_read_only")
