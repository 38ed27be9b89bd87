"""The entry point of Alembic into the lobby's migrations."""

from croupier.lobby.schema import METADATA, VERSION_TABLE
from croupier.runtime.migration_environment import run_migrations

run_migrations(METADATA, VERSION_TABLE)
