"""The Alembic environment of all services, which migrates on a given connection."""

from alembic import context
from sqlalchemy import MetaData


def run_migrations(metadata: MetaData, version_table: str) -> None:
    """Run the migrations of one service; its own version table lets services share a database."""
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=metadata,
        version_table=version_table,
        render_as_batch=True,
    )
    with context.begin_transaction():
        context.run_migrations()
