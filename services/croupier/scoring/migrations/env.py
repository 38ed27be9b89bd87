"""The entry point of Alembic into scoring's migrations."""

from croupier.runtime.migration_environment import run_migrations
from croupier.scoring.schema import METADATA

run_migrations(METADATA, "scoring_schema_version")
