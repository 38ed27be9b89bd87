"""Migrations of the engine's database."""

from croupier.engine.storage.schema import METADATA
from croupier.runtime.database.schema_versions import migrate
from tests.migrations import differences, up_to_date

PACKAGE = "croupier.engine"


async def test_migrations_create_the_current_schema(empty_url: str) -> None:
    async with up_to_date(empty_url, PACKAGE) as database:
        assert await database.read(differences, METADATA, "engine_schema_version") == []
        assert not await migrate(database, PACKAGE)
