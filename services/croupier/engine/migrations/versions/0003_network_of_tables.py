"""The network of the player who created a table, until its end: the entries of its bots count for it."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("tables", sa.Column("network", sa.String(33)))
