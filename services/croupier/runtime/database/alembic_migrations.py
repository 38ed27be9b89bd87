"""Migrations by Alembic, on a given connection: the environment of all services, and the upgrade."""

from importlib.resources import files

import sqlalchemy as sa
from alembic import command, context, op
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


def alter_length(table: str, column: str, length: int, old_length: int) -> None:
    """Change the length of a text column that is not null, in a migration.

    SQLite cannot alter a column, and a table to which others refer cannot be replaced there: the column is.
    """
    if op.get_bind().dialect.name != "sqlite":
        op.alter_column(table, column, type_=sa.String(length), existing_type=sa.String(old_length))
        return
    op.add_column(table, sa.Column("altered", sa.String(length), nullable=False, server_default=""))
    op.execute(f"UPDATE {table} SET altered = {column}")  # noqa: S608 - the names are those of a migration
    op.drop_column(table, column)
    op.alter_column(table, "altered", new_column_name=column)
