"""Migrations by Alembic, on a given connection: the environment of all services, and the upgrade."""

from importlib.resources import files

from alembic import command, context
from alembic.config import Config
from sqlalchemy import Connection, MetaData


def upgrade(connection: Connection, package: str) -> None:
    """Bring the schema of a service's package to its last revision."""
    command.upgrade(alembic_config(connection, package), "head")


def alembic_config(connection: Connection, package: str) -> Config:
    """Return the configuration of Alembic for the migrations of a service's package."""
    config = Config()
    config.set_main_option("script_location", str(files(package) / "migrations").replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


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
