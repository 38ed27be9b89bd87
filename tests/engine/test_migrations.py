"""Migrations of the engine's database."""

from alembic import command
from sqlalchemy import Connection, inspect

from croupier.engine.storage.schema import METADATA
from croupier.runtime.database.alembic_migrations import alembic_config
from croupier.runtime.database.schema_versions import migrate
from tests.migrations import differences, up_to_date

PACKAGE = "croupier.engine"


def downgrade(connection: Connection) -> list[str]:
    """Undo all migrations; return the tables that are left."""
    command.downgrade(alembic_config(connection, PACKAGE), "base")
    return inspect(connection).get_table_names()


async def test_migrations_create_the_current_schema_also_after_a_downgrade(empty_url: str) -> None:
    async with up_to_date(empty_url, PACKAGE) as database:
        for is_repeated in (False, True):
            assert await database.read(differences, METADATA, "engine_schema_version") == []
            assert not await migrate(database, PACKAGE)
            if not is_repeated:
                assert await database.write(downgrade) == ["engine_schema_version"]
                assert await migrate(database, PACKAGE)
