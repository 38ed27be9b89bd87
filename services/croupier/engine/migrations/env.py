"""Alembic's entry into the engine's migrations."""

from croupier.engine.storage.schema import METADATA
from croupier.runtime.migration_environment import run_migrations

run_migrations(METADATA, "engine_schema_version")
