"""The times of players, and the networks of tables.

Stored players count as such who have played, so that none of them is deleted.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("lobby_players", sa.Column("seen_milliseconds", sa.BigInteger, nullable=False, server_default="0"))
    op.add_column("lobby_players", sa.Column("played_milliseconds", sa.BigInteger))
    op.execute(
        "UPDATE lobby_players SET seen_milliseconds = created_milliseconds, played_milliseconds = created_milliseconds"
    )
    unplayed = sa.text("played_milliseconds IS NULL")
    op.create_index(
        "lobby_players_unplayed",
        "lobby_players",
        ["seen_milliseconds"],
        sqlite_where=unplayed,
        postgresql_where=unplayed,
    )
    op.add_column("lobby_tables", sa.Column("network", sa.String(16)))
    op.create_index("lobby_tables_by_network", "lobby_tables", ["network"])
