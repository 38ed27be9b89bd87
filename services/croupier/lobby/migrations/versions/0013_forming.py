"""Revisions of forming tables, when they ceased to be public, and the requests that created them.

Public tables that form now get no invite code: they close within an hour without change, or their host changes them.
"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.add_column("lobby_tables", sa.Column("revision", sa.Integer, nullable=False, server_default="0"))
    op.add_column("lobby_tables", sa.Column("hidden_version", sa.Integer, nullable=False, server_default="0"))
    op.add_column("lobby_tables", sa.Column("request_key", sa.String(97)))
    op.add_column("lobby_tables", sa.Column("request_hash", sa.String(64)))
    op.create_index("lobby_tables_by_request", "lobby_tables", ["request_key"], unique=True)
