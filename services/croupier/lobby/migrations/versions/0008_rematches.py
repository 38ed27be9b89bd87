"""Which table follows which by a rematch."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    for column in ("previous_table_id", "next_table_id"):
        op.add_column("lobby_tables", sa.Column(column, sa.String(32), nullable=False, server_default=""))
