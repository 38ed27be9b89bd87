"""Migrations of the engine's database."""

from collections.abc import Callable
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, inspect

from croupier.engine.schema import METADATA
from croupier.runtime.database import open_database
from croupier.runtime.schema_versions import migrate


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A new database without tables, of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'new.db'}"
    new_database: Callable[..., str] = request.getfixturevalue("new_database")
    return new_database()


async def test_migrations_make_what_the_schema_says_and_nothing_the_second_time(empty_url: str) -> None:
    database = open_database(empty_url)

    def made(connection: Connection) -> tuple[object, object]:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "version_table": "engine_schema_version"}
        )
        tables = {
            name: (
                [str(column) for column in inspect(connection).get_columns(name)],
                [(index["name"], index["column_names"]) for index in inspect(connection).get_indexes(name)],
            )
            for name in inspect(connection).get_table_names()
        }
        return compare_metadata(context, METADATA), tables

    seen = []
    for _ in range(2):
        await migrate(database, "croupier.engine")
        async with database.connect() as connection:
            seen.append(await connection.run_sync(made))
    differences, tables = seen[0]
    assert differences == []
    assert seen[1] == seen[0]
    assert isinstance(tables, dict)
    assert set(tables) == {*METADATA.tables, "engine_schema_version"}
    await database.dispose()
