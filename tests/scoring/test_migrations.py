"""The migrations of scoring create the schema that the code expects."""

from croupier.scoring.schema import METADATA
from tests.migrations import differences, up_to_date


async def test_migrations_create_the_schema_of_the_code(empty_url: str) -> None:
    async with up_to_date(empty_url, "croupier.scoring") as database, database.connect() as connection:
        assert await connection.run_sync(differences, METADATA, "scoring_schema_version") == []
