"""The networks of tickets, so that players of different ones are matched; those of stored tickets are not known."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("lobby_tickets", sa.Column("network", sa.String(16), nullable=False, server_default=""))
