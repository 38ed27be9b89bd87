"""Alembic's entry into the migrations."""

from croupier.lobby.migrations import METADATA, VERSION_TABLE
from croupier.runtime.database.alembic_migrations import run_migrations

run_migrations(METADATA, VERSION_TABLE)
