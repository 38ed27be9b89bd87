"""The seats of tables that have ended, by which players list them.

Tables that had ended before are not listed.
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.add_column("lobby_seats", sa.Column("created_milliseconds", sa.BigInteger))
    op.drop_index("lobby_seats_by_player", "lobby_seats")
    op.create_index("lobby_seats_by_player", "lobby_seats", ["player_id", "created_milliseconds", "table_id"])
