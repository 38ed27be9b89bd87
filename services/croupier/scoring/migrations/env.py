"""Alembic's entry into the migrations of scoring."""

from croupier.runtime.migration_environment import run_migrations
from croupier.scoring.schema import METADATA

run_migrations(METADATA, "scoring_schema_version")
