"""Tickets know the name of their wish, and whether their table was told; those from before have no name."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("lobby_tickets", sa.Column("request_id", sa.String(64), nullable=False, server_default=""))
    op.add_column("lobby_tickets", sa.Column("told", sa.Boolean, nullable=False, server_default=sa.false()))


def downgrade() -> None:
    # Before, a ticket ended when its table was told.
    op.execute(sa.text("DELETE FROM lobby_tickets WHERE told"))
    with op.batch_alter_table("lobby_tickets") as tickets:
        for column in ("told", "request_id"):
            tickets.drop_column(column)
