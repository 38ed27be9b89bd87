"""The presets of tickets, and the time after which they allow bots; those of stored tickets have neither."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.add_column("lobby_tickets", sa.Column("preset", sa.String(64), nullable=False, server_default=""))
    op.add_column("lobby_tickets", sa.Column("bots_after_seconds", sa.Integer))
    op.drop_index("lobby_tickets_by_criteria", "lobby_tickets")
    op.create_index(
        "lobby_tickets_by_criteria",
        "lobby_tickets",
        ["game", "seat_count", "preset", "created_milliseconds", "ticket_id"],
    )
