"""When players of forming tables were last seen, and names of up to 128 code points."""

import sqlalchemy as sa
from alembic import op

from croupier.runtime.database.alembic_migrations import alter_length

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "lobby_presence",
        sa.Column("table_id", sa.String(32), primary_key=True),
        sa.Column("player_id", sa.String(32), primary_key=True),
        sa.Column("seen_milliseconds", sa.BigInteger, nullable=False),
    )
    op.create_index("lobby_presence_by_time", "lobby_presence", ["seen_milliseconds"])
    for table in ("lobby_players", "lobby_tickets"):
        alter_length(table, "name", 128, old_length=32)
