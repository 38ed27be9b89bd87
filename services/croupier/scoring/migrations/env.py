"""Alembic's entry into the migrations."""

from croupier.runtime.database.alembic_migrations import run_migrations
from croupier.scoring.migrations import METADATA, VERSION_TABLE

run_migrations(METADATA, VERSION_TABLE)
